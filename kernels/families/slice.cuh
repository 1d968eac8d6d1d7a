// out[l, j, r] = inp[l, start + j * step, r]: a slice along one dim of each of several arrays.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// Runs of `run` elements that are contiguous in input and output. The input has `outer` parts,
// `pitch` apart, each with `runs` runs, `apart` from one another. In the output all runs follow one
// another.
struct Runs {
  u64 outer, pitch, first, runs, apart, run;

  // `left` and `right` are the products of the sizes before and behind the dim. `size` is the
  // input's size in the dim.
  KILN_DEVICE Runs(u64 left, u64 size, u64 right, u64 start, u64 step, u64 count)
      : outer(left), pitch(size * right), first(start * right) {
    const bool dense = step == 1;  // then all of them form one run
    runs = dense ? 1 : count;
    apart = dense ? 0 : step * right;
    run = dense ? count * right : right;
  }
  KILN_DEVICE u64 count() const { return outer * runs * run; }
  KILN_DEVICE bool are_multiples_of(u32 size) const {
    return ((outer == 1 ? 0 : pitch) | first | apart | run) % size == 0;
  }
  KILN_DEVICE void divide_by(u32 size) {
    pitch /= size;
    first /= size;
    apart /= size;
    run /= size;
  }
};

// Copies 16 bytes if `whole`, otherwise one element.
template <class B>
KILN_DEVICE void copy_unit(const B* from, B* to, bool whole) {
  if (whole) {
    *reinterpret_cast<Words*>(to) = *reinterpret_cast<const Words*>(from);
  } else {
    *to = *from;
  }
}

// The blocks with index y take array y. The arrays of the input begin `pitch` apart.
template <class T>
KILN_DEVICE void slice(Runs runs, u64 pitch, const T* elements, T* sliced) {
  using B = BitsOf<T>;
  constexpr u32 kCount = 16 / sizeof(B);
  if (leaves_at_once()) return;
  const u64 array = block_index_y();
  const B* const inp = reinterpret_cast<const B*>(elements) + array * pitch;
  B* const out = reinterpret_cast<B*>(sliced) + array * runs.count();
  const Spread spread(runs.count());
  if (spread.is_surplus()) return;
  // Copies by units of 16 bytes if all runs allow it, otherwise by elements.
  const bool whole = (address_of(inp) | address_of(out)) % 16 == 0 && runs.are_multiples_of(kCount);
  const u32 unit = whole ? kCount : 1;
  if (whole) runs.divide_by(kCount);
  const u64 count = runs.count();
#pragma unroll 1
  for (u64 i = spread.self; i < count; i += spread.threads) {
    const u64 row = quotient(i, runs.run);
    const u64 l = quotient(row, runs.runs);
    const u64 at =
        l * runs.pitch + runs.first + (row - l * runs.runs) * runs.apart + (i - row * runs.run);
    copy_unit(inp + at * unit, out + i * unit, whole);
  }
}

}  // namespace kiln::families
