// The error for a name that a module does not have.
#pragma once

#include <string_view>

#include "kiln/catalog.hpp"
#include "kiln/result.hpp"

namespace kiln::runtime {

// kNotFound, with the nearest name that there is.
Error no_such_kernel(std::string_view name, const ModuleEntry& module);

}  // namespace kiln::runtime
