// The new values of atomics, for both LDS and global memory.
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
// Returns all updates of LDS or global memory; in LDS, "swap" is called "storexchg".
std::vector<Update> updates();

// Returns true if the values are equal, or floats (or halves) that are both NaN.
bool is_same_update(const Update& update, u64 got, u64 expected);

}  // namespace kiln::formulas
