#include "tools/hipify/hipify_driver.hpp"

#include <algorithm>
#include <array>

namespace kiln::tools {
namespace {

// SHA-256 of supported hipify-perl scripts. To add one, run the tests in tests/integration/hipify
// with KILN_HIPIFY_PERL set to it and KILN_TEST_SLOW=1.
constexpr std::array<std::string_view, 1> kVerified = {
    "9da675a524c4a3a6f5999921dc459950d984e68a56a50527368fc48f1ebb2699",  // Debian 13: 6.0.2+dfsg-1
};

}  // namespace

bool is_verified_hipify(const Digest& script) {
  return std::find(kVerified.begin(), kVerified.end(), script.hex()) != kVerified.end();
}

const Digest& hipify_driver_digest() {
  static const Digest digest = [] {
    KeyHasher hasher;
    hasher.add("driver", hipify_driver_text());
    for (const std::string_view one : kVerified) hasher.add("verified", one);
    return hasher.finish();
  }();
  return digest;
}

}  // namespace kiln::tools
