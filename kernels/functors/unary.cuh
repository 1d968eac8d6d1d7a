// The unary operations: one empty struct each, applied to one number in the arithmetic `M`.
//
// What each computes, its treatment of NaN, infinities and -0 and its error are in docs/KERNELS.md.
#pragma once

#include "device/arithmetic.cuh"

namespace kiln::functors {

// How many of the four steps of an item (device/lanes.cuh) are unrolled: all where a function is
// short, one where it is long.
struct Brief {
  static constexpr u32 kUnroll = 4;
};
struct Long {
  static constexpr u32 kUnroll = 1;
};

// clang-format off
#define KILN_FUNCTOR(...) \
  template <class M, class N = typename M::Number> KILN_DEVICE static N apply(__VA_ARGS__)

struct Negate     : Brief { KILN_FUNCTOR(N x) { return -x; } };
struct Reciprocal : Brief { KILN_FUNCTOR(N x) { return 1 / x; } };
struct Abs        : Brief { KILN_FUNCTOR(N x) { return M::abs(x); } };
struct Square     : Brief { KILN_FUNCTOR(N x) { return x * x; } };
struct Sqrt       : Brief { KILN_FUNCTOR(N x) { return M::sqrt(x); } };
struct Ceil       : Brief { KILN_FUNCTOR(N x) { return M::ceil(x); } };
struct Floor      : Brief { KILN_FUNCTOR(N x) { return M::floor(x); } };
struct Round      : Brief { KILN_FUNCTOR(N x) { return M::round(x); } };
struct Sign       : Brief { KILN_FUNCTOR(N x) { return N((x > 0) - (x < 0)); } };

struct Exp        : Brief { KILN_FUNCTOR(N x) { return M::exp(x); } };
struct Log        : Long  { KILN_FUNCTOR(N x) { return M::log(x); } };
struct Sin        : Long  { KILN_FUNCTOR(N x) { return M::sin(x); } };
struct Cos        : Long  { KILN_FUNCTOR(N x) { return M::cos(x); } };
struct Tanh       : Brief { KILN_FUNCTOR(N x) { return M::tanh(x); } };
struct Erf        : Long  { KILN_FUNCTOR(N x) { return M::erf(x); } };
struct NormalCdf  : Long  { KILN_FUNCTOR(N x) { return M::normal_cdf(x); } };
struct Power      : Brief { KILN_FUNCTOR(N x, N p) { return M::pow(x, p); } };

struct Relu        : Brief { KILN_FUNCTOR(N x) { return x > 0 ? x : 0; } };   // NaN becomes 0
struct ReluKeepNan : Brief { KILN_FUNCTOR(N x) { return x <= 0 ? 0 : x; } };
struct Elu         : Long  { KILN_FUNCTOR(N x, N a) { return x > 0 ? x : a * M::expm1(x); } };

struct Sigmoid : Brief { KILN_FUNCTOR(N x) { return M::sigmoid(x); } };
struct Silu    : Brief { KILN_FUNCTOR(N x) { return x * M::sigmoid(x); } };

// 0.5 x (1 + tanh(c (x + 0.044715 x^3))), c = sqrt(2 / pi): written as x * sigmoid(2 c (...)), which is
// the same and loses nothing where tanh nears -1.
struct GeluTanh : Brief {
  KILN_FUNCTOR(N x) {
    const N c = N(1.5957691216057308);
    return x * M::sigmoid(x * M::fma(x * x, N(0.044715) * c, c));
  }
};

struct GeluErf : Brief { KILN_FUNCTOR(N x) { return x * M::gelu_weight(x); } };

#undef KILN_FUNCTOR
// clang-format on

}  // namespace kiln::functors
