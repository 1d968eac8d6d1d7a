// Module cast: out[i] = D(inp[i]). A row: source and destination type, as the ABI spells them,
// which are also their names in device code.
#pragma once

#define KILN_EACH_CAST_TO(row, from) \
  row(from, u8)                      \
  row(from, f16)                     \
  row(from, bf16)                    \
  row(from, f32)                     \
  row(from, f64)

#define KILN_EACH_CAST(row)         \
  KILN_EACH_CAST_TO(row, u8)        \
  row(u8, u32)                      \
  row(u8, i64)                      \
  row(u8, f8_e4m3)                  \
  KILN_EACH_CAST_TO(row, u32)       \
  row(u32, u32)                     \
  row(u32, i64)                     \
  row(i64, u8)                      \
  row(i64, u32)                     \
  row(i64, i64)                     \
  row(i64, f32)                     \
  row(i64, f64)                     \
  row(i32, f8_e4m3)                 \
  KILN_EACH_CAST_TO(row, f16)       \
  row(f16, u32)                     \
  row(f16, f8_e4m3)                 \
  KILN_EACH_CAST_TO(row, bf16)      \
  row(bf16, u32)                    \
  row(bf16, f8_e4m3)                \
  KILN_EACH_CAST_TO(row, f8_e4m3)   \
  row(f8_e4m3, i32)                 \
  row(f8_e4m3, f8_e4m3)             \
  KILN_EACH_CAST_TO(row, f32)       \
  row(f32, u32)                     \
  row(f32, i64)                     \
  row(f32, f8_e4m3)                 \
  KILN_EACH_CAST_TO(row, f64)       \
  row(f64, u32)                     \
  row(f64, i64)                     \
  row(f64, f8_e4m3)

// kiln's own kernels, for large views: the casts that are common in networks.
#define KILN_EACH_TILED_CAST(row) \
  row(u8, u32)                    \
  row(u8, i64)                    \
  row(u8, f16)                    \
  row(u8, bf16)                   \
  row(u8, f32)                    \
  row(u32, i64)                   \
  row(u32, f32)                   \
  row(i64, u32)                   \
  row(i64, f32)                   \
  row(f16, bf16)                  \
  row(f16, f32)                   \
  row(f16, f8_e4m3)               \
  row(bf16, f16)                  \
  row(bf16, f32)                  \
  row(bf16, f8_e4m3)              \
  row(f8_e4m3, f16)               \
  row(f8_e4m3, bf16)              \
  row(f8_e4m3, f32)               \
  row(f32, u8)                    \
  row(f32, u32)                   \
  row(f32, i64)                   \
  row(f32, f16)                   \
  row(f32, bf16)                  \
  row(f32, f64)                   \
  row(f32, f8_e4m3)               \
  row(f64, f32)
