// kiln's driver of hipify-perl (hipify_driver.pl). It gives the same output and messages in a
// fraction of the time. This file knows the script and the supported versions; a step runs it.
#pragma once

#include <string_view>

#include "base/digest.hpp"

namespace kiln::tools {

// Path to which a build writes the driver script.
inline constexpr std::string_view kHipifyDriverPath = "{out}/.kiln/hipify_driver.pl";

std::string_view hipify_driver_text();

// True if the driver was verified with this hipify-perl, by the tests in tests/integration/hipify.
// Any other version runs without the driver.
bool is_verified_hipify(const Digest& script);

// Changes with the driver and with the list of verified versions.
const Digest& hipify_driver_digest();

}  // namespace kiln::tools
