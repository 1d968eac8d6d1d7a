// include_hip: gives converted sources HIP's header wherever CUDA's words need it.
//
// nvcc takes CUDA's header for granted. hipify-perl adds HIP's only to files with kernels, so that a
// header of device functions would not compile before the first of those.
#pragma once

#include <string>

namespace kiln::tools {

// Returns `converted` with an #include of HIP's header as its first line if it uses words of CUDA's
// language and does not include that header itself.
std::string include_hip(std::string converted);

}  // namespace kiln::tools
