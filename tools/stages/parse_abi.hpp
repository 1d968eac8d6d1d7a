// parse_abi: reads the abi file of a manifest: the kernels and parameters that every image must
// export.
//
//   {"format": 1, "modules": {"affine": {"affine_f32": ["u64 numel", "const u64* info", "f32 mul"]}}}
//
// A parameter is "type name" (formats/parameter_type.hpp has the types). Each parameter lies at the
// next offset that is a multiple of its size.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"

namespace kiln::tools {

using Abi = std::map<std::string, std::vector<AbiKernel>>;  // by module; kernels sorted by name

// `file` names the text in errors.
Result<Abi> parse_abi(std::string_view text, std::string_view file);

}  // namespace kiln::tools
