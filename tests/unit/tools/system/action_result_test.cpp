#include "tools/system/action_result.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;
using namespace kiln::tools;

TEST_CASE("an ActionResult is what Protocol Buffers make of it, and is read back") {
  ActionResult result;
  result.output = {sha256("x"), 300};
  result.text = "said";
  const std::string bytes = write_action_result(result);
  const std::string hash = sha256("x").hex();
  // protoc --encode=build.bazel.remote.execution.v2.ActionResult
  CHECK(bytes ==
        std::string("\x12\x4f\x0a\x06output\x12\x45\x0a\x40") + hash + "\x10\xac\x02\x2a\x04said");
  const auto read = read_action_result(bytes);
  REQUIRE(read);
  CHECK(read->output->digest == result.output->digest);
  CHECK(read->output->size == 300);
  CHECK(read->text == "said");
}

TEST_CASE("an ActionResult of others is read, as far as kiln knows it, and half of one is not") {
  const std::string bytes = write_action_result({.output = {{sha256("x"), 1}}, .text = "said"});
  // An exit code, a digest of the output text, and a 64-bit number.
  const auto read = read_action_result(std::string("\x20\x01\x32\x02\x10\x04\x69", 7) +
                                       std::string(8, '\0') + bytes);
  REQUIRE(read);
  CHECK(read->text == "said");
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    const auto half = read_action_result(std::string_view(bytes).substr(0, length));
    CHECK((!half || half->text.empty()));
  }
  CHECK_FALSE(read_action_result("<html>"));
}
