// The system's C++ compiler, used for the host device.
#pragma once

#include <memory>
#include <string>

#include "runtime/src/compiler.hpp"

namespace kiln::runtime {

// Finds the program `wanted`, a path or a name on PATH. If `wanted` is empty, finds the first of
// c++, g++ and clang++. Errors: kUnavailable with the names that were tried.
Result<std::unique_ptr<Compiler>> find_host_compiler(const std::string& wanted);

}  // namespace kiln::runtime
