// x * mul + add: fused for floating point, modulo 2^n for integers.
#pragma once

#include "device/arithmetic.cuh"

namespace kiln::functors {

struct Affine {
  template <class M, class N = typename M::Number>
  KILN_DEVICE static N apply(N x, N mul, N add) {
    return M::fma(x, mul, add);
  }
};

}  // namespace kiln::functors
