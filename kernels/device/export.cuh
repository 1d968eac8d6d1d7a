// How a row of a module file becomes an exported kernel: the only macros of the device code but for
// the qualifiers in platform.cuh. Parameters stand in the order of kernels/abi.json; `arithmetic`
// is one of device/arithmetic.cuh, `op` one of functors/.
#pragma once

#include "device/arithmetic.cuh"
#include "device/dtypes.cuh"
#include "device/platform.cuh"
#include "geometry.hpp"

#define KILN_EXPORT(name, ...) KILN_KERNEL(kiln::geometry::kMaxThreads, name, __VA_ARGS__)

// The parameters of a strided view: see device/layout.cuh.
#define KILN_VIEW_PARAMETERS kiln::u64 numel, kiln::u64 num_dims, const kiln::u64* info

// name(numel, num_dims, info, inp, out): out[i] = op(inp[i])
#define KILN_MAP(name, type, arithmetic, op)                                          \
  KILN_EXPORT(name, KILN_VIEW_PARAMETERS, const kiln::type* inp, kiln::type* out) {   \
    using M = kiln::device::arithmetic;                                               \
    using Op = kiln::functors::op;                                                    \
    kiln::families::map<M, Op::kUnroll>(numel, num_dims, info, inp, out,              \
                                        [](M::Number x) { return Op::apply<M>(x); }); \
  }

// name(numel, num_dims, info, param, inp, out): out[i] = op(inp[i], param)
#define KILN_MAP_WITH_PARAMETER(name, type, arithmetic, op)                               \
  KILN_EXPORT(name, KILN_VIEW_PARAMETERS, kiln::type param, const kiln::type* inp,        \
              kiln::type* out) {                                                          \
    using M = kiln::device::arithmetic;                                                   \
    using Op = kiln::functors::op;                                                        \
    const M::Number p = kiln::device::widen(param);                                       \
    kiln::families::map<M, Op::kUnroll>(numel, num_dims, info, inp, out,                  \
                                        [p](M::Number x) { return Op::apply<M>(x, p); }); \
  }

// name(numel, num_dims, info, inp, out, mul, add): out[i] = inp[i] * mul + add
#define KILN_AFFINE(name, type, ...)                                                              \
  KILN_EXPORT(name, KILN_VIEW_PARAMETERS, const kiln::type* inp, kiln::type* out, kiln::type mul, \
              kiln::type add) {                                                                   \
    using M = kiln::device::__VA_ARGS__;                                                          \
    using Op = kiln::functors::Affine;                                                            \
    const M::Number a = kiln::device::widen(mul), b = kiln::device::widen(add);                   \
    kiln::families::map<M, Op::kUnroll>(numel, num_dims, info, inp, out,                          \
                                        [a, b](M::Number x) { return Op::apply<M>(x, a, b); });   \
  }

// name(numel, num_dims, info, inp, out): out[i] = inp[i], bit by bit
#define KILN_COPY(name, type)                                                              \
  KILN_EXPORT(name, KILN_VIEW_PARAMETERS, const kiln::type* inp, kiln::type* out) {        \
    using B = kiln::device::Bits<kiln::type>;                                              \
    kiln::families::map<kiln::device::Wrap<B>, 4>(                                         \
        numel, num_dims, info, reinterpret_cast<const B*>(inp), reinterpret_cast<B*>(out), \
        [](B x) { return x; });                                                            \
  }

// name(buf, value, numel)
#define KILN_FILL(name, type)                                             \
  KILN_EXPORT(name, kiln::type* buf, kiln::type value, kiln::u64 numel) { \
    kiln::families::fill(numel, 0, nullptr, buf, value);                  \
  }

// name(numel, num_dims, info, inp, out): the scalar `inp` into every element of a strided view
#define KILN_CONST_SET(name, type)                                           \
  KILN_EXPORT(name, KILN_VIEW_PARAMETERS, kiln::type inp, kiln::type* out) { \
    kiln::families::fill(numel, num_dims, info, out, inp);                   \
  }

// name(src, dst, d1, d2, src_s, dst_s)
#define KILN_COPY2D(name, type)                                                         \
  KILN_EXPORT(name, const kiln::type* src, kiln::type* dst, kiln::u32 d1, kiln::u32 d2, \
              kiln::u32 src_s, kiln::u32 dst_s) {                                       \
    kiln::families::copy2d(src, dst, d1, d2, src_s, dst_s);                             \
  }
