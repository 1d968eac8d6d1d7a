// A kernel of a module. It is the same in all images of the module.
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

// A parameter of a kernel. Images tell its layout. Its type comes from an abi file or from a
// mangled name.
struct KernelParameter {
  Parameter layout;
  ParameterType type = {};  // unknown if nothing tells it
  std::string name = {};    // empty if no abi file tells it
};

// True if neither the type nor being a pointer is known, so that programs can only check the size.
inline bool is_untyped(const KernelParameter& parameter) {
  return !parameter.type.is_known() && parameter.layout.kind != ParameterKind::kPointer;
}

struct Kernel {
  std::string name;  // as the images export it
  std::uint16_t unit = 0;
  std::vector<KernelParameter> parameters;
};

inline bool has_untyped(const Kernel& kernel) { return std::ranges::any_of(kernel.parameters, is_untyped); }

// True if an abi file would add information. A mangled name already tells all types that kiln
// knows, and a parameter that an abi file names without a type is a struct.
inline bool needs_abi(const Kernel& kernel) {
  return !is_mangled(kernel.name) && std::ranges::any_of(kernel.parameters, [](const KernelParameter& parameter) {
    return is_untyped(parameter) && parameter.name.empty();
  });
}

// A kernel that every image of its module must export, from an abi file.
struct AbiKernel {
  std::string name;
  std::vector<KernelParameter> parameters;
  Location where;
};

}  // namespace kiln::tools
