// affine: out[i] = inp[i] * mul + add.
#include "device/export.cuh"
#include "families/map.cuh"
#include "functors/affine.cuh"

// clang-format off
//          name           storage  arithmetic
KILN_AFFINE(affine_f64,     f64,     Double)
KILN_AFFINE(affine_f32,     f32,     Single)
KILN_AFFINE(affine_f16,     f16,     Short)
KILN_AFFINE(affine_bf16,    bf16,    Short)
KILN_AFFINE(affine_f8_e4m3, f8_e4m3, Short)
KILN_AFFINE(affine_u8,      u8,      Wrap<kiln::u8>)
KILN_AFFINE(affine_u32,     u32,     Wrap<kiln::u32>)
KILN_AFFINE(affine_i16,     i16,     Wrap<kiln::i16>)
KILN_AFFINE(affine_i32,     i32,     Wrap<kiln::i32>)
KILN_AFFINE(affine_i64,     i64,     Wrap<kiln::i64>)
