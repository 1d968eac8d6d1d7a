#include "operands.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"

namespace kiln::ops {

Result<std::size_t> common_count(std::initializer_list<NamedOperand> operands) {
  const NamedOperand& first = *operands.begin();
  std::size_t count = 0;
  for (const NamedOperand& each : operands) {
    KILN_TRY_ASSIGN(count, element_count(each.layout));
    const Extents &dims = each.layout.dims, &wanted = first.layout.dims;
    if (!std::equal(dims.begin(), dims.end(), wanted.begin(), wanted.end())) {
      return Error{ErrorCode::kInvalidInput,
                   "'" + std::string(each.name) + "' has shape " + to_string(dims) + ", '" +
                       std::string(first.name) + "' " + to_string(wanted),
                   {},
                   {}}
          .hint("a stride of 0 repeats the elements of a dim");
    }
  }
  return count;
}

bool are_contiguous(std::initializer_list<NamedOperand> operands) {
  return std::all_of(operands.begin(), operands.end(),
                     [](const NamedOperand& each) { return is_contiguous(each.layout); });
}

LayoutBlock layout_block(std::initializer_list<NamedOperand> operands) {
  const Extents& dims = operands.begin()->layout.dims;
  LayoutBlock block(dims.begin(), dims.end());
  for (const NamedOperand& each : operands) {
    const Extents strides = strides_of(each.layout);
    block.append(strides.begin(), strides.end());
  }
  // A scalar has no dims, and its block must not be null for that.
  if (block.empty()) block = {0};
  return block;
}

Result<std::uint32_t> in_32_bits(std::string_view what, std::size_t value, std::uint32_t largest) {
  if (value <= largest) return static_cast<std::uint32_t>(value);
  return Error{ErrorCode::kInvalidInput,
               std::to_string(value) + " " + std::string(what) + " are more than the kernel counts",
               {},
               {}}
      .note("it counts to " + std::to_string(largest));
}

}  // namespace kiln::ops
