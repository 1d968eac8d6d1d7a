#include "tests/kernels/selftest/abi.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <map>

#include "tests/kernels/families/family.hpp"

namespace kiln::conformance {
namespace {

// The texts between quotes, in order.
std::vector<std::string> texts_in_quotes(const std::string& line) {
  std::vector<std::string> texts;
  for (std::size_t open = line.find('"'); open != std::string::npos;) {
    const std::size_t close = line.find('"', open + 1);
    REQUIRE(close != std::string::npos);
    texts.push_back(line.substr(open + 1, close - open - 1));
    open = line.find('"', close + 1);
  }
  return texts;
}

std::size_t size_of_type(const std::string& type) {
  static const std::map<std::string, std::size_t> sizes = {
      {"ptr", 8},  {"u64", 8},  {"i64", 8}, {"f64", 8}, {"u32", 4},
      {"i32", 4},  {"f32", 4},  {"i16", 2}, {"u16", 2}, {"f16", 2},
      {"bf16", 2}, {"bool", 1}, {"u8", 1},  {"i8", 1},  {"f8", 1}};
  const auto found = sizes.find(type);
  INFO("type " << type);
  REQUIRE(found != sizes.end());
  return found->second;
}

}  // namespace

std::vector<AbiKernel> abi_kernels() {
  std::ifstream file(KILN_ABI_FILE);
  REQUIRE(file);
  std::vector<AbiKernel> kernels;
  std::string module;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> texts = texts_in_quotes(line);
    if (texts.empty()) continue;
    if (line.find('[') == std::string::npos) {
      module = texts[0];
      continue;
    }
    const bool known = std::any_of(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& family) { return family.module == module; });
    if (!known) continue;
    AbiKernel kernel{module, texts[0], {}};
    for (std::size_t i = 1; i < texts.size(); ++i) {
      kernel.parameter_sizes.push_back(size_of_type(texts[i].substr(0, texts[i].find(' '))));
    }
    kernels.push_back(std::move(kernel));
  }
  REQUIRE(kernels.size() >= 157);
  return kernels;
}

}  // namespace kiln::conformance
