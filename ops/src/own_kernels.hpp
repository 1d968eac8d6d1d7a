// The kernels that the launch helpers start, each a row: type of its constant in the generated header,
// module, root of its name, its name, dtype.
//
// The plans choose rows and pass arguments of the rows' types, and need no generated header;
// own_kernels.cpp holds the header's constants, and does not compile where one has another type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "kiln/catalog.hpp"
#include "kiln/ops/dtype.hpp"

#define KILN_OWN_FLOATS(row, type, module, root)      \
  row(type, module, root, root##_f16, kF16)           \
  row(type, module, root, root##_bf16, kBF16)         \
  row(type, module, root, root##_f32, kF32)           \
  row(type, module, root, root##_f64, kF64)           \
  row(type, module, root, root##_fp8_e4m3, kF8E4M3)

#define KILN_OWN_STORED(row, type, module, root)      \
  row(type, module, root, root##_u8, kU8)             \
  row(type, module, root, root##_u32, kU32)           \
  row(type, module, root, root##_i64, kI64)           \
  row(type, module, root, root##_f16, kF16)           \
  row(type, module, root, root##_bf16, kBF16)         \
  row(type, module, root, root##_f32, kF32)           \
  row(type, module, root, root##_f64, kF64)           \
  row(type, module, root, root##_f8_e4m3, kF8E4M3)

#define KILN_OWN_EVERY(row, type, module, root)       \
  KILN_OWN_STORED(row, type, module, root)            \
  row(type, module, root, root##_i16, kI16)           \
  row(type, module, root, root##_i32, kI32)

#define KILN_OWN_KERNELS(row)                             \
  KILN_OWN_EVERY(row, AffineKernel, affine, affine)       \
  KILN_OWN_STORED(row, FillKernel, fill, fill)            \
  KILN_OWN_STORED(row, ConstSetKernel, fill, const_set)   \
  KILN_OWN_STORED(row, Copy2dKernel, fill, copy2d)        \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, uabs)          \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, uceil)         \
  KILN_OWN_STORED(row, UnaryKernel, unary, ucopy)         \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, ucos)          \
  KILN_OWN_FLOATS(row, ParameterUnaryKernel, unary, uelu) \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, uerf)          \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, uexp)          \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, ufloor)        \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, ugelu)         \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, ugelu_erf)     \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, ulog)          \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, uneg)          \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, unormcdf)      \
  KILN_OWN_FLOATS(row, ParameterUnaryKernel, unary, upowf) \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, urecip)        \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, urelu)         \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, uround)        \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, usigmoid)      \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, usign)         \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, usilu)         \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, usin)          \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, usqr)          \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, usqrt)         \
  KILN_OWN_FLOATS(row, UnaryKernel, unary, utanh)

namespace kiln::ops {

// The types of the kernels' constants, for elements of type T.
template <typename T>
using AffineKernel = Kernel<std::uint64_t, std::uint64_t, const std::uint64_t*, const T*, T*, T, T>;
template <typename T>
using FillKernel = Kernel<T*, T, std::uint64_t>;
template <typename T>
using ConstSetKernel = Kernel<std::uint64_t, std::uint64_t, const std::uint64_t*, T, T*>;
template <typename T>
using Copy2dKernel =
    Kernel<const T*, T*, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
template <typename T>
using UnaryKernel = Kernel<std::uint64_t, std::uint64_t, const std::uint64_t*, const T*, T*>;
template <typename T>
using ParameterUnaryKernel =
    Kernel<std::uint64_t, std::uint64_t, const std::uint64_t*, T, const T*, T*>;

// The storage type of a dtype's elements.
template <DType>
struct StorageOf;
template <> struct StorageOf<DType::kU8> { using Type = std::uint8_t; };
template <> struct StorageOf<DType::kU32> { using Type = std::uint32_t; };
template <> struct StorageOf<DType::kI16> { using Type = std::int16_t; };
template <> struct StorageOf<DType::kI32> { using Type = std::int32_t; };
template <> struct StorageOf<DType::kI64> { using Type = std::int64_t; };
template <> struct StorageOf<DType::kF16> { using Type = f16; };
template <> struct StorageOf<DType::kBF16> { using Type = bf16; };
template <> struct StorageOf<DType::kF32> { using Type = float; };
template <> struct StorageOf<DType::kF64> { using Type = double; };
template <> struct StorageOf<DType::kF8E4M3> { using Type = f8; };

// Calls `use` with a value of the dtype's storage type.
template <typename Use>
auto with_storage_of(DType dtype, Use use) {
  switch (dtype) {
    case DType::kU8: return use(StorageOf<DType::kU8>::Type{});
    case DType::kU32: return use(StorageOf<DType::kU32>::Type{});
    case DType::kI16: return use(StorageOf<DType::kI16>::Type{});
    case DType::kI32: return use(StorageOf<DType::kI32>::Type{});
    case DType::kI64: return use(StorageOf<DType::kI64>::Type{});
    case DType::kF16: return use(StorageOf<DType::kF16>::Type{});
    case DType::kBF16: return use(StorageOf<DType::kBF16>::Type{});
    case DType::kF32: return use(StorageOf<DType::kF32>::Type{});
    case DType::kF64: return use(StorageOf<DType::kF64>::Type{});
    case DType::kF8E4M3: break;
  }
  return use(StorageOf<DType::kF8E4M3>::Type{});
}

struct OwnKernel {
  std::string_view module, root, name;
  DType dtype;
};

inline constexpr OwnKernel kOwnKernels[] = {
#define KILN_OWN_KERNEL_ROW(type, module, root, name, dtype) {#module, #root, #name, DType::dtype},
    KILN_OWN_KERNELS(KILN_OWN_KERNEL_ROW)
#undef KILN_OWN_KERNEL_ROW
};

// The rows of one root, by dtype.
struct KernelRows {
  static constexpr std::uint16_t kNone = 0xFFFF;
  std::string_view root;
  std::array<std::uint16_t, std::size(kDTypes)> by_dtype{};
};

// The rows of `module` whose root is `lead` and `root`, one after the other.
constexpr KernelRows rows_of(std::string_view module, std::string_view lead,
                             std::string_view root) {
  KernelRows rows;
  for (std::uint16_t& row : rows.by_dtype) row = KernelRows::kNone;
  for (std::size_t i = 0; i < std::size(kOwnKernels); ++i) {
    const OwnKernel& own = kOwnKernels[i];
    if (own.module != module || own.root.size() != lead.size() + root.size()) continue;
    if (own.root.substr(0, lead.size()) != lead || own.root.substr(lead.size()) != root) continue;
    rows.root = own.root;
    rows.by_dtype[static_cast<std::size_t>(own.dtype)] = static_cast<std::uint16_t>(i);
  }
  return rows;
}

// The constant of kOwnKernels[position] in the generated header, without its types.
Kernel<> own_kernel(std::size_t position);

}  // namespace kiln::ops
