// Images for kernels with windows: elements in a layout, and the permitted error of sums over a
// window.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "case.hpp"
#include "draw.hpp"
#include "rows.hpp"
#include "views.hpp"

namespace kiln::conformance {

enum class ImageLayout : std::uint8_t {
  kDense,         // row-major
  kChannelsLast,  // the channels of a position are adjacent
  kNarrowed,      // a view into larger images
  kAny,           // a view of any strides, drawn with the elements
};
std::string name(ImageLayout layout);
ImageLayout random_layout(Draw& draw);

// A read-only operand: elements in memory, and a view of them that is passed.
class Image {
 public:
  // Fills the image with elements of a kind. Elements outside of the view are poison.
  Image(DType dtype, const ops::Extents& dims, ImageLayout layout, RowKind kind, Random& random);

  const ops::Layout& layout() const { return layout_; }
  Operand operand(std::string name, std::size_t misalignment = 0) const {
    return input(std::move(name), dtype_, *content_, misalignment);
  }
  // Returns the first element of the view, if the operand is at `address`.
  const void* first(const void* address) const {
    return static_cast<const std::byte*>(address) + offset_ * size_of(dtype_);
  }

  template <typename... Index>
  Bits bits(Index... index) const {
    const std::size_t indices[] = {static_cast<std::size_t>(index)...};
    std::size_t at = offset_, dim = 0;
    for (const std::size_t i : indices) at += i * layout_.strides[dim++];
    return load(dtype_, &(*content_)[at * size_of(dtype_)]);
  }
  // Integers are returned by value.
  template <typename... Index>
  Real number(Index... index) const {
    return is_float(dtype_) ? decode(dtype_, bits(index...)) : static_cast<Real>(bits(index...));
  }

 private:
  // Set the strides and the offset, and return the number of elements in memory.
  std::size_t draw_layout(Random& random);
  std::size_t set_layout(ImageLayout layout);

  DType dtype_;
  ops::Layout layout_;
  std::size_t offset_ = 0;
  std::shared_ptr<std::vector<std::byte>> content_;
};

// A sum of products or elements in any order: floats in the computing type, integers modulo their
// size.
class WindowSum {
 public:
  void add(Real term) {
    value_ += term;
    magnitude_ += term < 0 ? -term : term;
    ++terms_;
  }
  void add(Bits term) { whole_ += term; }
  // The sum, with an error of up to `times` that of rounded terms.
  Expected expected(DType dtype, Real times = 1) const;
  Real value() const { return value_; }
  Bits whole() const { return whole_; }
  Real error(DType dtype) const;

 private:
  Real value_ = 0, magnitude_ = 0;
  std::size_t terms_ = 0;
  Bits whole_ = 0;
};

// An output filled with poison. The kernel must write all of it.
Operand image_output(DType dtype, const ops::Extents& dims, Random& random,
                     std::size_t misalignment, std::function<std::vector<Expected>()> expected);

std::size_t product(const ops::Extents& dims);

}  // namespace kiln::conformance
