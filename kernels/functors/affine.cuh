// x * mul + add: fused for floating point, modulo 2^n for integers.
#pragma once

#include "device/arithmetic.cuh"

namespace kiln::functors {

struct Affine {
  template <class M>
  KILN_DEVICE static typename M::Number apply(typename M::Number x, typename M::Number mul,
                                              typename M::Number add) {
    return M::fma(x, mul, add);
  }
};

}  // namespace kiln::functors
