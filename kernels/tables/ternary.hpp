// Module ternary: out[i] = condition[i] != 0 ? t[i] : f[i]. A row: type of the condition, and types
// of the elements (tables/dtypes.hpp).
#pragma once

#include "dtypes.hpp"

#define KILN_F8(row, ...) row(fp8_e4m3, f8_e4m3, __VA_ARGS__)

#define KILN_EACH_WHERE(row) \
  row(u8, NUMBERS)           \
  row(u32, NUMBERS)          \
  row(i64, NUMBERS)          \
  row(u8, F8)                \
  row(u32, F8)               \
  row(i16, F8)               \
  row(i32, F8)               \
  row(i64, F8)

// kiln's own kernels, for large views: one type for each element size.
#define KILN_SIZES(row, ...)   \
  row(u8, u8, __VA_ARGS__)     \
  row(f16, f16, __VA_ARGS__)   \
  row(f32, f32, __VA_ARGS__)   \
  row(f64, f64, __VA_ARGS__)
#define KILN_EACH_TILED_WHERE(row) \
  row(u8, SIZES)                   \
  row(u32, SIZES)                  \
  row(i64, SIZES)                  \
  row(i16, F8)                     \
  row(i32, F8)
