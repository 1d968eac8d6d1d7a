// Our driver of hipify-perl (hipify_driver.pl): the same output and messages in a fraction of the
// time. With which versions it may be used. It does not run it: that is a step's work.
#pragma once

#include <string_view>

#include "base/digest.hpp"

namespace kiln::tools {

// Where a build puts the script, for perl to read.
inline constexpr std::string_view kHipifyDriverPath = "{out}/.kiln/hipify_driver.pl";

std::string_view hipify_driver_text();

// Whether the hipify-perl of these bytes is one that the driver was held to, by the tests in
// tests/integration/hipify. Any other runs as it is.
bool is_verified_hipify(const Digest& script);

// Changes with the driver and with the versions that it was verified with.
const Digest& hipify_driver_digest();

}  // namespace kiln::tools
