#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tools/system/environment.hpp"
#include "tools/system/variables.hpp"

using kiln::tools::Environment;

namespace {

Environment with(std::map<std::string, std::string, std::less<>> variables) {
  Environment environment;
  environment.variables = std::move(variables);
  return environment;
}

}  // namespace

TEST_CASE("Environment finds the cache folder by the most specific variable") {
  CHECK(with({{"HOME", "/home/ada"}}).cache_directory() == "/home/ada/.cache/kiln");
  CHECK(with({{"HOME", "/home/ada"}, {"XDG_CACHE_HOME", "/c"}}).cache_directory() == "/c/kiln");
  CHECK(with({{"XDG_CACHE_HOME", "/c"}, {"KILN_CACHE_DIR", "/k"}}).cache_directory() == "/k");
}

TEST_CASE("Environment ignores an XDG folder that is empty or relative") {
  CHECK(with({{"HOME", "/h"}, {"XDG_CACHE_HOME", ""}}).cache_directory() == "/h/.cache/kiln");
  CHECK(with({{"HOME", "/h"}, {"XDG_CACHE_HOME", "c"}}).cache_directory() == "/h/.cache/kiln");
}

TEST_CASE("Environment finds the folder of set-up tools") {
  CHECK(with({{"HOME", "/h"}}).toolchain_directory() == "/h/.local/share/kiln/toolchain");
  CHECK(with({{"HOME", "/h"}, {"XDG_DATA_HOME", "/d"}}).toolchain_directory() == "/d/kiln/toolchain");
  CHECK(with({{"KILN_TOOLCHAIN_DIR", "/t"}}).toolchain_directory() == "/t");
}

// tests/setup/cases.sh checks set-up and CMake against the same table.
TEST_CASE("Environment finds the folder of set-up tools where set-up puts them") {
  std::ifstream table(KILN_PLACES);
  unsigned rows = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    Environment environment;
    environment.current_directory = "/above/here";
    std::string value, place;
    for (const char* name : {"KILN_TOOLCHAIN_DIR", "XDG_DATA_HOME", "HOME"}) {
      words >> value;
      if (value != "-") environment.variables[name] = value == "empty" ? "" : value;
    }
    words >> place;
    if (place.starts_with("here/")) place = (environment.current_directory / place.substr(5)).lexically_normal();
    CAPTURE(line);
    CHECK(environment.toolchain_directory() == (place == "none" ? "" : place));
    ++rows;
  }
  CHECK(rows > 5);
}

// Anybody may write to /tmp, so programs there may be somebody else's.
TEST_CASE("Environment has no folders where no variable says where") {
  CHECK(with({}).cache_directory().empty());
  CHECK(with({}).toolchain_directory().empty());
  CHECK(with({{"HOME", "relative"}}).cache_directory().empty());
  CHECK(with({{"HOME", ""}}).toolchain_directory().empty());
}

TEST_CASE("Environment of this process has its variables and at least one core") {
  const Environment environment = kiln::tools::real_environment();
  CHECK(environment.get("PATH").has_value());
  CHECK_FALSE(environment.get("KILN_NO_SUCH_VARIABLE").has_value());
  CHECK(environment.cores >= 1);
  CHECK(environment.current_directory.is_absolute());
}

TEST_CASE("misspelt_variables tells what is nearly a variable of kiln's, and nothing of others") {
  const auto lines = kiln::tools::misspelt_variables(
      with({{"KILN_CACHE_DIRR", "x"}, {"KILN_DEVCE", ""}, {"KILN_DEVICE", "host"}, {"KILN_TEST_DEVICE", "host"},
            {"KILN_MY_OWN", "1"}, {"KILN_CACHE_PATH", "x"}, {"KILN_", "x"}, {"KILNCACHE", "x"}}));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "KILN_CACHE_DIRR is set, which nothing reads: did you mean KILN_CACHE_DIR?");
  CHECK(lines[1] == "KILN_DEVCE is set, which nothing reads: did you mean KILN_DEVICE?");
}

TEST_CASE("misspelt_variables tells of names to pass on that are none") {
  const auto lines = kiln::tools::misspelt_variables(with({{"KILN_PASS_ENVIRONMENT", "A B, C,,default"}}));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "KILN_PASS_ENVIRONMENT names 'A B', which no variable is called: names are separated by commas");
}
