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

TEST_CASE("init gives a project a name that CMake and kiln take") {
  const auto manifest_in = [](const std::string& folder) {
    testing::FakeWorld fake;
    REQUIRE(run_init({.folder = folder}, fake.world));
    return *fake.files.read("/w/" + folder + "/targets.json");
  };
  CHECK(manifest_in("demo").find("\"name\": \"demo\"") != std::string::npos);
  CHECK(manifest_in("install").find("\"name\": \"my_install\"") != std::string::npos);
  CHECK(manifest_in("class").find("\"name\": \"my_class\"") != std::string::npos);
  CHECK(manifest_in(std::string(200, 'y')).find('"' + std::string(64, 'y') + '"') !=
        std::string::npos);
}
