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
// As multiply_byte_fragments(), of unsigned bytes of a.
KILN_DEVICE void multiply_unsigned_byte_fragments(i32 (&c)[4], i32 first, u32 a0, u32 a1, u32 a2,
                                                  u32 a3, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %10, %10, %10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(first));
}
// Four of the eight bytes of two words, as `bytes` says: the lowest four bits choose the lowest.
KILN_DEVICE u32 select_bytes(u32 low, u32 high, u32 bytes) { return __byte_perm(low, high, bytes); }
// Of two f16 in a word each, rounded once.
KILN_DEVICE u32 subtract_f16_pairs(u32 a, u32 b) {
  u32 out;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
  return out;
}
KILN_DEVICE u32 multiply_f16_pairs(u32 a, u32 b) {
  u32 out;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
  return out;
}
KILN_DEVICE u32 fma_f16_pairs(u32 a, u32 b, u32 c) {
  u32 out;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(c));
  return out;
}
// Of four times eight rows of sixteen bytes in shared memory, lane i gives the address of row i % 8
// of matrix i / 8; it gets word i % 4 of row i / 4 of each matrix.
KILN_DEVICE void load_fragments(u32 (&words)[4], const void* row) {
  asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
      : "r"(static_cast<u32>(__cvta_generic_to_shared(row)))
      : "memory");
}
// The same of places in shared memory, in the order of the program; and of two matrices, whose rows
// lanes 0 to 15 give.
KILN_DEVICE void load_fragments(u32 (&words)[4], u32 place) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(place)
               : "memory");
}
KILN_DEVICE void load_fragments(u32 (&words)[2], u32 place) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(words[0]), "=r"(words[1])
               : "r"(place)
               : "memory");
}
#endif

#if KILN_PLATFORM_CUDA && defined(__CUDA_ARCH_FEAT_SM90_ALL)
// sums += a * b by 128 neighbouring threads, a warp group: a is 64 x 16, of registers, b 16 x 128, of
// shared memory. Warp i of the four has rows 16 i and so on of a, as in mma.m16n8k16, and of the sums
// (PTX ISA, "Asynchronous warpgroup level matrix instructions"). The products of begin_products() to
// end_products() run beside what comes next, until wait_for_products(); till then a stays as it is.
#define KILN_HAS_WARP_GROUPS 1
KILN_DEVICE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
KILN_DEVICE void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all but the last kBut.
template <u32 kBut>
KILN_DEVICE void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kBut) : "memory");
}
// What a thread has written to shared memory is there for products, behind a barrier for those of
// others.
KILN_DEVICE void show_products() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Columns of 64 f16, 128 bytes each, whose chunks of 16 bytes lie at their number, xor the column
// modulo 8, from a multiple of 1024 on. A value `bytes` behind the first one in its line is
// bytes / 16 further.
KILN_DEVICE u64 swizzled_columns(const void* shared) {
  const u64 place = static_cast<u32>(__cvta_generic_to_shared(shared));
  constexpr u64 kEightColumns = 1024 / 16, kSwizzle128 = 1;
  return (place & 0x3ffff) / 16 | u64{1} << 16 | kEightColumns << 32 | kSwizzle128 << 62;
}
// Without `adds`, sums = a * b.
KILN_DEVICE void multiply_f16_group(f32 (&sums)[16][4], const u32 (&a)[4], u64 b, bool adds) {
#define KILN_SUMS(x) "+f"(sums[x][0]), "+f"(sums[x][1]), "+f"(sums[x][2]), "+f"(sums[x][3])
  asm volatile(
      "{.reg .pred adds; setp.ne.b32 adds, %69, 0; "
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, "
      "%25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
      "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, "
      "%59, %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, adds, 1, 1, 0;}"
      : KILN_SUMS(0), KILN_SUMS(1), KILN_SUMS(2), KILN_SUMS(3), KILN_SUMS(4), KILN_SUMS(5),
        KILN_SUMS(6), KILN_SUMS(7), KILN_SUMS(8), KILN_SUMS(9), KILN_SUMS(10), KILN_SUMS(11),
        KILN_SUMS(12), KILN_SUMS(13), KILN_SUMS(14), KILN_SUMS(15)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<u32>(adds)));
#undef KILN_SUMS
}
#else
KILN_DEVICE void begin_products() {}
KILN_DEVICE void end_products() {}
template <u32>
KILN_DEVICE void wait_for_products() {}
KILN_DEVICE void show_products() {}
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
