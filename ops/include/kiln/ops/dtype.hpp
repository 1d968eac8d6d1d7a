// The element types of our kernels: their names, sizes and kinds, in one table.
//
// C++17, no dependency but the standard library, everything constexpr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kiln::ops {

// The order is the order of kDTypes.
enum class DType : std::uint8_t {
  kU8,
  kU32,
  kI16,
  kI32,
  kI64,
  kF16,   // IEEE 754 binary16
  kBF16,  // bfloat16: the upper half of a binary32
  kF32,
  kF64,
  kF8E4M3,  // OCP 8-bit float, 4 exponent and 3 mantissa bits, finite only: no infinities, NaN =
            // s1111111
};

enum class NumberKind : std::uint8_t { kUnsigned, kSigned, kFloat };

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // as frameworks spell it; kernel names differ for f8 (kernel_name.hpp)
  std::uint8_t size;      // bytes of one element, and its alignment
  NumberKind kind;
};

inline constexpr DTypeInfo kDTypes[] = {
    {DType::kU8, "u8", 1, NumberKind::kUnsigned},
    {DType::kU32, "u32", 4, NumberKind::kUnsigned},
    {DType::kI16, "i16", 2, NumberKind::kSigned},
    {DType::kI32, "i32", 4, NumberKind::kSigned},
    {DType::kI64, "i64", 8, NumberKind::kSigned},
    {DType::kF16, "f16", 2, NumberKind::kFloat},
    {DType::kBF16, "bf16", 2, NumberKind::kFloat},
    {DType::kF32, "f32", 4, NumberKind::kFloat},
    {DType::kF64, "f64", 8, NumberKind::kFloat},
    {DType::kF8E4M3, "f8e4m3", 1, NumberKind::kFloat},
};

constexpr const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }
constexpr std::string_view name(DType dtype) { return info(dtype).name; }
constexpr std::size_t size_of(DType dtype) { return info(dtype).size; }
constexpr bool is_float(DType dtype) { return info(dtype).kind == NumberKind::kFloat; }

}  // namespace kiln::ops
