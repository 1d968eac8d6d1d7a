#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_world.hpp"
#include "tools/commands/report.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

// Returns the warning of `kiln report` for a build with this timeline.
std::string warning_with(const char* timeline) {
  testing::FakeWorld fake;
  REQUIRE(fake.files.write("/w/out/kiln.json", R"({"format": 1, "images": []})"));
  if (timeline != nullptr) REQUIRE(fake.files.write("/w/out/.kiln/timeline.json", timeline));
  REQUIRE(run_report({}, fake.world).value() == 0);
  return fake.err.str();
}

}  // namespace

TEST_CASE("report says so when it leaves out a timeline that is there") {
  CHECK(warning_with(nullptr).empty());
  CHECK(warning_with(R"({"traceEvents": []})").empty());
  for (const char* damaged : {"", "{\"traceEvents\": [", "{}"}) {
    CHECK(warning_with(damaged) ==
          "kiln: warning: the report has no timeline: 'out/.kiln/timeline.json' is no trace; a build that runs a step "
          "writes it anew\n");
  }
}
