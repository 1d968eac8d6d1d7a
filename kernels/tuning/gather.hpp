// How gather moves elements. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// Number of neighbours that a thread gathers together. Registers are the limit: eight f8 elements
// with i32 ids spill on sm_80. Measured on an H200, 16384x4096, u32 ids, in us, 4 -> 8 neighbours:
// f8 123 -> 108; f16 149 -> 144; f32 203 -> 264.
constexpr unsigned gathered_together(unsigned element_bytes, unsigned id_bytes, bool signed_ids) {
  const unsigned most = id_bytes <= 4 && !signed_ids ? 8 : 4;
  return 16 / element_bytes < most ? 16 / element_bytes : most;
}

}  // namespace kiln::tuning
