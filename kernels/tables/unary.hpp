// The operations of module unary: out[i] = op(inp[i]).
//
// A row: root of the kernels' names, functor (functors/unary.cuh), element types
// (tables/dtypes.hpp), cost (tuning/elementwise.hpp; Move for the copy, which computes nothing),
// and the number of scalars of the element type that are passed. Launch helpers call the operation
// kFunctor.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_UNARY_ARITHMETIC(row)               \
  row(uneg, Negate, FLOATS, Brief, 0)                 \
  row(urecip, Reciprocal, FLOATS, Brief, 0)           \
  row(uabs, Abs, FLOATS, Brief, 0)                    \
  row(usqr, Square, FLOATS, Brief, 0)                 \
  row(usqrt, Sqrt, FLOATS, Brief, 0)

#define KILN_EACH_UNARY_ROUNDING(row)                 \
  row(uceil, Ceil, FLOATS, Brief, 0)                  \
  row(ufloor, Floor, FLOATS, Brief, 0)                \
  row(uround, Round, FLOATS, Brief, 0)                \
  row(usign, Sign, FLOATS, Brief, 0)                  \
  row(urelu, Relu, WIDE_FLOATS, Brief, 0)

// The same operations, for types that follow another rule for NaN.
#define KILN_EACH_UNARY_VARIANT(row) row(urelu, ReluKeepNan, HALVES, Brief, 0)

#define KILN_EACH_UNARY_FUNCTION(row)                                                             \
  row(uexp, Exp, FLOATS, Long, 0) row(ulog, Log, FLOATS, Long, 0) row(usin, Sin, FLOATS, Long, 0) \
      row(ucos, Cos, FLOATS, Long, 0) row(upowf, Power, FLOATS, Long, 1)

#define KILN_EACH_UNARY_ERROR(row)                                          \
  row(uerf, Erf, FLOATS, Long, 0) row(unormcdf, NormalCdf, FLOATS, Long, 0) \
      row(ugelu_erf, GeluErf, FLOATS, Long, 0)

#define KILN_EACH_UNARY_ACTIVATION(row)                                         \
  row(utanh, Tanh, FLOATS, Long, 0) row(uelu, Elu, FLOATS, Long, 1)             \
      row(usigmoid, Sigmoid, FLOATS, Long, 0) row(usilu, Silu, FLOATS, Long, 0) \
          row(ugelu, GeluTanh, FLOATS, Long, 0)

#define KILN_EACH_COPY(row) row(ucopy, Copy, STORED, Move, 0)

#define KILN_EACH_UNARY(row)      \
  KILN_EACH_UNARY_ARITHMETIC(row) \
  KILN_EACH_UNARY_ROUNDING(row)   \
  KILN_EACH_UNARY_FUNCTION(row)   \
  KILN_EACH_UNARY_ERROR(row)      \
  KILN_EACH_UNARY_ACTIVATION(row) \
  KILN_EACH_COPY(row)
