// The tables of kernels/tables for host programs: a record for each kernel, and the type of its
// constant in the generated header.
//
// The plans choose records and pass arguments of these types, so they need no generated header.
// own_kernels.cpp holds the header's constants and does not compile if a type differs. The tests
// and the benchmark read the same records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "kiln/catalog.hpp"
#include "kiln/ops/dtype.hpp"
#include "kiln/ops/tables/affine.hpp"
#include "kiln/ops/tables/binary.hpp"
#include "kiln/ops/tables/cast.hpp"
#include "kiln/ops/tables/conv.hpp"
#include "kiln/ops/tables/fill.hpp"
#include "kiln/ops/tables/indexing.hpp"
#include "kiln/ops/tables/indexing_sum.hpp"
#include "kiln/ops/tables/quantized.hpp"
#include "kiln/ops/tables/rearrange.hpp"
#include "kiln/ops/tables/reduce.hpp"
#include "kiln/ops/tables/sort.hpp"
#include "kiln/ops/tables/ternary.hpp"
#include "kiln/ops/tables/unary.hpp"

namespace kiln::ops {

// The types of the kernels' constants for elements of type T. If a kernel has no scalar of type T,
// a plan may use void, because the choice of T then makes no difference.
using Info = const std::uint64_t*;
template <typename T>
using AffineKernel = Kernel<std::uint64_t, std::uint64_t, Info, const T*, T*, T, T>;
template <typename T>
using FillKernel = Kernel<T*, T, std::uint64_t>;
template <typename T>
using ConstSetKernel = Kernel<std::uint64_t, std::uint64_t, Info, T, T*>;
template <typename T>
using Copy2dKernel =
    Kernel<const T*, T*, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
template <typename T>
using ArangeKernel = Kernel<std::uint64_t, T, T, T*>;
template <typename T>
using TransposeKernel = Kernel<std::uint64_t, std::uint64_t, std::uint64_t, const T*, T*>;
template <typename T>
using SliceKernel = Kernel<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                           std::uint64_t, std::uint64_t, std::uint64_t, const T*, T*>;
template <typename T, typename Out>
using MapKernel = Kernel<std::uint64_t, std::uint64_t, Info, const T*, Out*>;
template <typename T, typename Out>
using CastTilesKernel =
    Kernel<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
           std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, const T*, Out*>;
template <typename T>
using ParameterUnaryKernel = Kernel<std::uint64_t, std::uint64_t, Info, T, const T*, T*>;
template <typename T, typename Out>
using BinaryKernel = Kernel<std::uint64_t, std::uint64_t, Info, const T*, const T*, Out*>;
template <typename Condition, typename T>
using WhereKernel =
    Kernel<std::uint64_t, std::uint64_t, Info, const Condition*, const T*, const T*, T*>;
template <typename Condition, typename T>
using WhereTilesKernel = Kernel<Info, std::uint32_t, std::uint32_t, std::uint32_t, const Condition*,
                                const T*, const T*, T*>;
template <typename Id, typename T>
using IndexSelectKernel = Kernel<std::uint64_t, std::uint64_t, Info, const Id*, const T*, T*,
                                 std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
template <typename Id, typename T>
using GatherKernel = Kernel<std::uint64_t, const Id*, const T*, T*, std::uint64_t, std::uint64_t,
                            std::uint64_t, std::uint64_t>;
template <typename Id, typename T>
using IndexAddKernel = Kernel<const Id*, std::uint64_t, const T*, T*, std::uint64_t, std::uint64_t,
                              std::uint64_t, std::uint64_t>;
template <typename Id, typename T>
using IndexAddSortedKernel = Kernel<const Id*, const std::uint32_t*, std::uint64_t, const T*, T*,
                                    std::uint64_t, std::uint64_t, std::uint64_t>;
template <typename Id, typename T>
using ScatterKernel =
    Kernel<const Id*, const T*, T*, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
template <typename T, typename Out>
using ReduceKernel = Kernel<std::uint64_t, std::uint64_t, std::uint64_t, Info, const T*, Out*>;
template <typename T, typename Out>
using SplitReduceKernel =
    Kernel<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
           std::uint32_t, const T*, Out*, std::uint8_t*>;
template <typename T>
using SoftmaxKernel = Kernel<const T*, T*, std::int32_t>;
template <typename T>
using SoftmaxLongKernel =
    Kernel<const T*, T*, std::uint8_t*, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
template <typename T>
using SoftmaxStagedKernel = Kernel<const T*, T*, std::uint32_t, std::uint32_t>;
template <typename T>
using RmsNormKernel = Kernel<const T*, T*, const T*, std::int32_t, std::int32_t, float>;
template <typename T>
using LayerNormKernel = Kernel<const T*, T*, const T*, const T*, std::int32_t, std::int32_t, float>;
template <typename T>
using NormLongKernel =
    Kernel<const T*, T*, const T*, const T*, std::uint8_t*, std::uint32_t, std::uint32_t,
           std::uint32_t, std::uint32_t, float, std::uint32_t>;
template <typename T>
using RopeNeighboursKernel =
    Kernel<const T*, const T*, const T*, T*, std::uint32_t, std::uint32_t, std::uint32_t>;
template <typename T>
using RopeHalvesKernel = Kernel<const T*, const T*, const T*, T*, std::uint32_t, std::uint32_t,
                                std::uint32_t, std::uint32_t>;
template <typename T>
using RopeTokensFirstKernel = Kernel<const T*, const T*, const T*, T*, std::uint32_t, std::uint32_t,
                                     std::uint32_t, std::uint32_t, std::uint32_t>;
template <typename T>
using SumIntoKernel = Kernel<std::uint64_t, std::uint64_t, std::uint64_t, Info, const T*, T*>;
template <typename T, typename Out>
using SortKernel = Kernel<const T*, Out*, std::int32_t, std::int32_t>;
// For columns (argsort) and elements (sort).
template <typename T>
using SortLongKernel = Kernel<const T*, void*, std::uint8_t*, std::uint64_t, std::uint32_t,
                              std::uint32_t, std::uint32_t, std::uint32_t>;
template <typename T>
using Conv1dKernel = Kernel<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                            std::uint64_t, Info, const T*, const T*, T*>;
// Also the type of conv_transpose1d.
template <typename T>
using Conv2dKernel = Kernel<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                            std::uint64_t, std::uint64_t, Info, const T*, const T*, T*>;
template <typename T>
using ConvTranspose2dKernel =
    Kernel<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
           std::uint64_t, Info, const T*, const T*, T*>;
template <typename T>
using ConvTilesKernel = Kernel<Info, const T*, const T*, T*>;
template <typename T>
using ConvChannelsKernel = Kernel<Info, const T*, const T*, T*, std::uint8_t*, std::uint32_t>;
template <typename T>
using Im2Col1dKernel = Kernel<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                              std::uint64_t, std::uint64_t, Info, const T*, T*>;
template <typename T>
using Im2ColKernel =
    Kernel<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
           std::uint64_t, std::uint64_t, Info, const T*, T*>;
template <typename T>
using Col2Im1dKernel = Kernel<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                              std::uint64_t, std::uint64_t, const T*, T*>;
template <typename T>
using Pool2dKernel = Kernel<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                            std::uint64_t, Info, const T*, T*>;
template <typename T>
using UpsampleNearest2dKernel =
    Kernel<std::uint64_t, std::uint64_t, double, double, Info, const T*, T*>;
template <typename T>
using UpsampleNearest1dKernel = Kernel<std::uint64_t, double, Info, const T*, T*>;
template <typename T>
using UpsampleBilinear2dKernel =
    Kernel<std::uint64_t, std::uint64_t, bool, bool, double, bool, double, Info, const T*, T*>;

// Module quantized. Blocks are untyped.
template <typename T>
using QuantizeKernel = Kernel<const T*, void*, std::int32_t, std::int32_t>;
template <typename T>
using DequantizeKernel = Kernel<const void*, T*, std::int32_t>;
template <typename T>
using DequantizeOfGridKernel = Kernel<const void*, T*>;
template <typename T>
using GetRowsKernel = Kernel<const T*, const std::uint32_t*, float*, std::int64_t, std::uint64_t>;
using F32VectorKernel = Kernel<const void*, const float*, float*, std::int32_t, std::int32_t>;
using F32VectorOfGridKernel = Kernel<const void*, const float*, float*, std::int32_t>;
using VectorsKernel = Kernel<const void*, const void*, float*, std::int32_t, std::int32_t,
                             std::int32_t, std::int32_t>;
using MatrixKernel = Kernel<const void*, const void*, float*, std::int32_t, std::int32_t,
                            std::int32_t, std::int32_t, std::int32_t>;
using MoeKernel = Kernel<const void*, const void*, const std::uint32_t*, float*, std::int32_t,
                         std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::int32_t>;
template <typename T>
using QuantizeRowsKernel =
    Kernel<const T*, const std::uint32_t*, void*, std::int32_t, std::int32_t, std::uint32_t>;
using FusedVectorKernel =
    Kernel<const void*, const void*, const void*, const std::uint32_t*, void*, std::int32_t,
           std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::uint32_t>;
using FusedFloatVectorKernel =
    Kernel<const void*, const void*, const void*, const std::uint32_t*, void*, std::int32_t,
           std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::uint32_t, std::uint32_t>;
using RankExpertsKernel = Kernel<const std::uint32_t*, std::uint32_t*, void*, std::uint32_t*,
                                 std::uint32_t, std::uint32_t>;
using JoinProductsKernel = Kernel<const float*, const float*, const float*, void*, std::uint32_t,
                                  std::uint64_t, std::uint32_t>;
template <typename T>
using HalfRowsKernel = Kernel<const T*, f16*, float*, const std::uint32_t*, std::uint32_t,
                              std::uint32_t, std::uint32_t>;
using HalfMatrixKernel =
    Kernel<const void*, const float*, const f16*, const float*, const std::uint32_t*, const void*,
           void*, std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::uint32_t,
           std::uint32_t, std::uint32_t>;
using FusedMatrixKernel =
    Kernel<const void*, const float*, const void*, const std::uint32_t*, const void*, void*,
           std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::uint32_t>;

// The element types in host programs, by the names of the tables.
namespace storage {
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f16 = kiln::f16;
using bf16 = kiln::bf16;
using f32 = float;
using f64 = double;
using f8_e4m3 = kiln::f8;
}  // namespace storage

// Calls `use` with a value of the dtype's storage type.
template <typename Use>
auto with_storage_of(DType dtype, Use use) {
  switch (dtype) {
#define KILN_ROW(type, enumerator, ...) \
  case DType::k##enumerator: return use(storage::type{});
    KILN_EACH_DTYPE(KILN_ROW)
#undef KILN_ROW
  }
  return use(std::uint8_t{});
}

// The computation of a kernel besides its memory accesses.
enum class Cost : std::uint8_t { kMove, kBrief, kLong };

struct OwnKernel {
  std::string_view module;
  std::string_view family;  // kernels of a family are launched alike, apart from scalars
  std::string_view root;    // the name without its types
  std::string_view name;
  DType first;  // of the first input; for casts and selections, the first type in the name
  DType dtype;  // the last type in the name
  DType out;
  Cost cost;
  std::uint8_t scalars;  // number of parameters of the element type
};

inline constexpr OwnKernel kOwnKernels[] = {
#define KILN_OWN_KERNEL(module, family, root, name, first, dtype, out, cost, scalars, ...) \
  {#module,       family,      #root,         #name,  dtypes::first,                       \
   dtypes::dtype, dtypes::out, Cost::k##cost, scalars},
#include "own_kernels.def"
};

// Returns the record of a kernel, or nullptr.
constexpr const OwnKernel* find_own_kernel(std::string_view module, std::string_view name) {
  for (const OwnKernel& own : kOwnKernels) {
    if (own.name == name && own.module == module) return &own;
  }
  return nullptr;
}

// The kernels of one root by dtype, as positions in kOwnKernels.
struct KernelRows {
  static constexpr std::uint16_t kNone = 0xFFFF;
  std::string_view root;
  std::array<std::uint16_t, std::size(kDTypes)> by_dtype{};

  constexpr bool has(DType dtype) const {
    const auto at = static_cast<std::size_t>(dtype);
    return at < by_dtype.size() && by_dtype[at] != kNone;
  }
};

// Returns the kernels of `root` for which `fits` returns true.
template <typename Fits>
constexpr KernelRows rows_of(std::string_view root, Fits fits) {
  KernelRows rows;
  rows.root = root;
  for (std::uint16_t& row : rows.by_dtype) row = KernelRows::kNone;
  for (std::size_t i = 0; i < std::size(kOwnKernels); ++i) {
    const OwnKernel& own = kOwnKernels[i];
    if (own.root != root || !fits(own)) continue;
    rows.by_dtype[static_cast<std::size_t>(own.dtype)] = static_cast<std::uint16_t>(i);
  }
  return rows;
}
constexpr KernelRows rows_of(std::string_view root) {
  return rows_of(root, [](const OwnKernel&) { return true; });
}

// Returns the kernels of each operation in a list of operations (kUnaryOps, ...).
template <typename Operation, std::size_t N>
constexpr std::array<KernelRows, N> rows_of_each(const Operation (&operations)[N]) {
  std::array<KernelRows, N> rows{};
  for (std::size_t i = 0; i < N; ++i) rows[i] = rows_of(operations[i].root);
  return rows;
}

// Returns the kernels of `root` for each type of the first input.
constexpr auto rows_of_each_first(std::string_view root) {
  std::array<KernelRows, std::size(kDTypes)> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = rows_of(root, [i](const OwnKernel& own) { return own.first == kDTypes[i].dtype; });
  }
  return rows;
}

// A key without rows, such as a number that is no operation, has no kernels.
inline constexpr KernelRows kNoRows =
    rows_of("an unknown operation", [](const OwnKernel&) { return false; });
template <typename Key, std::size_t N>
constexpr const KernelRows& of(const std::array<KernelRows, N>& rows, Key key) {
  const auto at = static_cast<std::size_t>(key);
  return at < N ? rows[at] : kNoRows;
}

// Returns the constant of kOwnKernels[position] in the generated header, without its types.
Kernel<> own_kernel(std::size_t position);

}  // namespace kiln::ops
