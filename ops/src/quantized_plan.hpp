// Shared by the plans of quantized kernels: kernels by block format, and the numbers that launches
// pass.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include "base/diagnostic.hpp"
#include "kernels/tuning/quantized.hpp"
#include "kernels/tuning/streamed_vector.hpp"
#include "kiln/ops/quantized.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {

// The kernels of a family by format, as positions in kOwnKernels.
using KernelsOfFormats = std::array<std::uint16_t, std::size(kBlockFormats)>;
struct FormatFamily {
  std::string_view name;
  KernelsOfFormats kernels;

  constexpr bool has(BlockFormat format) const {
    const auto at = static_cast<std::size_t>(format);
    return at < kernels.size() && kernels[at] != KernelRows::kNone;
  }
};

// Position of the module's first row. The rows of a module are contiguous.
inline constexpr std::uint16_t kFirstOfQuantized = [] {
  std::uint16_t first = 0;
  while (kOwnKernels[first].module != "quantized") ++first;
  return first;
}();
constexpr std::uint16_t position_of(std::string_view name) {
  std::uint16_t position = kFirstOfQuantized;
  while (kOwnKernels[position].name != name) ++position;
  return position;
}
constexpr FormatFamily none_of(std::string_view name) {
  FormatFamily family{name, {}};
  for (std::uint16_t& each : family.kernels) each = KernelRows::kNone;
  return family;
}

