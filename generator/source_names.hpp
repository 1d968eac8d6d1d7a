// The templates among a module's kernels, by the names that they have in the source: the instances
// of saxpy<T> and tiled<T, N> have mangled names, and a header offers them as saxpy<float> all the
// same.
//
// An instance is left out, and keeps its spelt-out name alone, where C++ could not name it without
// the source's own declarations, or would have two meanings for it:
//
//   its template is in a namespace, or its name is not an ordinary one (identifiers.hpp);
//   an argument is neither a number nor one of the types that C++ or kiln has;
//   the module has a kernel of that plain name, instances whose arguments are of other sorts (a
//   type here, a number there), or two kernels that differ in their parameters alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/generate.hpp"

namespace kiln::generator {

struct TemplateInstance {
  std::vector<std::string> arguments;  // as C++: "float", "::kiln::f16", "4u"
  std::size_t kernel = 0;              // position in Module::kernels
};

struct KernelTemplate {
  std::string name;
  std::vector<std::string> parameters;  // "typename", "int"
  std::vector<TemplateInstance> instances;
};

// Sorted by name.
std::vector<KernelTemplate> templates_of(const Module& module);

}  // namespace kiln::generator
