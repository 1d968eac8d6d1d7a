// The binary operations: one empty struct each, applied in the arithmetic `M`.
//
// docs/KERNELS.md says what each computes, and how it treats NaN and overflow.
#pragma once

#include "device/arithmetic.cuh"

namespace kiln::functors {

// clang-format off
#define KILN_FUNCTOR(...) \
  template <class M, class N = typename M::Number> KILN_DEVICE static __VA_ARGS__

struct Add      { KILN_FUNCTOR(N apply(N x, N y)) { return M::add(x, y); } };
struct Subtract { KILN_FUNCTOR(N apply(N x, N y)) { return M::subtract(x, y); } };
struct Multiply { KILN_FUNCTOR(N apply(N x, N y)) { return M::multiply(x, y); } };
struct Divide   { KILN_FUNCTOR(N apply(N x, N y)) { return M::divide(x, y); } };

// If one operand is NaN, it is ignored, or the result is NaN (KeepNan).
struct Maximum        { KILN_FUNCTOR(N apply(N x, N y)) { return x > y || y != y ? x : y; } };
struct MaximumKeepNan { KILN_FUNCTOR(N apply(N x, N y)) { return x > y || x != x ? x : y; } };
struct Minimum        { KILN_FUNCTOR(N apply(N x, N y)) { return x < y || y != y ? x : y; } };
struct MinimumKeepNan { KILN_FUNCTOR(N apply(N x, N y)) { return x < y || x != x ? x : y; } };

struct Equal          { KILN_FUNCTOR(u8 apply(N x, N y)) { return x == y; } };
struct NotEqual       { KILN_FUNCTOR(u8 apply(N x, N y)) { return x != y; } };
struct Less           { KILN_FUNCTOR(u8 apply(N x, N y)) { return x < y; } };
struct LessOrEqual    { KILN_FUNCTOR(u8 apply(N x, N y)) { return x <= y; } };
struct Greater        { KILN_FUNCTOR(u8 apply(N x, N y)) { return x > y; } };
struct GreaterOrEqual { KILN_FUNCTOR(u8 apply(N x, N y)) { return x >= y; } };

#undef KILN_FUNCTOR
// clang-format on

}  // namespace kiln::functors
