// What atomics make of the value in memory, for LDS and global memory alike.
#pragma once

#include <string>
#include <vector>

#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {

struct Update {
  std::string name;  // "add", "min"
  std::string type;  // "u32"
  Kind kind;
  u64 (*of)(u64 old, u64 data);
  const Format* pair_of = nullptr;  // both halves are floats of this format
};
// All that LDS or global memory has; "swap" is "storexchg" there.
std::vector<Update> updates();

// Equal, or floats (or halves) that are both NaNs.
bool is_same_update(const Update& update, u64 got, u64 expected);

}  // namespace kiln::formulas
