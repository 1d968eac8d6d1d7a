// Module ternary: out[i] = condition[i] != 0 ? t[i] : f[i]. A row: type of the condition, then the
// elements' types (tables/dtypes.hpp).
#pragma once

#include "dtypes.hpp"

#define KILN_F8(row, ...) row(fp8_e4m3, f8_e4m3, __VA_ARGS__)

#define KILN_EACH_UNSIGNED_WHERE(row) \
  row(u8, NUMBERS)                    \
  row(u32, NUMBERS)                   \
  row(u8, F8)                         \
  row(u32, F8)

#define KILN_EACH_SIGNED_WHERE(row) \
  row(i64, NUMBERS)                 \
  row(i16, F8)                      \
  row(i32, F8)                      \
  row(i64, F8)

#define KILN_EACH_WHERE(row) KILN_EACH_UNSIGNED_WHERE(row) KILN_EACH_SIGNED_WHERE(row)
