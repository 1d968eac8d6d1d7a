// Makes a functor a function of stored elements, which it widens for the arithmetic of type T.
#pragma once

#include "device/arithmetic.cuh"

namespace kiln::functors {

// Scalar parameters follow the elements.
template <class Op, class T, class... Scalars>
KILN_DEVICE auto apply(Scalars... scalars) {
  using M = device::Arithmetic<T>;
  return [=](auto... x) {
    return Op::template apply<M>(device::widen(x)..., device::widen(scalars)...);
  };
}

}  // namespace kiln::functors
