#include <cstdlib>
#include <span>

#include "formats/target_id.hpp"
#include "tests/fuzz/fuzz_target.hpp"

FUZZ_TARGET(target_id, data, size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto target = kiln::parse_target_id(text);
  // The spelling of a target that was read must read as the same target.
  if (target && kiln::parse_target_id(kiln::to_string(*target)).value() != *target) std::abort();
}

FUZZ_SEEDS(target_id) {
  return {"gfx90a:sramecc-:xnack+", "gfx11-generic", "sm_90a", "compute_100f", "host:wave64"};
}
