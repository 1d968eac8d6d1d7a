#include "operands.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/diagnostic.hpp"

namespace kiln::ops {
namespace {

constexpr std::size_t kMaxViews = 4;  // of one launch
// Maximum number of places in the dims that a kernel of a view counts together.
constexpr std::size_t kMaxPlaces = std::numeric_limits<std::int32_t>::max();

}  // namespace

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

bool are_aligned(std::initializer_list<const void*> arrays, std::size_t bytes) {
  std::uintptr_t places = 0;
  for (const void* array : arrays) places |= reinterpret_cast<std::uintptr_t>(array);
  return places % bytes == 0;
}

Result<void> require_apart(const Layout& layout, const void* inp, const void* out) {
  const bool in_place = inp == nullptr || inp == out;
  if (out == nullptr || !in_place || is_contiguous(layout)) return {};
  return refused("a view that is not contiguous cannot be computed in place")
      .note("its elements would be written over before they are read")
      .hint("write to other memory");
}

LayoutBlock layout_block(std::initializer_list<NamedOperand> operands) {
  const Extents& dims = operands.begin()->layout.dims;
  LayoutBlock block(dims.begin(), dims.end());
  for (const NamedOperand& each : operands) {
    const Extents strides = strides_of(each.layout);
    block.append(strides.begin(), strides.end());
  }
  // A scalar has no dims, but its block must not be null.
  if (block.empty()) block = {0};
  return block;
}

ViewBlock view_block(Geometry geometry, std::initializer_list<NamedOperand> operands) {
  const Extents& dims = operands.begin()->layout.dims;
  if (geometry != Geometry::kOwn) return {layout_block(operands), dims.rank()};

  std::array<Extents, kMaxViews> strides;
  std::size_t views = 0;
  for (const NamedOperand& each : operands) strides[views++] = strides_of(each.layout);
  Extents kept_dims = dims;
  std::size_t rank = 0;
  for (std::size_t dim = 0; dim < dims.rank(); ++dim) {
    const std::size_t size = dims[dim];
    if (size == 1) continue;
    bool merges = rank != 0 && kept_dims[rank - 1] <= kMaxPlaces / size;
    for (std::size_t view = 0; merges && view < views; ++view) {
      merges = strides[view][rank - 1] == strides[view][dim] * size;
    }
    const std::size_t place = merges ? rank - 1 : rank++;
    kept_dims[place] = merges ? kept_dims[place] * size : size;
    for (std::size_t view = 0; view < views; ++view) strides[view][place] = strides[view][dim];
  }

  ViewBlock result;
  result.rank = rank;
  result.block = LayoutBlock(kept_dims.begin(), kept_dims.begin() + rank);
  for (std::size_t view = 0; view < views; ++view) {
    result.block.append(strides[view].begin(), strides[view].begin() + rank);
  }
  if (result.block.empty()) result.block = {0};  // not null for a scalar, either
  return result;
}

ViewBlock view_block(Geometry geometry, const Layout& layout) {
  if (is_contiguous(layout)) return {{}, layout.dims.rank()};
  return view_block(geometry, {{"inp", layout}});
}

Result<void> require_counted(const LayoutBlock& block, std::size_t rank) {
  if (block.empty() || rank == 0) return {};
  const auto is_one = [](std::size_t stride) { return stride == 1; };
  if (rank == 1 && std::all_of(block.begin() + 1, block.end(), is_one)) return {};
  for (std::size_t dim = 0; dim < rank; ++dim) {
    Result<std::uint32_t> counted =
        in_32_bits("elements of a dim", block[dim], std::numeric_limits<std::uint32_t>::max());
    if (!counted) return std::move(counted).error().hint("cut the dim in two");
  }
  return {};
}

Result<void> require_divisible(const LayoutBlock& block, std::size_t rank) {
  KILN_TRY(require_counted(block, rank));
  if (block.empty()) return {};
  const std::size_t* const dims = block.begin();
  std::size_t dim = rank, inner = 1, outer = 1;
  for (; dim != 0 && dims[dim - 1] <= kMaxPlaces / inner; --dim) inner *= dims[dim - 1];
  for (; dim != 0; --dim) outer *= dims[dim - 1];
  Result<std::uint32_t> counted =
      in_32_bits("places of the outer dims", outer, static_cast<std::uint32_t>(kMaxPlaces));
  if (!counted) return std::move(counted).error().hint("take the view in parts");
  return {};
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
