#include "conv_description.hpp"

#include <limits>
#include <string>

#include "base/diagnostic.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

// Returns the distance between the first and the last element, or at least 2^32 if 32 bits cannot
// hold it.
std::size_t reach(const Layout& layout, std::size_t first_dim) {
  const Extents strides = strides_of(layout);
  constexpr std::size_t kMax = std::size_t{1} << 32;
  std::size_t sum = 0;
  for (std::size_t d = first_dim; d < layout.dims.rank(); ++d) {
    if (layout.dims[d] == 1 || strides[d] == 0) continue;
    if (strides[d] >= kMax || layout.dims[d] >= kMax / strides[d]) return kMax;
    sum += (layout.dims[d] - 1) * strides[d];
  }
  return sum;
}

// Returns an error if a number of the dim is too large.
Result<void> require_dim(const Convolution& call, std::size_t size, std::size_t size_out,
                         std::size_t taps) {
  if (taps > tuning::kConvolveTaps) {
    return refused("a window of " + std::to_string(taps) + " is beyond " +
                   std::to_string(tuning::kConvolveTaps));
  }
  constexpr std::size_t kMax = 1u << 30;
  for (const std::size_t number : {size, size_out, call.stride, call.padding, call.dilation}) {
    if (number >= kMax) return refused(std::to_string(number) + " is beyond 2^30");
  }
  if (call.dilation * taps >= kMax || call.stride * size_out >= 2 * kMax) {
    return refused("places in the image are beyond 32 bits");
  }
  return {};
}

}  // namespace

Result<Described> describe(const Convolution& call, const Extents& out) {
  const Extents &src = call.src_layout.dims, &kernel = call.kernel_layout.dims;
  const Extents src_strides = strides_of(call.src_layout);
  const Extents kernel_strides = strides_of(call.kernel_layout);
  constexpr std::size_t kMax = std::size_t{1} << 32;
  if (reach(call.src_layout, 1) >= kMax || reach(call.kernel_layout, 0) >= kMax) {
    return refused("elements of an image or of the kernel are apart by more than 32 bits count");
  }
  const bool transposed = call.kind == ConvolutionKind::kTransposed;
  const std::size_t of_channel = out[2] * (out.rank() == 4 ? out[3] : 1);
  if (of_channel * src[0] >= kMax / 2) return refused("a channel has too many outputs");
  const auto dim = [&](std::size_t d, std::size_t out_stride) {
    const auto number = [](std::size_t value) { return static_cast<unsigned>(value); };
    return tuning::ConvolveDim{number(src[d]),         number(out[d]),
                               number(kernel[d]),      number(call.stride),
                               number(call.padding),   number(call.dilation),
                               number(src_strides[d]), number(kernel_strides[d]),
                               number(out_stride)};
  };
  const std::size_t last = out.rank() - 1;
  for (std::size_t d = 2; d <= last; ++d) KILN_TRY(require_dim(call, src[d], out[d], kernel[d]));
  Described all{};
  all.transposed = transposed;
  all.columns = dim(last, 1);
  all.rows = last == 3 ? dim(2, out[3]) : tuning::ConvolveDim{1, 1, 1, 1, 0, 1, 0, 0, 0};
  const auto number = [](std::size_t value) { return static_cast<unsigned>(value); };
  all.shape = {src_strides[0],
               number(src[0]),
               number(src[1]),
               number(out[1]),
               all.rows.size,
               all.columns.size,
               number(src_strides[1]),
               number(kernel_strides[transposed ? 1 : 0]),
               number(kernel_strides[transposed ? 0 : 1]),
               number(all.classes(all.rows)),
               number(all.classes(all.columns)),
               call.tiles == ConvolutionTiles::kFewChannelsApart ? 1u : 0u,
               0,
               of_channel};
  constexpr std::size_t kWords = 5 * kMaxRank, kOfAxis = sizeof(tuning::ConvolveAxis) / 8;
  const std::size_t classes = std::size_t{all.shape.row_classes} + all.shape.column_classes;
  if (sizeof all.shape / 8 + classes * kOfAxis > kWords) {
    return refused("a stride of " + std::to_string(call.stride) + " makes too many classes");
  }
  return all;
}

}  // namespace kiln::ops
