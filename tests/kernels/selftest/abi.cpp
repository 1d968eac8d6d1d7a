#include "tests/kernels/selftest/abi.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <optional>

#include "formats/parameter_type.hpp"
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

// "const f32* inp" -> 8
std::size_t size_of_parameter(const std::string& parameter) {
  const std::string spelling = parameter.substr(0, parameter.rfind(' '));
  INFO("type " << spelling);
  const std::optional<ParameterType> type = parse_parameter_type(spelling);
  REQUIRE(type);
  return size_of(*type);
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
      kernel.parameter_sizes.push_back(size_of_parameter(texts[i]));
    }
    kernels.push_back(std::move(kernel));
  }
  REQUIRE(kernels.size() >= 157);
  return kernels;
}

}  // namespace kiln::conformance
