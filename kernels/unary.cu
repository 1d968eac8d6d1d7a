// unary: out[i] = op(inp[i]).
#include "device/export.cuh"
#include "families/map.cuh"
#include "functors/unary.cuh"

// clang-format off
// One kernel per float type: its name, what is stored, what is computed in.
#define EACH_FLOAT(row, root, op)         \
  row(root##_f64, f64, Double, op)        \
  row(root##_f32, f32, Single, op)        \
  row(root##_f16, f16, Short, op)         \
  row(root##_bf16, bf16, Short, op)       \
  row(root##_fp8_e4m3, f8_e4m3, Short, op)

EACH_FLOAT(KILN_MAP, uneg, Negate)
EACH_FLOAT(KILN_MAP, urecip, Reciprocal)
EACH_FLOAT(KILN_MAP, uabs, Abs)
EACH_FLOAT(KILN_MAP, usqr, Square)
EACH_FLOAT(KILN_MAP, usqrt, Sqrt)
EACH_FLOAT(KILN_MAP, uceil, Ceil)
EACH_FLOAT(KILN_MAP, ufloor, Floor)
EACH_FLOAT(KILN_MAP, uround, Round)
EACH_FLOAT(KILN_MAP, usign, Sign)

EACH_FLOAT(KILN_MAP, uexp, Exp)
EACH_FLOAT(KILN_MAP, ulog, Log)
EACH_FLOAT(KILN_MAP, usin, Sin)
EACH_FLOAT(KILN_MAP, ucos, Cos)
EACH_FLOAT(KILN_MAP, utanh, Tanh)
EACH_FLOAT(KILN_MAP, uerf, Erf)
EACH_FLOAT(KILN_MAP, unormcdf, NormalCdf)
EACH_FLOAT(KILN_MAP_WITH_PARAMETER, upowf, Power)

EACH_FLOAT(KILN_MAP_WITH_PARAMETER, uelu, Elu)
EACH_FLOAT(KILN_MAP, usigmoid, Sigmoid)
EACH_FLOAT(KILN_MAP, usilu, Silu)
EACH_FLOAT(KILN_MAP, ugelu, GeluTanh)
EACH_FLOAT(KILN_MAP, ugelu_erf, GeluErf)

KILN_MAP(urelu_f64,      f64,     Double, Relu)
KILN_MAP(urelu_f32,      f32,     Single, Relu)
KILN_MAP(urelu_f16,      f16,     Short,  ReluKeepNan)
KILN_MAP(urelu_bf16,     bf16,    Short,  ReluKeepNan)
KILN_MAP(urelu_fp8_e4m3, f8_e4m3, Short,  Relu)

KILN_COPY(ucopy_u8,      u8)
KILN_COPY(ucopy_u32,     u32)
KILN_COPY(ucopy_i64,     i64)
KILN_COPY(ucopy_f64,     f64)
KILN_COPY(ucopy_f32,     f32)
KILN_COPY(ucopy_f16,     f16)
KILN_COPY(ucopy_bf16,    bf16)
KILN_COPY(ucopy_f8_e4m3, f8_e4m3)
