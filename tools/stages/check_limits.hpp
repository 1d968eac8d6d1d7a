// check_limits: the images of a build held to the budgets and driver floors of its manifest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

// The oldest driver, or ROCm, that loads something, with the reason.
struct Need {
  std::uint32_t cuda = 0, rocm = 0;  // 1000 * major + 10 * minor; 0: any, or not known
  std::string why;                   // "it is PTX ISA 8.4"
};

// `nvcc` is the version of the compiler that made a cubin, "13.0.88".
Need need_of(const Artifact& image, std::string_view nvcc);
// Of a file of bundles/: vendors compress them in ways that older loaders do not know.
Need need_of_bundle(std::string_view bytes);

// Where `what` needs newer software than the floors allow, an error (kBuildFailed).
std::vector<Error> check_floors(const std::string& what, const Need& need, const Floors& floors);

// `images` carry their bytes. One error (kBuildFailed) for each budget that is exceeded, with all
// that exceeds it as notes, the worst first.
std::vector<Error> check_budgets(const Catalog& catalog);

}  // namespace kiln::tools
