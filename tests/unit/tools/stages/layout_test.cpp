#include "tools/stages/layout.hpp"

#include <random>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace kiln;
using namespace kiln::tools;

namespace {

ModuleSpec module_of(const std::vector<std::string>& sources) {
  ModuleSpec module;
  module.name.value = "m";
  for (const std::string& source : sources) module.sources.push_back({source, {}});
  return module;
}

std::vector<std::string> names_of(const std::vector<std::string>& sources) {
  const ModuleSpec module = module_of(sources);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sources.size(); ++i) names.push_back(unit_name(module, i));
  return names;
}

}  // namespace

TEST_CASE("a unit is called like its source, and by its position where that is not enough") {
  using Names = std::vector<std::string>;
  CHECK(names_of({"any thing.cu"}) == Names{""});
  CHECK(names_of({"gemm/small.cu", "gemm/large.cu"}) == Names{"small", "large"});
  CHECK(names_of({"d1/x.cu", "d2/x.cu", "x-0.cu"}) == Names{"x@0", "x@1", "x-0"});
  CHECK(names_of({"...cu", "..cu", "a.b.cu"}) == Names{"_.@0", "_@1", "a.b"});
  CHECK(names_of({"a b.cu", "-c.cu", "d@1.cu"}) == Names{"a_b@0", "_c@1", "d_1@2"});
}

TEST_CASE("no two units of a module share a name, and none leaves its folder") {
  std::mt19937 random(1);
  const std::string letters = "xX.-@_/0 1";
  for (int round = 0; round < 20000; ++round) {
    std::set<std::string> sources;
    const std::size_t count = 2 + random() % 5;
    while (sources.size() < count) {
      std::string source;
      for (std::size_t i = random() % 5; i > 0; --i) source += letters[random() % letters.size()];
      const auto normal = std::filesystem::path(source + ".cu").lexically_normal().relative_path();
      if (*normal.begin() != "..") sources.insert(normal.string());
    }
    const std::vector<std::string> names = names_of({sources.begin(), sources.end()});
    const std::set<std::string> distinct(names.begin(), names.end());
    CAPTURE(names);
    REQUIRE(distinct.size() == names.size());
    for (const std::string& name : names) {
      REQUIRE_FALSE(name.empty());
      REQUIRE(name.front() != '.');
      REQUIRE(name.find_first_of("/ ") == std::string::npos);
    }
  }
}
