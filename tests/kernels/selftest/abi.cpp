#include "tests/kernels/selftest/abi.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <optional>

#include "formats/parameter_type.hpp"
#include "ops/src/own_kernels.hpp"
#include "tests/kernels/families/family.hpp"

namespace kiln::conformance {
namespace {

// Returns the texts between quotes, in order.
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

std::set<std::string> partial_modules() {
  std::ifstream file(KILN_MANIFEST_FILE);
  REQUIRE(file);
  std::set<std::string> modules;
  std::string module;
  for (std::string line; std::getline(file, line);) {
    const std::string name = "{\"name\": \"";
    if (const std::size_t first = line.find(name); first != std::string::npos) {
      const std::size_t start = first + name.size();
      module = line.substr(start, line.find('"', start) - start);
    }
    if (line.find("\"partial\": true") != std::string::npos) modules.insert(module);
  }
  return modules;
}

namespace {

void append_kernels_of(const char* path, std::vector<AbiKernel>& kernels) {
  std::ifstream file(path);
  REQUIRE(file);
  const std::set<std::string> partial = partial_modules();
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
    if (partial.count(module) != 0 && ops::find_own_kernel(module, texts[0]) == nullptr) continue;
    AbiKernel kernel{module, texts[0], {}};
    for (std::size_t i = 1; i < texts.size(); ++i) {
      kernel.parameter_sizes.push_back(size_of_parameter(texts[i]));
    }
    kernels.push_back(std::move(kernel));
  }
}

}  // namespace

std::vector<AbiKernel> abi_kernels() {
  std::vector<AbiKernel> kernels;
  append_kernels_of(KILN_ABI_FILE, kernels);
  append_kernels_of(KILN_OWN_ABI_FILE, kernels);
  REQUIRE(kernels.size() >= 157);
  return kernels;
}

}  // namespace kiln::conformance
