// Matrix units of each vendor for numbers of 16 bits; see device/half_matrix.cuh. Where there are
// none, or none that is tested, no feature is named.
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

// One access to shared memory; the address is a multiple of 16.
KILN_DEVICE void store_16_bytes_shared(void* shared, Words words) {
#if KILN_PLATFORM_CUDA
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(
                   static_cast<u32>(__cvta_generic_to_shared(shared))),
               "r"(words.word[0]), "r"(words.word[1]), "r"(words.word[2]), "r"(words.word[3])
               : "memory");
#else
  store_16_bytes(shared, words);
#endif
}

#if KILN_PLATFORM_CUDA && __CUDA_ARCH__ >= 800
// c += a * b by the 32 lanes of a warp: a is 16 x 16, b 16 x 8. Words and results are those of
// mma.m16n8k16 (PTX ISA, "Matrix fragments").
#define KILN_HAS_HALF_MMA 1
#define KILN_MMA(type)                                                                     \
  KILN_DEVICE void multiply_##type##_fragments(f32* c, const u32(&a)[4], u32 b0, u32 b1) { \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." #type "." #type                           \
        ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                   \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                   \
  }
KILN_MMA(f16)
KILN_MMA(bf16)
#undef KILN_MMA
// Of four times eight rows of sixteen bytes in shared memory, lane i gives the address of row i % 8
// of matrix i / 8; it gets word i % 4 of row i / 4 of each matrix.
KILN_DEVICE void load_fragments(u32 (&words)[4], const void* row) {
  asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
      : "r"(static_cast<u32>(__cvta_generic_to_shared(row)))
      : "memory");
}
#endif

#if KILN_PLATFORM_HIP && defined(__GFX11__) && __AMDGCN_WAVEFRONT_SIZE__ == 32
// c += a * b, 16 x 16 x 16, by the 32 lanes of a wave: lane i has row i % 16 of a and column i % 16
// of b, and of the results those of row 2 r + i / 16 and that column (RDNA3 ISA, "WMMA").
#define KILN_HAS_HALF_WMMA 1
using WmmaResults = f32 __attribute__((ext_vector_type(8)));
template <class Elements>
KILN_DEVICE Elements wmma_operand(const u32 (&words)[8]) {
  return __builtin_bit_cast(Elements, words);
}
KILN_DEVICE void multiply_f16_rows(f32 (&c)[8], const u32 (&a)[8], const u32 (&b)[8]) {
  using Elements = _Float16 __attribute__((ext_vector_type(16)));
  const WmmaResults sums = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(
      wmma_operand<Elements>(a), wmma_operand<Elements>(b), __builtin_bit_cast(WmmaResults, c));
  for (u32 i = 0; i < 8; ++i) c[i] = sums[i];
}
KILN_DEVICE void multiply_bf16_rows(f32 (&c)[8], const u32 (&a)[8], const u32 (&b)[8]) {
  using Elements = short __attribute__((ext_vector_type(16)));
  const WmmaResults sums = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(
      wmma_operand<Elements>(a), wmma_operand<Elements>(b), __builtin_bit_cast(WmmaResults, c));
  for (u32 i = 0; i < 8; ++i) c[i] = sums[i];
}
#endif

#if KILN_PLATFORM_HIP && defined(__gfx90a__)
// c += a * b, 16 x 16 x K, by the 64 lanes of a wave: lane i has K / 4 elements of row i % 16 of a
// and of column i % 16 of b, and the results of rows 4 (i / 16) + r and that column (CDNA2 ISA,
// "MFMA"). The instruction for f16 takes subnormal numbers for zero, so f16 is multiplied as f32.
#define KILN_HAS_HALF_MFMA 1
using MfmaResults = f32 __attribute__((ext_vector_type(4)));
KILN_DEVICE void multiply_f32_quarters(f32 (&c)[4], f32 a, f32 b) {
  const MfmaResults sums =
      __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, __builtin_bit_cast(MfmaResults, c), 0, 0, 0);
  for (u32 i = 0; i < 4; ++i) c[i] = sums[i];
}
KILN_DEVICE void multiply_bf16_quarters(f32 (&c)[4], const u32 (&a)[2], const u32 (&b)[2]) {
  using Elements = short __attribute__((ext_vector_type(4)));
  const MfmaResults sums = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
      __builtin_bit_cast(Elements, a), __builtin_bit_cast(Elements, b),
      __builtin_bit_cast(MfmaResults, c), 0, 0, 0);
  for (u32 i = 0; i < 4; ++i) c[i] = sums[i];
}
#endif

}  // namespace kiln::device
