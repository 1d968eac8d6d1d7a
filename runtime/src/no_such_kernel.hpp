// Names that no kernel of a module has as they are: those of templates, and the error for the others.
#pragma once

#include <cstddef>
#include <string_view>

#include "kiln/catalog.hpp"
#include "kiln/result.hpp"

namespace kiln::runtime {

// The kernel that a person would call `name`: an instance of a template is "saxpy<float>", where the
// image's name for it is mangled. Negative: none. An error where two are called so.
Result<std::ptrdiff_t> find_written(std::string_view name, const ModuleEntry& module);

// kNotFound, with the nearest name that there is.
Error no_such_kernel(std::string_view name, const ModuleEntry& module);

}  // namespace kiln::runtime
