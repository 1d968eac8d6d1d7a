// The kernels that kiln's modules declare, for tests that need no generated header.
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

// Returns the kernels of kernels/abi.json whose module has a family in the suite; for partial
// modules, only those that are in a table. Reads the simple layout of that file, one kernel a line,
// and fails the test for any other layout.
std::vector<AbiKernel> abi_kernels();

// Returns the modules that lack kernels of the ABI according to the manifest.
std::set<std::string> partial_modules();

}  // namespace kiln::conformance
