// Same input, same bytes, wherever the folders lie.
#include <catch2/catch_test_macros.hpp>

#include "tests/integration/build/project.hpp"

using namespace kiln;
using namespace kiln::testing;

TEST_CASE("kiln build gives the same bytes in another folder, with another number of jobs") {
  if (!has_amd() && !has_nvidia()) SKIP("needs a compiler of one vendor: see kiln doctor");
  const ScratchFolder one, other;
  const Project here(one.path()), there(other / "a much longer name/with a space");
  const tools::Outcome first = here.kiln({"build", "--no-cache", "-j", "1"});
  INFO(first.diagnostics);
  REQUIRE(first.ok());
  const tools::Outcome second = there.kiln({"build", "--no-cache", "-j", "3"});
  INFO(second.diagnostics);
  REQUIRE(second.ok());
  const auto a = here.outputs(), b = there.outputs();
  std::vector<std::string> names;
  for (const auto& [name, bytes] : a) names.push_back(name);
  for (const auto& [name, bytes] : b) {
    CAPTURE(name);
    REQUIRE(a.contains(name));
    // The one file that is for an editor on this machine.
    if (name != "compile_commands.json") CHECK((a.at(name) == bytes));
  }
  CHECK(a.size() == b.size());
}
