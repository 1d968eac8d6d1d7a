// What the families with several operands share when they plan a launch.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kiln/ops/launch.hpp"

namespace kiln::ops {

struct NamedOperand {
  std::string_view name;
  const Layout& layout;
};

// The number of elements of operands of the same dims. Errors (kInvalidInput): those of
// element_count, and operands whose dims differ.
Result<std::size_t> common_count(std::initializer_list<NamedOperand> operands);

bool are_contiguous(std::initializer_list<NamedOperand> operands);

// The dims, then the strides of each operand.
LayoutBlock layout_block(std::initializer_list<NamedOperand> operands);

// The layout block of views that a kernel reads in row-major order, and the rank to launch it with.
// In our geometry without dims of size 1, and with dims merged that every view walks as one: a
// kernel divides once for each dim of an element. In the original's, as it was given.
struct ViewBlock {
  LayoutBlock block;
  std::size_t rank = 0;
};
ViewBlock view_block(Geometry geometry, std::initializer_list<NamedOperand> operands);
// The same of one view. Empty, which a kernel reads as null, when it is contiguous.
ViewBlock view_block(Geometry geometry, const Layout& layout);

// `value` as a kernel's 32-bit parameter. Errors (kInvalidInput) name it where it is too large.
Result<std::uint32_t> in_32_bits(std::string_view what, std::size_t value, std::uint32_t largest);

}  // namespace kiln::ops
