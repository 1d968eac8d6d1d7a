#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_world.hpp"
#include "tools/commands/init.hpp"

using namespace kiln;
using namespace kiln::tools;

TEST_CASE("init that fails leaves nothing behind, and can be run again") {
  for (unsigned nth = 1;; ++nth) {
    CAPTURE(nth);
    testing::FakeWorld fake;
    testing::FakeFiles& files = fake.files;
    files.writes.fail(nth);
    const Result<int> first = run_init({.folder = "demo"}, fake.world);
    if (!files.writes.was_hit()) {
      REQUIRE(first);
      CHECK(nth > 5);  // the folder and five files
      CHECK(files.snapshot("/w/demo").size() == 5);
      break;
    }
    REQUIRE_FALSE(first);
    CHECK(files.snapshot("/w/demo").empty());
    CHECK(fake.out.str().empty());
    files.writes.fail(0);
    CHECK(run_init({.folder = "demo"}, fake.world));
  }
}
