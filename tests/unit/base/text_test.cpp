#include "base/text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace {

using Parts = std::vector<std::string_view>;

TEST_CASE("split keeps empty parts and always gives at least one") {
  CHECK(kiln::split("a,b,,c", ',') == Parts{"a", "b", "", "c"});
  CHECK(kiln::split("", ',') == Parts{""});
  CHECK(kiln::split(",", ',') == Parts{"", ""});
  CHECK(kiln::split("abc", ',') == Parts{"abc"});
}

TEST_CASE("trim takes blanks from both ends and none from the middle") {
  CHECK(kiln::trim(" \t a b \r\n") == "a b");
  CHECK(kiln::trim("ab") == "ab");
  CHECK(kiln::trim(" \n ").empty());
  CHECK(kiln::trim("").empty());
}

TEST_CASE("join puts the separator between parts only") {
  const std::vector<std::string> parts = {"a", "", "c"};
  CHECK(kiln::join(parts, ", ") == "a, , c");
  CHECK(kiln::join(std::vector<std::string>{"a"}, ", ") == "a");
  CHECK(kiln::join(std::vector<std::string>{}, ", ").empty());
}

TEST_CASE("join keeps the separator when the first parts are empty") {
  CHECK(kiln::join(std::vector<std::string>{"", "", "c"}, "-") == "--c");
}

TEST_CASE("counted minds one and many") {
  CHECK(kiln::counted(0, "step") == "0 steps");
  CHECK(kiln::counted(1, "step") == "1 step");
  CHECK(kiln::counted(2, "step") == "2 steps");
}

TEST_CASE("is_identifier refuses what C++ cannot name") {
  for (const char* name : {"a", "_", "affine_f32", "Affine", "x9", "classy", "u8"}) {
    CAPTURE(name);
    CHECK(kiln::is_identifier(name));
  }
  for (const char* name : {"", "9x", "a-b", "a b", "a.b", "_Z6kernelILi4EEv$", "gr\xc3\xbcn", "class",
                           "xor_eq", "alignas", "requires", "while", "and"}) {
    CAPTURE(name);
    CHECK_FALSE(kiln::is_identifier(name));
  }
}

TEST_CASE("quote makes control characters visible") {
  CHECK(kiln::quote("sm_90") == "'sm_90'");
  CHECK(kiln::quote("a\nb\x1b\x7f") == "'a\\x0ab\\x1b\\x7f'");
  CHECK(kiln::quote(std::string_view("\0", 1)) == "'\\x00'");
  CHECK(kiln::quote("gr\xc3\xbcn") == "'gr\xc3\xbcn'");
  // Text that would be displayed in another order or on another line.
  CHECK(kiln::quote("a\xe2\x80\xae" "b") == "'a\\xe2\\x80\\xaeb'");
  CHECK(kiln::printable("\xd8\x9c\xe2\x81\xa6\xe2\x80\xa8\n") ==
        "\\xd8\\x9c\\xe2\\x81\\xa6\\xe2\\x80\\xa8\n");
  CHECK(kiln::quote("\xe2\x80\x99\xe2\x82\xac\xe2\x80") == "'\xe2\x80\x99\xe2\x82\xac\xe2\x80'");
}

TEST_CASE("shell_quote leaves plain words alone and quotes the rest") {
  CHECK(kiln::shell_quote("--offload-arch=gfx90a:xnack+") == "--offload-arch=gfx90a:xnack+");
  CHECK(kiln::shell_quote("") == "''");
  CHECK(kiln::shell_quote("a b") == "'a b'");
  CHECK(kiln::shell_quote("it's") == "'it'\\''s'");
  CHECK(kiln::shell_quote("$HOME;*") == "'$HOME;*'");
}

TEST_CASE("shell_line joins quoted words with one space") {
  CHECK(kiln::shell_line(std::vector<std::string>{"nvcc", "-D", "X=a b", "", "f.cu"}) ==
        "nvcc -D 'X=a b' '' f.cu");
}

}  // namespace
