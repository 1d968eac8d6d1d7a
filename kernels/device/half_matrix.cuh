// Products of small matrices of f16 or bf16, summed in f32, by kHalfThreads neighbouring threads.
// Matrix units compute them if there are any, and a loop otherwise.
//
// A tile of results has 16 rows and 16 columns. An operand has 16 rows (left) or columns (right) of
// 16 elements. The hardware determines the order and the rounding of the 16 additions.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform_copies.cuh"
#include "device/platform_matrix.cuh"

namespace kiln::device {

#if KILN_HAS_HALF_MFMA
inline constexpr u32 kHalfThreads = 64, kHalfResults = 4;
#else
inline constexpr u32 kHalfThreads = 32, kHalfResults = 8;
#endif
inline constexpr u32 kHalfTile = 16;

// The row and the column of result c[i]. `lane` is the thread's index among the kHalfThreads.
KILN_DEVICE u32 half_tile_row(u32 lane, u32 i) {
#if KILN_HAS_HALF_MFMA
  return lane / 16 * 4 + i;
#elif KILN_HAS_HALF_WMMA
  return lane / 16 + 2 * i;
#else
  return lane / 4 + i % 4 / 2 * 8;
#endif
}
KILN_DEVICE u32 half_tile_column(u32 lane, u32 i) {
#if KILN_HAS_HALF_MFMA || KILN_HAS_HALF_WMMA
  return lane % 16;
#else
  return lane % 4 * 2 + i % 2 + i / 4 * 8;
#endif
}

// True if results c[i] and c[i + 1] are neighbours in a row, for each even i.
#if KILN_HAS_HALF_MFMA || KILN_HAS_HALF_WMMA
inline constexpr bool kHalfPairs = false;
#else
inline constexpr bool kHalfPairs = true;
#endif

template <class T>
inline constexpr bool kIsF16 = false;
template <>
inline constexpr bool kIsF16<f16> = true;

// The left or the right operand, in shared memory. Row (or column) r begins at elements[r * kStride],
// a multiple of sixteen bytes; the elements are the bits of T. On GPUs with matrix units the threads
// are a wave, all active.
enum class HalfSide { kLeft, kRight };
template <class T, u32 kStride, HalfSide kSide>
class HalfOperand {
  static_assert(kStride % 8 == 0, "a row begins at a multiple of sixteen bytes");

 public:
  KILN_DEVICE void load(const u16* elements, u32 lane) {
    load(shared_place(elements + own_element(lane)));
  }
  // The same, if `own` is the place of element own_element() of the operand.
  KILN_DEVICE void load(SharedPlace own) {
#if KILN_HAS_HALF_MMA
    load_fragments(words_, own);
#elif KILN_HAS_HALF_WMMA || KILN_HAS_HALF_MFMA
    __builtin_memcpy(words_, __builtin_assume_aligned(own, 8), sizeof words_);
#else
    elements_ = reinterpret_cast<const u16*>(own);
#endif
  }
#if KILN_HAS_HALF_MMA
  // The same for a right operand by rows: row r of 16 neighbouring columns begins at
  // elements[r * stride], and `own` is the place of element own_element_by_rows() of the operand.
  KILN_DEVICE void load_by_rows(SharedPlace own) { load_transposed_fragments(words_, own); }
  KILN_DEVICE static u32 own_element_by_rows(u32 lane, u32 stride) {
    return lane % 16 * stride + lane / 16 * 8;
  }
#endif
  KILN_DEVICE static u32 own_element(u32 lane) {
#if KILN_HAS_HALF_MMA
    // A multiplication takes two neighbouring words of a right operand, and they must be neighbours
    // here, too: the halves of eight columns. Others would be copied first.
    if constexpr (kSide == HalfSide::kRight) {
      return (lane % 8 + lane / 16 * 8) * kStride + lane / 8 % 2 * 8;
    }
    return lane % 16 * kStride + lane / 16 * 8;
#elif KILN_HAS_HALF_WMMA || KILN_HAS_HALF_MFMA
    return lane % 16 * kStride + lane / 16 * kApart;
#else
    static_cast<void>(lane);
    return 0;
#endif
  }

  // c += this * right.
  using Right = HalfOperand<T, kStride, HalfSide::kRight>;
  KILN_DEVICE void multiply(f32 (&c)[kHalfResults], const Right& right, u32 lane) const {
    static_assert(kSide == HalfSide::kLeft);
#if KILN_HAS_HALF_MMA
    static_cast<void>(lane);
#pragma unroll
    for (u32 i = 0; i < 2; ++i) {
      if constexpr (kIsF16<T>) {
        multiply_f16_fragments(c + 4 * i, words_, right.words_[2 * i], right.words_[2 * i + 1]);
      } else {
        multiply_bf16_fragments(c + 4 * i, words_, right.words_[2 * i], right.words_[2 * i + 1]);
      }
    }
#elif KILN_HAS_HALF_WMMA
    static_cast<void>(lane);
    if constexpr (kIsF16<T>) {
      multiply_f16_rows(c, words_, right.words_);
    } else {
      multiply_bf16_rows(c, words_, right.words_);
    }
#elif KILN_HAS_HALF_MFMA
    static_cast<void>(lane);
    if constexpr (kIsF16<T>) {
#pragma unroll
      for (u32 k = 0; k < 4; ++k) {
        multiply_f32_quarters(c, element(k), right.element(k));
      }
    } else {
      multiply_bf16_quarters(c, words_, right.words_);
    }
#else
    const u16* const rows = elements_ + half_tile_row(lane, 0) * kStride;
    const u16* const columns = right.elements_ + half_tile_column(lane, 0) * kStride;
#pragma unroll 4
    for (u32 k = 0; k < kHalfTile; ++k) {
      f32 row[2], column[4];
#pragma unroll
      for (u32 i = 0; i < 2; ++i) row[i] = widen(T{rows[i * 8 * kStride + k]});
#pragma unroll
      for (u32 i = 0; i < 4; ++i) column[i] = widen(T{columns[(i % 2 + i / 2 * 8) * kStride + k]});
#pragma unroll
      for (u32 i = 0; i < 8; ++i) c[i] += row[i % 4 / 2] * column[i % 2 + i / 4 * 2];
    }
#endif
  }

 private:
  template <class, u32, HalfSide>
  friend class HalfOperand;
#if KILN_HAS_HALF_MMA
  u32 words_[4];
#elif KILN_HAS_HALF_WMMA
  static constexpr u32 kApart = 0;  // each half of a wave holds all rows
  u32 words_[8];
#elif KILN_HAS_HALF_MFMA
  static constexpr u32 kApart = 4;
  u32 words_[2];
  KILN_DEVICE f32 element(u32 k) const {
    return widen(T{static_cast<u16>(words_[k / 2] >> 16 * (k % 2))});
  }
#else
  const u16* elements_;
#endif
};

template <class T, u32 kStride>
using HalfLeft = HalfOperand<T, kStride, HalfSide::kLeft>;
template <class T, u32 kStride>
using HalfRight = HalfOperand<T, kStride, HalfSide::kRight>;

}  // namespace kiln::device
