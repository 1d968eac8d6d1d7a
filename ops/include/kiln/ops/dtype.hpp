// The element types of kiln's own kernels, as listed in tables/dtypes.hpp: names, sizes and kinds.
//
// C++17, constexpr, and dependent only on the standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kiln/ops/tables/dtypes.hpp"

namespace kiln::ops {

// f16: IEEE 754 binary16. bf16: bfloat16, the upper half of a binary32. f8_e4m3: OCP 8-bit float, 4
// exponent and 3 mantissa bits, no infinities, NaN = s1111111.
enum class DType : std::uint8_t {
#define KILN_ROW(type, enumerator, name, bytes, kind, exponent, significand) k##enumerator,
  KILN_EACH_DTYPE(KILN_ROW)
#undef KILN_ROW
};

// The dtypes under the names that the tables use.
namespace dtypes {
#define KILN_ROW(type, enumerator, name, bytes, kind, exponent, significand) \
  inline constexpr DType type = DType::k##enumerator;
KILN_EACH_DTYPE(KILN_ROW)
#undef KILN_ROW
}  // namespace dtypes

enum class NumberKind : std::uint8_t { kUnsigned, kSigned, kFloat };

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // as frameworks spell it; kernels of f8 are spelled in other ways
  std::uint8_t size;      // bytes of one element, and its alignment
  NumberKind kind;
};

inline constexpr DTypeInfo kDTypes[] = {
#define KILN_ROW(type, enumerator, name, bytes, kind, exponent, significand) \
  {DType::k##enumerator, name, bytes, NumberKind::k##kind},
    KILN_EACH_DTYPE(KILN_ROW)
#undef KILN_ROW
};

// A number that is no dtype has this name, which errors print. No kernel takes it.
inline constexpr DTypeInfo kNoDType{DType{}, "an unknown dtype", 1, NumberKind::kUnsigned};
constexpr const DTypeInfo& info(DType dtype) {
  const auto at = static_cast<std::size_t>(dtype);
  return at < std::size(kDTypes) ? kDTypes[at] : kNoDType;
}
constexpr std::string_view name(DType dtype) { return info(dtype).name; }
constexpr std::size_t size_of(DType dtype) { return info(dtype).size; }
constexpr bool is_float(DType dtype) { return info(dtype).kind == NumberKind::kFloat; }

}  // namespace kiln::ops
