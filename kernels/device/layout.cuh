// A strided view of memory, prepared once per block from the `info` array of the ABI: first the
// dims, then as many strides, both counted in elements, outermost first.
//
// Preparing drops dims of size 1 and joins neighbours that one stride can walk, so a view that is
// contiguous after all becomes a single dim of stride 1, whatever it was written as.
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

// Division by a divisor fixed in advance, exact for numbers and divisors below 2^44.
//
// (n + 1/2) / d lies at least 1 / (2d) away from every whole number, a 2^-45th of itself or more;
// the product below is off by less than a 2^-50th. So its whole part is the quotient, and one path
// serves indices of any size.
struct Divider {
  f64 inverse;

  KILN_DEVICE void set(u64 divisor) {
    const f64 d = static_cast<f64>(divisor);
    f64 r = reciprocal_approximate(static_cast<f32>(divisor));
    r = math::fma(r, math::fma(-d, r, 1.0), r);  // each step squares the error, 2^-22 at first
    r = math::fma(r, math::fma(-d, r, 1.0), r);
    inverse = r;
  }
  KILN_DEVICE u64 quotient(u64 n) const {
    return static_cast<u64>((static_cast<f64>(n) + 0.5) * inverse);
  }
};

// Where an element lies, and how many, it included, follow at the innermost stride.
struct Place {
  u64 offset;
  u64 count;
};

struct Dim {
  u64 size;
  u64 stride;
  Divider divider;

  KILN_DEVICE void set(u64 dim_size) {
    size = dim_size;
    divider.set(dim_size);
  }

  // The index within this dim of element `index`, which becomes the index of its row.
  KILN_DEVICE u64 take(u64& index) const {
    const u64 row = divider.quotient(index);
    const u64 digit = index - row * size;
    index = row;
    return digit;
  }
};

struct Layout {
  // Dims left after joining have two elements or more: no memory holds a view with more of them.
  static constexpr u32 kMaxRank = 44;

  Dim dims[kMaxRank];
  u32 rank;  // 0: a single element

  // Adds the next inner dim.
  KILN_DEVICE void push(u64 size, u64 stride) {
    if (size == 1) return;
    Dim* dim = dims + rank;
    if (rank > 0 && dim[-1].stride == size * stride) {
      --dim;
      size *= dim->size;
    } else {
      ++rank;
    }
    dim->set(size);
    dim->stride = stride;
  }

  KILN_DEVICE void set(u64 num_dims, const u64* info) {
    rank = 0;
#pragma unroll 1
    for (u64 d = 0; d < num_dims; ++d) push(info[d], info[num_dims + d]);
  }

  KILN_DEVICE bool is_contiguous() const { return rank == 0 || (rank == 1 && dims[0].stride == 1); }

  // The innermost dim; only for rank >= 1.
  KILN_DEVICE const Dim& inner() const { return dims[rank - 1]; }

  // Of the element with row-major number `index`; only for rank >= 1.
  KILN_DEVICE Place place(u64 index) const {
    const u64 digit = inner().take(index);
    Place place{digit * inner().stride, inner().size - digit};
#pragma unroll 1
    for (u32 d = rank - 1; d > 0; --d) place.offset += dims[d - 1].take(index) * dims[d - 1].stride;
    return place;
  }
};

}  // namespace kiln::device
