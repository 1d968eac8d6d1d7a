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

// `value` as a kernel's 32-bit parameter. Errors (kInvalidInput) name it where it is too large.
Result<std::uint32_t> in_32_bits(std::string_view what, std::size_t value, std::uint32_t largest);

}  // namespace kiln::ops
