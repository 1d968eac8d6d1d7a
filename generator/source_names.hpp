// The names that kernels have in their source, where that is not what the image calls them:
// scale(), ns::scale(), and the instances of saxpy<T> and tiled<T, N> have mangled names, and a
// header offers them as scale, ns::scale and saxpy<float> all the same.
//
// A kernel is left out, and keeps its spelt-out name alone, where C++ could not name it without the
// source's own declarations, or would have two meanings for it:
//
//   a part of its name is not an ordinary one (identifiers.hpp);
//   an argument of its template is neither a number nor one of the types that C++ or kiln has;
//   the module has another kernel of that name: extern "C", an overload, a template beside a
//   function, or an instance whose arguments are of other sorts (a type here, a number there).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/generate.hpp"

namespace kiln::generator {

struct SourceInstance {
  std::vector<std::string> arguments;  // as C++: "float", "::kiln::f16", "4u"; none of a function
  std::size_t kernel = 0;              // position in Module::kernels
};

// A template with its instances, or a function, which is one instance.
struct SourceName {
  std::string space;  // "ns::inner", or empty
  std::string name;
  std::vector<std::string> parameters;  // of a template: "typename", "int"
  std::vector<SourceInstance> instances;

  bool is_template() const { return !parameters.empty(); }
};

// Sorted by namespace and name.
std::vector<SourceName> source_names_of(const Module& module);

// For each kernel of the module the name that C and Rust give it: that of the source in words,
// saxpy<float> as saxpy_float and ns::tiled<unsigned int, 4u> as ns_tiled_unsigned_int_4, unless that
// is no ordinary name or another kernel of the module has it; else the image's.
std::vector<std::string> plain_names_of(const Module& module);

// Those of all modules that are in namespaces, and the module of each. Left out: what two modules
// have, and what is in a namespace that is called like a kernel of any.
struct NameOfModule {
  const Module* module = nullptr;
  SourceName name;
};
std::vector<NameOfModule> names_in_namespaces(const Catalog& catalog);

}  // namespace kiln::generator
