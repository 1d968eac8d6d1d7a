// The kernels that our modules declare, for tests that need no generated header.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace kiln::conformance {

struct AbiKernel {
  std::string module, name;
  std::vector<std::size_t> parameter_sizes;
};

// The kernels of kernels/abi.json that belong to a module the suite has a family for; of partial
// modules those that a table has. Reads the file's own plain layout, a kernel a line, and fails the
// test on any other.
std::vector<AbiKernel> abi_kernels();

// The modules of which the manifest says that kernels of the ABI are missing.
std::set<std::string> partial_modules();

}  // namespace kiln::conformance
