#include "tools/stages/include_hip.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace kiln::tools {
namespace {

constexpr std::array<std::string_view, 9> kWords = {"__constant__", "__device__", "__global__",
                                                    "__host__",     "__shared__", "blockDim",
                                                    "blockIdx",     "gridDim",    "threadIdx"};

}  // namespace

std::string include_hip(std::string converted) {
  const auto has = [&](std::string_view text) { return converted.find(text) != std::string::npos; };
  if (has("hip/hip_runtime.h") || std::ranges::none_of(kWords, has)) return converted;
  return converted.insert(0, "#include \"hip/hip_runtime.h\"\n");
}

}  // namespace kiln::tools
