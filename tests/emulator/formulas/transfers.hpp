// Loads and stores for every kind of memory.
#pragma once

#include <string>

#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {

enum class Extend : u8 { kZero, kSign };
// d16 loads keep the other half of the register.
enum class Into : u8 { kWhole, kLowHalf, kHighHalf };

// `prefix` names the kind of memory: "global", "ds".
Formula load(const std::string& prefix, const std::string& name, u32 bytes,
             Extend extend = Extend::kZero, Into into = Into::kWhole);
Formula store(const std::string& prefix, const std::string& name, u32 bytes,
              bool upper_half = false);

}  // namespace kiln::formulas
