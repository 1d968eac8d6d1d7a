// The system's C++ compiler, for the host device.
#pragma once

#include <memory>
#include <string>

#include "runtime/src/compiler.hpp"

namespace kiln::runtime {

// The program `wanted`, a path or a name on PATH; when it is empty, the first of c++, g++ and
// clang++. Errors: kUnavailable with the names that were looked for.
Result<std::unique_ptr<Compiler>> find_host_compiler(const std::string& wanted);

}  // namespace kiln::runtime
