#include "images.hpp"

#include <cmath>

#include "values.hpp"

namespace kiln::conformance {

std::string name(ImageLayout layout) {
  return layout == ImageLayout::kDense          ? "dense"
         : layout == ImageLayout::kChannelsLast ? "channels-last"
         : layout == ImageLayout::kNarrowed     ? "narrowed"
                                                : "any";
}

ImageLayout random_layout(Draw& draw) {
  constexpr ImageLayout kLayouts[] = {ImageLayout::kDense, ImageLayout::kChannelsLast,
                                      ImageLayout::kNarrowed, ImageLayout::kAny};
  return draw.one_of(kLayouts);
}

std::size_t product(const ops::Extents& dims) {
  std::size_t count = 1;
  for (const std::size_t dim : dims) count *= dim;
  return count;
}

Image::Image(DType dtype, const ops::Extents& dims, ImageLayout layout, RowKind kind,
             Random& random)
    : dtype_(dtype), layout_{dims, dims} {
  const std::size_t size = layout == ImageLayout::kAny ? draw_layout(random) : set_layout(layout);
  content_ = std::make_shared<std::vector<std::byte>>(poison(size * size_of(dtype), random));
  const std::vector<Bits> elements = row_of(kind, dtype, product(dims), random);
  const std::vector<std::size_t> offsets = offsets_of(layout_);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    store(dtype, elements[i], &(*content_)[(offset_ + offsets[i]) * size_of(dtype)]);
  }
}

std::size_t Image::draw_layout(Random& random) {
  Draw draw(random.bits(), product(layout_.dims));
  const NamedLayout view = draw.view(layout_.dims);
  layout_.strides = ops::strides_of(view.layout);
  offset_ = view.offset;
  return offset_ + extent_of(layout_);
}

std::size_t Image::set_layout(ImageLayout layout) {
  const ops::Extents& dims = layout_.dims;
  const std::size_t rank = dims.rank();
  std::size_t stride = 1;
  const auto place = [&](std::size_t dim, std::size_t around) {
    layout_.strides[dim] = stride;
    offset_ += around / 2 * stride;
    stride *= dims[dim] + around;
  };
  const std::size_t around = layout == ImageLayout::kNarrowed ? 3 : 0;
  if (layout == ImageLayout::kChannelsLast) place(1, 0);
  for (std::size_t dim = rank; dim-- > 0;) {
    if (dim == 1 && layout == ImageLayout::kChannelsLast) continue;
    place(dim, around);
  }
  return stride;
}

Real WindowSum::error(DType dtype) const {
  return static_cast<Real>(terms_ + 1) * rounding_error(dtype) * magnitude_;
}

Expected WindowSum::expected(DType dtype, Real times) const {
  if (!is_float(dtype)) {
    return Expected::exactly(whole_ & ((Bits{1} << (8 * size_of(dtype))) - 1));
  }
  if (!std::isfinite(value_)) return Expected::within(dtype, value_);
  const Real least = unit_in_last_place(compute_dtype(dtype), 0);
  return Expected::within(dtype, value_,
                          {0, 0, times * error(dtype) + static_cast<Real>(terms_) * least});
}

Operand image_output(DType dtype, const ops::Extents& dims, Random& random,
                     std::size_t misalignment, std::function<std::vector<Expected>()> expected) {
  Operand dst;
  dst.name = "dst";
  dst.dtype = dtype;
  dst.content = poison(product(dims) * size_of(dtype), random);
  dst.misalignment = misalignment;
  dst.expected = std::move(expected);
  return dst;
}

}  // namespace kiln::conformance
