#include "kiln/ops/layout.hpp"

#include <cstdint>

namespace kiln::ops {
namespace {

Error invalid(const Layout& layout, std::string what) {
  return Error{
      ErrorCode::kInvalidInput, "shape " + to_string(layout) + " " + std::move(what), {}, {}};
}

}  // namespace

std::string to_string(const Extents& extents) {
  std::string text = "[";
  for (const std::size_t& value : extents) {
    if (&value != extents.begin()) text += ", ";
    text += std::to_string(value);
  }
  if (extents.rank() > kMaxRank) text += ", ...";
  return text + "]";
}

std::string to_string(const Layout& layout) {
  std::string text = to_string(layout.dims);
  if (!layout.strides.empty()) text += " with strides " + to_string(layout.strides);
  return text;
}

Result<std::size_t> element_count(const Layout& layout) {
  const std::size_t rank = layout.dims.rank();
  if (rank > kMaxRank) {
    return invalid(layout, "has " + std::to_string(rank) + " dims, more than the " +
                               std::to_string(kMaxRank) + " that a launch takes");
  }
  if (!layout.strides.empty() && layout.strides.rank() != rank) {
    return invalid(layout, "has " + std::to_string(rank) + " dims but " +
                               std::to_string(layout.strides.rank()) + " strides");
  }
  // Checks for zeros first: [0, 2^60, 2^60] has no elements, so it does not overflow.
  for (std::size_t i = 0; i < rank; ++i) {
    if (layout.dims[i] == 0) {
      return invalid(layout, "has no elements: dim " + std::to_string(i) + " is 0")
          .hint("leave empty tensors out: a GPU refuses an empty grid");
    }
  }
  std::size_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    if (__builtin_mul_overflow(count, layout.dims[i], &count) || count > kMaxElements) {
      return invalid(layout, "is too large: no device holds more than 2^48 elements");
    }
  }
  std::size_t furthest = 0;  // offset of the last element; the kernels compute it too
  for (std::size_t i = 0; i < layout.strides.rank(); ++i) {
    std::size_t reach = 0;
    if (__builtin_mul_overflow(layout.dims[i] - 1, layout.strides[i], &reach) ||
        reach > kMaxElements - furthest) {
      return invalid(layout, "is too large: no device holds elements more than 2^48 apart");
    }
    furthest += reach;
  }
  return count;
}

bool is_contiguous(const Layout& layout) {
  if (layout.strides.empty()) return true;
  std::size_t expected = 1;
  for (std::size_t i = layout.dims.rank(); i-- > 0;) {
    if (layout.dims[i] != 1 && layout.strides[i] != expected) return false;
    expected *= layout.dims[i];
  }
  return true;
}

Extents strides_of(const Layout& layout) {
  if (!layout.strides.empty()) return layout.strides;
  Extents strides = layout.dims;
  std::size_t stride = 1;
  for (std::size_t i = layout.dims.rank(); i-- > 0;) {
    strides[i] = stride;
    stride *= layout.dims[i];
  }
  return strides;
}

}  // namespace kiln::ops
