// fill: constants into contiguous and strided memory, and the copy of a matrix between row pitches.
#include "device/export.cuh"
#include "families/copy2d.cuh"
#include "families/fill.cuh"

// clang-format off
#define EACH_DTYPE(row, root) \
  row(root##_u8, u8)          \
  row(root##_u32, u32)        \
  row(root##_i64, i64)        \
  row(root##_f16, f16)        \
  row(root##_bf16, bf16)      \
  row(root##_f32, f32)        \
  row(root##_f64, f64)        \
  row(root##_f8_e4m3, f8_e4m3)

EACH_DTYPE(KILN_FILL, fill)
EACH_DTYPE(KILN_CONST_SET, const_set)
EACH_DTYPE(KILN_COPY2D, copy2d)
