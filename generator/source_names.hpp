// The names of kernels in their source, if they differ from the names in the image. scale(),
// ns::scale() and the instances of saxpy<T> and tiled<T, N> have mangled names in the image, but a
// header offers them as scale, ns::scale and saxpy<float>.
//
// A kernel is left out, and has only its spelt-out name, if C++ could not name it without the
// source's own declarations, or the name would be ambiguous:
//
//   a part of its name is not an ordinary name (identifiers.hpp);
//   an argument of its template is neither a number nor one of the types that C++ or kiln has;
//   the module has another kernel of that name: extern "C", an overload, a template beside a
//   function, or an instance with arguments of other kinds (a type in one, a number in the other).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/generate.hpp"

namespace kiln::generator {

struct SourceInstance {
  std::vector<std::string> arguments;  // in C++: "float", "::kiln::f16", "4u"; none for a function
  std::size_t kernel = 0;              // position in Module::kernels
};

// A template with its instances, or a function, which counts as one instance.
struct SourceName {
  std::string space;  // "ns::inner", or empty
  std::string name;
  std::vector<std::string> parameters;  // only for a template: "typename", "int"
  std::vector<SourceInstance> instances;

  bool is_template() const { return !parameters.empty(); }
};

// Sorted by namespace and name.
std::vector<SourceName> source_names_of(const Module& module);

// Returns the name of each kernel of the module in C and Rust. It is the source's name in words:
// saxpy<float> becomes saxpy_float, and ns::tiled<unsigned int, 4u> becomes
// ns_tiled_unsigned_int_4. If that is not an ordinary name, or another kernel of the module has it,
// it is the image's name.
std::vector<std::string> plain_names_of(const Module& module);

// A source name with its module.
struct NameOfModule {
  const Module* module = nullptr;
  SourceName name;
};
// Returns the source names in namespaces of all modules. Leaves out names that two modules have,
// and names whose namespace is named like a kernel.
std::vector<NameOfModule> names_in_namespaces(const Catalog& catalog);

}  // namespace kiln::generator
