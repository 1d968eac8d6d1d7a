// The unary operations: one empty struct each, applied to one number in the arithmetic `M`.
//
// docs/KERNELS.md says what each computes, how it treats NaN, infinities and -0, and its error.
#pragma once

#include "device/arithmetic.cuh"

namespace kiln::functors {

// clang-format off
#define KILN_FUNCTOR(...) \
  template <class M, class N = typename M::Number> KILN_DEVICE static N apply(__VA_ARGS__)

struct Negate     { KILN_FUNCTOR(N x) { return -x; } };
struct Reciprocal { KILN_FUNCTOR(N x) { return M::divide(1, x); } };
struct Abs        { KILN_FUNCTOR(N x) { return M::abs(x); } };
struct Square     { KILN_FUNCTOR(N x) { return x * x; } };
struct Sqrt       { KILN_FUNCTOR(N x) { return M::sqrt(x); } };
struct Ceil       { KILN_FUNCTOR(N x) { return M::ceil(x); } };
struct Floor      { KILN_FUNCTOR(N x) { return M::floor(x); } };
struct Round      { KILN_FUNCTOR(N x) { return M::round(x); } };
struct Sign       { KILN_FUNCTOR(N x) { return N((x > 0) - (x < 0)); } };

struct Exp        { KILN_FUNCTOR(N x) { return M::exp(x); } };
struct Log        { KILN_FUNCTOR(N x) { return M::log(x); } };
struct Sin        { KILN_FUNCTOR(N x) { return M::sin(x); } };
struct Cos        { KILN_FUNCTOR(N x) { return M::cos(x); } };
struct Tanh       { KILN_FUNCTOR(N x) { return M::tanh(x); } };
struct Erf        { KILN_FUNCTOR(N x) { return M::erf(x); } };
struct NormalCdf  { KILN_FUNCTOR(N x) { return M::normal_cdf(x); } };
struct Power      { KILN_FUNCTOR(N x, N p) { return M::pow(x, p); } };

struct Relu        { KILN_FUNCTOR(N x) { return x > 0 ? x : 0; } };   // NaN becomes 0
struct ReluKeepNan { KILN_FUNCTOR(N x) { return x <= 0 ? 0 : x; } };
struct Elu         { KILN_FUNCTOR(N x, N a) { return x > 0 ? x : a * M::expm1(x); } };

struct Sigmoid { KILN_FUNCTOR(N x) { return M::sigmoid(x); } };
struct Silu    { KILN_FUNCTOR(N x) { return x * M::sigmoid(x); } };

// 0.5 x (1 + tanh(c (x + 0.044715 x^3))), c = sqrt(2 / pi). Computed as x * sigmoid(2 c (...)),
// which is equal and does not cancel where tanh is near -1.
struct GeluTanh {
  KILN_FUNCTOR(N x) {
    const N c = N(1.5957691216057308);
    return x * M::sigmoid(x * M::fma(x * x, N(0.044715) * c, c));
  }
};

struct GeluErf { KILN_FUNCTOR(N x) { return x * M::gelu_weight(x); } };

struct Copy { KILN_FUNCTOR(N x) { return x; } };

#undef KILN_FUNCTOR
// clang-format on

}  // namespace kiln::functors
