#include <sstream>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_files.hpp"
#include "tests/support/fake_processes.hpp"
#include "tools/commands/init.hpp"

using namespace kiln;
using namespace kiln::tools;

TEST_CASE("init that fails leaves nothing behind, and can be run again") {
  for (unsigned nth = 1;; ++nth) {
    CAPTURE(nth);
    testing::FakeFiles files;
    testing::FakeProcesses processes;
    Environment environment;
    environment.current_directory = "/w";
    std::ostringstream out, err;
    World world{.files = files, .processes = processes, .environment = environment, .out = out, .err = err};
    files.writes.fail(nth);
    const Result<int> first = run_init({.folder = "demo"}, world);
    if (!files.writes.was_hit()) {
      REQUIRE(first);
      CHECK(nth > 5);  // the folder and five files
      CHECK(files.snapshot("/w/demo").size() == 5);
      break;
    }
    REQUIRE_FALSE(first);
    CHECK(files.snapshot("/w/demo").empty());
    CHECK(out.str().empty());
    files.writes.fail(0);
    CHECK(run_init({.folder = "demo"}, world));
  }
}
