// Which cases a family adds for a kernel.
#pragma once

#include <cstdint>

#include "draw.hpp"

namespace kiln::conformance {

// The number of listed cases for a kernel.
enum class Breadth : std::uint8_t {
  kHandful,  // all values, and each kind of view, pointer and grid once
  kFull,     // the product of views, alignments and grids
};

struct Wanted {
  Breadth breadth = Breadth::kHandful;
  Draw* draw = nullptr;     // draws a single case, instead of the listed ones
  bool everything = false;  // cases that take long although others cover most of what they do
};

}  // namespace kiln::conformance
