// The one list of element types, which device code, launch helpers, tests and documentation read.
//
// A row: the type's name in device code (device/types.cuh, device/dtypes.cuh), the name of its
// enumerator on the host, the name that frameworks print, bytes, kind of number, and for floats the
// bits of exponent and significand.
#pragma once

#define KILN_EACH_DTYPE(row)                           \
  row(u8, U8, "u8", 1, Unsigned, 0, 0)                 \
  row(u32, U32, "u32", 4, Unsigned, 0, 0)              \
  row(i16, I16, "i16", 2, Signed, 0, 0)                \
  row(i32, I32, "i32", 4, Signed, 0, 0)                \
  row(i64, I64, "i64", 8, Signed, 0, 0)                \
  row(f16, F16, "f16", 2, Float, 5, 10)                \
  row(bf16, BF16, "bf16", 2, Float, 8, 7)              \
  row(f32, F32, "f32", 4, Float, 8, 23)                \
  row(f64, F64, "f64", 8, Float, 11, 52)               \
  row(f8_e4m3, F8E4M3, "f8e4m3", 1, Float, 4, 3)

// Sets of types that operations support. Each calls `row(suffix, type, ...)` with the end of the
// kernel's name, the type, and the caller's further arguments. The ABI spells f8_e4m3 in two ways.
#define KILN_FLOATS(row, ...)   \
  row(f64, f64, __VA_ARGS__)    \
  row(f32, f32, __VA_ARGS__)    \
  row(f16, f16, __VA_ARGS__)    \
  row(bf16, bf16, __VA_ARGS__)  \
  row(fp8_e4m3, f8_e4m3, __VA_ARGS__)

// Floats without f16 and bf16, which sometimes follow another rule.
#define KILN_WIDE_FLOATS(row, ...) \
  row(f64, f64, __VA_ARGS__)       \
  row(f32, f32, __VA_ARGS__)       \
  row(fp8_e4m3, f8_e4m3, __VA_ARGS__)
#define KILN_HALVES(row, ...)  \
  row(f16, f16, __VA_ARGS__)   \
  row(bf16, bf16, __VA_ARGS__)

// Floats without f8.
#define KILN_PLAIN_FLOATS(row, ...) \
  row(f64, f64, __VA_ARGS__)        \
  row(f32, f32, __VA_ARGS__)        \
  KILN_HALVES(row, __VA_ARGS__)

// Types of sums by atomic additions.
#define KILN_SUMMED(row, ...) \
  row(u32, u32, __VA_ARGS__)  \
  KILN_PLAIN_FLOATS(row, __VA_ARGS__)

// Floats without f8 and f64.
#define KILN_SINGLE_FLOATS(row, ...) \
  row(f32, f32, __VA_ARGS__)         \
  KILN_HALVES(row, __VA_ARGS__)

// Types of convolutions as products of matrices.
#define KILN_MULTIPLIED(row, ...) KILN_SINGLE_FLOATS(row, __VA_ARGS__)

// Types of convolutions and pools.
#define KILN_ARITHMETIC(row, ...) \
  row(u8, u8, __VA_ARGS__)        \
  row(u32, u32, __VA_ARGS__)      \
  KILN_PLAIN_FLOATS(row, __VA_ARGS__)

#define KILN_NUMBERS(row, ...)  \
  row(u8, u8, __VA_ARGS__)      \
  row(u32, u32, __VA_ARGS__)    \
  row(i64, i64, __VA_ARGS__)    \
  row(f16, f16, __VA_ARGS__)    \
  row(bf16, bf16, __VA_ARGS__)  \
  row(f32, f32, __VA_ARGS__)    \
  row(f64, f64, __VA_ARGS__)

#define KILN_STORED(row, ...)        \
  KILN_NUMBERS(row, __VA_ARGS__)     \
  row(f8_e4m3, f8_e4m3, __VA_ARGS__)

#define KILN_STORED_BUT_HALVES(row, ...) \
  row(u8, u8, __VA_ARGS__)               \
  row(u32, u32, __VA_ARGS__)             \
  row(i64, i64, __VA_ARGS__)             \
  row(f32, f32, __VA_ARGS__)             \
  row(f64, f64, __VA_ARGS__)             \
  row(f8_e4m3, f8_e4m3, __VA_ARGS__)

#define KILN_EVERY(row, ...)     \
  KILN_STORED(row, __VA_ARGS__)  \
  row(i16, i16, __VA_ARGS__)     \
  row(i32, i32, __VA_ARGS__)
