// Shared by the families with several operands when they plan a launch.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kiln/ops/launch.hpp"

namespace kiln::ops {

struct NamedOperand {
  std::string_view name;
  const Layout& layout;
};

// Returns the number of elements of operands with equal dims. Errors (kInvalidInput): those of
// element_count, and dims that differ.
Result<std::size_t> common_count(std::initializer_list<NamedOperand> operands);

bool are_contiguous(std::initializer_list<NamedOperand> operands);
// True if each address is a multiple of `bytes`, so that accesses of as many bytes may begin there.
bool are_aligned(std::initializer_list<const void*> arrays, std::size_t bytes = 16);

// Returns an error if a function of one operand would write over the elements that it is yet to
// read: in place (`inp` is null or `out`), in a view that is not contiguous. Plans without addresses
// pass.
Result<void> require_apart(const Layout& layout, const void* inp, const void* out);

// Returns the dims, followed by the strides of each operand.
LayoutBlock layout_block(std::initializer_list<NamedOperand> operands);

// The layout block of views that a kernel reads in row-major order, and the rank to launch it with.
// kiln's own geometry drops dims of size 1 and merges dims that every view walks as one, because a
// kernel divides once per dim of an element. The reference geometry keeps the layout as given.
struct ViewBlock {
  LayoutBlock block;
  std::size_t rank = 0;
};
ViewBlock view_block(Geometry geometry, std::initializer_list<NamedOperand> operands);
// The same for one view. For a contiguous view, the block is empty, which kernels read as null.
ViewBlock view_block(Geometry geometry, const Layout& layout);

// Returns an error unless every dim of the block has fewer than 2^32 elements, which is all that
// kernels of views count. A single contiguous dim may have more. An empty block has no dims.
Result<void> require_counted(const LayoutBlock& block, std::size_t rank);

// The same for functions of one and of two operands and for const_set. In addition, their dims are
// divided in two: the innermost ones that together have fewer than 2^31 elements, and the others.
// These must have fewer than 2^31 places.
Result<void> require_divisible(const LayoutBlock& block, std::size_t rank);

// Converts `value` to a kernel's 32-bit parameter. The error (kInvalidInput) names a value that is
// too large.
Result<std::uint32_t> in_32_bits(std::string_view what, std::size_t value, std::uint32_t largest);

}  // namespace kiln::ops
