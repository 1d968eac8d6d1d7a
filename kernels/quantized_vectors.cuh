// Shared by the sources of mul_mat_vec: makes a format and a number of vectors a kernel. Each
// source has one or two numbers of vectors.
#pragma once

#include "device/export.cuh"
#include "families/quantized_matrix.cuh"
#include "families/quantized_vector.cuh"
#include "gguf/formats.cuh"

namespace kiln::families {

// Shared memory of a block, for five to eight vectors and formats of many scales per block.
template <class Format>
struct ManyVectors {
  using ByUnits = MatrixVectors<Format, 4>;
  union Shared {
    typename ByUnits::Shared units;
    TeamSums<tuning::kFewRowsAtOnce * 4, 4> sums;
  };
  static constexpr u32 kMaxWaves = 4;
  KILN_DEVICE static Shared& shared() {
    KILN_SHARED(of_both, Shared);
    return of_both;
  }
  template <u32 kCount>
  KILN_DEVICE static auto& of() {
    return shared().sums;
  }
};

// Multiplies by matrix units. This code takes any number of vectors; it is called, not inlined, so
// that it is compiled once.
template <class Format>
KILN_NOINLINE void multiply_by_units(const void* vx, const void* vy, f32* dst, i32 columns,
                                     i32 rows, i32 rows_y, i32 rows_dst, u32 count) {
  using Many = ManyVectors<Format>;
  const BlockMatrix matrix{static_cast<const u8*>(vx), static_cast<u32>(rows),
                           static_cast<u32>(columns) / Format::kValues};
  const VectorRows of_y{static_cast<const u32*>(vy), static_cast<u32>(rows_y) / 32 * kBlockWords,
                        count, static_cast<u32>(columns) / 32};
  Many::ByUnits::multiply(Many::shared().units, matrix, of_y, dst, static_cast<u32>(rows_dst));
}

template <class Format>
inline constexpr u32 kRowsWithoutUnits = tuning::pair_rows_without_units(Format::kBytes);

// Multiplies five to eight vectors. A format of many scales per block uses matrix units, unless
// there are few rows. With few rows, the two blocks along y, or the two halves of a block, take
// half of the vectors each.
template <class Format, u32 kVectors>
KILN_DEVICE void mul_mat_many_vectors(const void* vx, const void* vy, f32* dst, i32 columns,
                                      i32 rows, i32 rows_y, i32 rows_dst) {
  const u32 most = min_of(kRowsWithoutUnits<Format>, block_count() * tuning::kFewRowsAtOnce);
  const bool is_along_y = block_count_y() > 1;
  const u32 threads = is_along_y ? block_threads() : block_threads() / 2;
  if constexpr (Format::kValues == 32) {
    mul_mat_vec<Format, kVectors>(vx, vy, dst, columns, rows, rows_y, rows_dst);
  } else if (static_cast<u32>(rows) <= most && gguf::are_aligned<Format>(vx) &&
             (is_along_y || block_threads() % (2 * wave_width()) == 0)) {
    const u32 half = is_along_y ? block_index_y() : uniform(thread_rank() / threads);
    if (half > 1) return;
    multiply_few_rows<gguf::Aligned<Format>, (kVectors + 1) / 2, ManyVectors<Format>>(
        vx, vy, dst, columns, rows, rows_y, rows_dst, kVectors, threads, half);
  } else {
    multiply_by_units<Format>(vx, vy, dst, columns, rows, rows_y, rows_dst, kVectors);
  }
}

}  // namespace kiln::families

// name(vx, vy, dst, ncols_x, nrows_x, nrows_y, nrows_dst)
#define KILN_MUL_MAT_VEC(format, suffix, vectors, blocks, family)                             \
  KILN_BOUNDED_KERNEL(128, blocks, mul_mat_vec_##suffix##_q8_1_cuda##vectors, const void* vx, \
                      const void* vy, kiln::f32* dst, kiln::i32 ncols_x, kiln::i32 nrows_x,   \
                      kiln::i32 nrows_y, kiln::i32 nrows_dst) {                               \
    kiln::families::family(vx, vy, dst, ncols_x, nrows_x, nrows_y, nrows_dst);                \
  }
// `is_brief` leaves out half of the code for one vector.
#define KILN_HELD_VECTORS(format, suffix, vectors, is_brief)                            \
  KILN_MUL_MAT_VEC(                                                                     \
      format, suffix, vectors,                                                          \
      KILN_LIST(kiln::tuning::vector_blocks_held(vectors, kiln::gguf::format::kParts)), \
      KILN_LIST(mul_mat_vec<kiln::gguf::format, vectors, is_brief>))
#define KILN_FEW_VECTORS(format, suffix, vectors) KILN_HELD_VECTORS(format, suffix, vectors, false)
#define KILN_MANY_VECTORS(format, suffix, vectors)                                       \
  KILN_MUL_MAT_VEC(format, suffix, vectors, (kiln::gguf::format::kValues == 32 ? 4 : 1), \
                   KILN_LIST(mul_mat_many_vectors<kiln::gguf::format, vectors>))
