// Kernel names that do not match exactly: instances of templates, and the error for unknown names.
#pragma once

#include <cstddef>
#include <string_view>

#include "kiln/catalog.hpp"
#include "kiln/result.hpp"

namespace kiln::runtime {

// Returns the index of the kernel that users call `name`, or a negative number. An instance of a
// template is called "saxpy<float>", while its name in the image is mangled. The error says that
// two kernels match.
Result<std::ptrdiff_t> find_by_readable_name(std::string_view name, const ModuleEntry& module);

// Returns the error kNotFound, with the nearest existing name.
Error no_such_kernel(std::string_view name, const ModuleEntry& module);

}  // namespace kiln::runtime