// Sets the kernel of a format while a FormatFamily is built.
#define KILN_SET(format, name) \
  family.kernels[static_cast<std::size_t>(BlockFormat::k##format)] = position_of(name);
#define KILN_ROW(format, suffix) KILN_SET(format, "fused_vector_" #suffix)
inline constexpr FormatFamily kFusedVector = [] {
  FormatFamily family = none_of("fused_vector");
  KILN_EACH_FUSED(KILN_ROW)
  return family;
}();
#undef KILN_ROW
#define KILN_ROW(format, suffix) KILN_SET(format, "held_vectors_" #suffix)
inline constexpr FormatFamily kHeldVectors = [] {
  FormatFamily family = none_of("held_vectors");
  KILN_EACH_HELD(KILN_ROW)
  return family;
}();
#undef KILN_ROW

// "Q4_0". For a number that is no format: "format 99".
inline std::string format_name(BlockFormat format) {
  const auto at = static_cast<std::size_t>(format);
  if (at >= std::size(kBlockFormats)) return "format " + std::to_string(at);
  return std::string(info(format).name);
}

inline Result<void> set_kernel(Launch& launch, const FormatFamily& family, BlockFormat format,
                               std::size_t further = 0) {
  if (family.has(format)) {
    const std::size_t position = family.kernels[static_cast<std::size_t>(format)] + further;
    launch.module = kOwnKernels[position].module;
    launch.kernel = kOwnKernels[position].name;
    launch.own_kernel = static_cast<std::uint16_t>(position);
    return {};
  }
  std::string taken;
  for (const BlockFormatInfo& each : kBlockFormats) {
    if (family.has(each.format)) taken += (taken.empty() ? "" : " ") + std::string(each.name);
  }
  return refused("no kernel of '" + std::string(family.name) + "' takes blocks of " +
                 format_name(format))
      .note("it takes " + taken);
}

// True if kiln has kernels that multiply one matrix of the format with so many vectors.
bool has_kernels(BlockFormat format, std::size_t vectors);

inline constexpr std::uint32_t kMaxSigned = std::numeric_limits<std::int32_t>::max();
inline constexpr std::uint32_t kMaxAlongY = 65535;

inline Result<std::int32_t> parameter(std::string_view what, std::size_t value) {
  KILN_TRY_ASSIGN(const std::uint32_t fits, in_32_bits(what, value, kMaxSigned));
  return static_cast<std::int32_t>(fits);
}

inline Result<std::uint32_t> along_y(std::string_view what, std::size_t value) {
  if (value <= kMaxAlongY) return static_cast<std::uint32_t>(value);
  return refused(std::to_string(value) + " " + std::string(what) +
                 " are more than a launch has blocks for")
      .note("it has up to " + std::to_string(kMaxAlongY))
      .hint("launch several times");
}

constexpr std::uint32_t divide_up(std::size_t count, std::size_t each) {
  return static_cast<std::uint32_t>((count + each - 1) / each);
}

inline Result<void> require_blocks(BlockFormat format, std::string_view what, std::size_t values) {
  const BlockFormatInfo& of = info(format);
  if (values % of.values == 0) return {};
  return refused(std::string(what) + " of " + std::to_string(values) +
                 " values are no whole blocks of " + std::string(of.name))
      .note("a block has " + std::to_string(of.values) + " values");
}

// Returns the number of values that a row of activations is padded to.
inline Result<std::int32_t> padded_row(std::size_t columns, std::size_t padded) {
  if (padded == 0) padded = padded_columns(columns);
  if (padded % 32 != 0 || padded < columns) {
    return refused("activations of " + std::to_string(columns) + " values are padded to " +
                   std::to_string(padded))
        .note("whole blocks of 32 values hold them all");
  }
  return parameter("padded columns", padded);
}

// The sizes of a matrix as the kernels count them.
struct Matrix {
  std::int32_t rows, columns;
};
inline Result<Matrix> matrix_of(BlockFormat format, std::size_t rows, std::size_t columns) {
  KILN_TRY(element_count({{rows, columns}}));
  KILN_TRY(require_blocks(format, "rows", columns));
  KILN_TRY_ASSIGN(const std::int32_t narrow_rows, parameter("rows", rows));
  KILN_TRY_ASSIGN(const std::int32_t narrow_columns, parameter("columns", columns));
  return Matrix{narrow_rows, narrow_columns};
}

// Returns the distance between the results of two activations.
inline Result<std::int32_t> result_stride(std::size_t rows, std::size_t stride) {
  if (stride == 0) stride = rows;
  if (stride < rows) {
    return refused("results of " + std::to_string(rows) + " rows are " + std::to_string(stride) +
                   " apart");
  }
  return parameter("rows of the result", stride);
}

inline constexpr std::uint32_t kWave = 32;     // number of threads that share a row
inline constexpr std::size_t kMaxVectors = 8;  // most vectors that a mul_mat_vec kernel takes

inline unsigned block_bytes(BlockFormat format) {
  return static_cast<unsigned>(info(format).bytes);
}

// True if a product converts activations and weights to f16, on GPUs whose matrix units take what
// threads decode.
struct QuantizedMatmul;
bool goes_by_halves(const QuantizedMatmul& call, const Gpu& gpu);

// Kernels that hold up to eight vectors (families/held_vectors.cuh): bytes of a row per step, and
// the number of waves, or 0 if the device cannot run them.
inline unsigned held_row(BlockFormat format) {
  return tuning::held_row(block_bytes(format), static_cast<unsigned>(info(format).values));
}
inline unsigned held_waves(BlockFormat format, const Gpu& gpu, std::size_t columns) {
  const bool has_byte_matrix = gpu.target.substr(0, 3) == "sm_";
  if (!has_byte_matrix) return 0;
  return tuning::held_waves(static_cast<unsigned>(columns), held_row(format), gpu.max_shared_bytes);
}
// True if a matrix begins and ends at multiples of 16 bytes, as those kernels need.
inline bool is_held_aligned(BlockFormat format, const void* weights, std::size_t rows,
                            std::size_t columns) {
  return (reinterpret_cast<std::uintptr_t>(weights) | row_bytes(format, columns) * rows) % 16 == 0;
}
// True if those kernels multiply the matrix with so many vectors.
inline bool holds_vectors(BlockFormat format, const Gpu& gpu, const void* weights, std::size_t rows,
                          std::size_t columns, std::size_t vectors) {
  return kHeldVectors.has(format) && is_held_aligned(format, weights, rows, columns) &&
         tuning::goes_held(rows, columns, vectors, block_bytes(format)) &&
         held_waves(format, gpu, columns) != 0;
}

// Bytes of shared memory that a block of fused_vector uses besides the streamed rows.
inline constexpr unsigned kStreamedBeside = 2048;
inline unsigned streamed_waves(BlockFormat format, const Gpu& gpu, std::uint32_t columns) {
  if (gpu.max_shared_bytes < kStreamedBeside) return 0;
  return tuning::streamed_waves(block_bytes(format), static_cast<unsigned>(info(format).values),
                                columns, gpu.max_shared_bytes - kStreamedBeside);
}
// True if the rows of a product with one vector stream through shared memory
// (families/streamed_vector.cuh). They need enough weights. The rows, or for Q6_K the matrices,
// must begin and end at multiples of 16 bytes, and everything at `addresses` must be aligned to 16
// bytes.
inline bool streams_rows(BlockFormat format, const Gpu& gpu,
                         std::initializer_list<const void*> addresses, std::uint32_t rows,
                         std::uint32_t columns, bool is_pair = false) {
  std::uintptr_t places = row_bytes(format, columns);
  if (format == BlockFormat::kQ6_K) places *= is_pair ? rows / 2 : rows;
  for (const void* const each : addresses) {
    places |= reinterpret_cast<std::uintptr_t>(each);
  }
  return has_background_copies(gpu) && places % 16 == 0 && tuning::streams_rows(rows, columns) &&
         streamed_waves(format, gpu, columns) != 0;
}
inline void set_streamed_blocks(Launch& launch, BlockFormat format, const Gpu& gpu,
                                std::uint32_t columns) {
  launch.block = {kWave, streamed_waves(format, gpu, columns), 1};
  launch.shared_bytes = tuning::streamed_bytes(
      block_bytes(format), static_cast<unsigned>(info(format).values), launch.block.y, columns);
  const unsigned room = gpu.max_shared_bytes / (launch.shared_bytes + kStreamedBeside);
  launch.grid.x = spread_over(gpu).multiprocessors * std::min(room, tuning::kStreamedBlocks);
}

}  // namespace kiln::ops
