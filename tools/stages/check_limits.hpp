// check_limits: checks the images of a build against the budgets and driver floors of its manifest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

// The oldest CUDA driver or ROCm that loads a file, with the reason.
struct Need {
  std::uint32_t cuda = 0, rocm = 0;  // 1000 * major + 10 * minor; 0: any or unknown
  std::string why;                   // "it is PTX ISA 8.4"
};

// `nvcc` is the version of the compiler that made a cubin, "13.0.88".
Need need_of(const Artifact& image, std::string_view nvcc);
// Returns the need of a file in bundles/. Vendors compress them in ways that older loaders do not
// support.
Need need_of_bundle(std::string_view bytes);

// Returns an error (kBuildFailed) for each floor that is older than what `what` needs.
std::vector<Error> check_floors(const std::string& what, const Need& need, const Floors& floors);

// Returns one error (kBuildFailed) per exceeded budget. Its notes list everything that exceeds it,
// the worst first. The images of the catalog must have their bytes.
std::vector<Error> check_budgets(const Catalog& catalog);

}  // namespace kiln::tools
