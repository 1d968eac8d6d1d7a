// One kernel of a module, the same in all its images.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/demangle.hpp"
#include "formats/parameter_type.hpp"
#include "kiln/catalog.hpp"
#include "kiln/result.hpp"

namespace kiln::tools {

// Images tell where a parameter lies; what it is comes from an abi file, or from a mangled name.
struct KernelParameter {
  Parameter place;
  ParameterType type = {};  // unknown where nothing tells it
  std::string name = {};    // empty where no abi file tells it
};

// Nothing told its type, nor that it is a pointer: programs can have its size checked alone.
inline bool is_untyped(const KernelParameter& parameter) {
  return !parameter.type.is_known() && parameter.place.kind != ParameterKind::kPointer;
}

struct Kernel {
  std::string name;  // as the images export it
  std::uint16_t unit = 0;
  std::vector<KernelParameter> parameters;
};

inline bool has_untyped(const Kernel& kernel) { return std::ranges::any_of(kernel.parameters, is_untyped); }

// Whether an abi file would tell more. A mangled name has told the types that kiln knows, and what an abi file
// has named without a type is a struct.
inline bool needs_abi(const Kernel& kernel) {
  return !is_mangled(kernel.name) && std::ranges::any_of(kernel.parameters, [](const KernelParameter& parameter) {
    return is_untyped(parameter) && parameter.name.empty();
  });
}

// One kernel that every image of its module must export (an abi file).
struct AbiKernel {
  std::string name;
  std::vector<KernelParameter> parameters;
  Location where;
};

}  // namespace kiln::tools
