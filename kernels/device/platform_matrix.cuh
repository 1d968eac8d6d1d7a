// Each vendor's matrix units for 16-bit numbers; see device/half_matrix.cuh. Hardware that has
// none, or whose units are not tested, defines no feature.
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

// Returns eight numbers of sixteen bits, the first in the lowest bits.
KILN_DEVICE Words eight_halves(const u16* bits) {
  Words words;
#pragma unroll
  for (u32 w = 0; w < 4; ++w) {
    words.word[w] = bits[2 * w] | static_cast<u32>(bits[2 * w + 1]) << 16;
  }
  return words;
}

// Stores by one access to shared memory. The address is a multiple of 16.
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
// c += a * b by the 32 lanes of a warp: a is 16 x 16, b is 16 x 8. Lanes hold words and results as
// in mma.m16n8k16 (PTX ISA, "Matrix fragments").
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
// Like multiply_byte_fragments(), but the bytes of a are unsigned.
KILN_DEVICE void multiply_unsigned_byte_fragments(i32 (&c)[4], i32 first, u32 a0, u32 a1, u32 a2,
                                                  u32 a3, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %10, %10, %10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(first));
}
// Operations on two f16 in a word, each rounded once.
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
// Loads four matrices of eight rows of sixteen bytes from shared memory. Lane i passes the address
// of row i % 8 of matrix i / 8, and gets word i % 4 of row i / 4 of each matrix.
KILN_DEVICE void load_fragments(u32 (&words)[4], const void* row) {
  asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
      : "r"(static_cast<u32>(__cvta_generic_to_shared(row)))
      : "memory");
}
// The same for an address in shared memory, and never reordered. The second function transposes
// each matrix. The third loads two matrices, whose row addresses lanes 0 to 15 pass.
KILN_DEVICE void load_fragments(u32 (&words)[4], u32 place) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(place)
               : "memory");
}
KILN_DEVICE void load_transposed_fragments(u32 (&words)[4], u32 place) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
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
// sums += a * b by a warp group, which is 128 neighbouring threads: a is 64 x 16 in registers, b is
// 16 x 128 in shared memory. Warp i of the four has rows 16 i to 16 i + 15 of a and of the sums,
// laid out as in mma.m16n8k16 (PTX ISA, "Asynchronous warpgroup level matrix instructions").
// Products between begin_products() and end_products() run asynchronously until
// wait_for_products(). Until then a must not change.
#define KILN_HAS_WARP_GROUPS 1
KILN_DEVICE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
KILN_DEVICE void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all groups of products except the last kPending.
template <u32 kPending>
KILN_DEVICE void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
// No access to `value` moves past this point.
KILN_DEVICE void pin_register(f32& value) { asm volatile("" : "+f"(value)::"memory"); }
// Makes the thread's writes to shared memory visible to products. For the writes of other threads,
// a barrier must follow.
KILN_DEVICE void show_products() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Returns the descriptor of columns (or rows) in shared memory, of 64 f16 (128 bytes) each. The
// memory begins at a multiple of 1024. Chunk c of 16 bytes of column j lies at position c ^ (j % 8)
// of the column. To begin `bytes` further along the columns, add bytes / 16 to the descriptor.
KILN_DEVICE u64 swizzled_columns(u32 place_in_shared) {
  const u64 place = place_in_shared;
  constexpr u64 kEightColumns = 1024 / 16, kSwizzle128 = 1;
  return (place & 0x3ffff) / 16 | u64{1} << 16 | kEightColumns << 32 | kSwizzle128 << 62;
}
KILN_DEVICE u64 swizzled_columns(const void* shared) {
  return swizzled_columns(static_cast<u32>(__cvta_generic_to_shared(shared)));
}
// Returns the descriptor of b by rows: each row has 64 columns, chunk c of them at position
// c ^ (row % 8). The next 64 columns begin `next` bytes behind.
KILN_DEVICE u64 swizzled_rows(u32 place_in_shared, u32 next) {
  return (swizzled_columns(place_in_shared) & ~(u64{0x3fff} << 16)) | u64{next / 16} << 16;
}
// If `adds` is false, sums = a * b.
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
}
// sums += a * b, with a in shared memory, too, and with b by rows if kByRows.
#define KILN_GROUP(type)                                                                          \
  template <bool kByRows>                                                                         \
  KILN_DEVICE void multiply_##type##_group(f32(&sums)[16][4], u64 a, u64 b) {                     \
    asm volatile(                                                                                 \
        "wgmma.mma_async.sync.aligned.m64n128k16.f32." #type "." #type                            \
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "      \
        "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, "   \
        "%35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, "   \
        "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, %66;" \
        : KILN_SUMS(0), KILN_SUMS(1), KILN_SUMS(2), KILN_SUMS(3), KILN_SUMS(4), KILN_SUMS(5),     \
          KILN_SUMS(6), KILN_SUMS(7), KILN_SUMS(8), KILN_SUMS(9), KILN_SUMS(10), KILN_SUMS(11),   \
          KILN_SUMS(12), KILN_SUMS(13), KILN_SUMS(14), KILN_SUMS(15)                              \
        : "l"(a), "l"(b), "n"(kByRows ? 1 : 0));                                                  \
  }
KILN_GROUP(f16)
KILN_GROUP(bf16)
#undef KILN_GROUP
#undef KILN_SUMS
#else
KILN_DEVICE void begin_products() {}
KILN_DEVICE void end_products() {}
template <u32>
KILN_DEVICE void wait_for_products() {}
KILN_DEVICE void show_products() {}
#endif

#if KILN_PLATFORM_HIP && defined(__GFX11__) && __AMDGCN_WAVEFRONT_SIZE__ == 32
// c += a * b, 16 x 16 x 16, by the 32 lanes of a wave. Lane i holds row i % 16 of a and column
// i % 16 of b. Its result c[r] is in row 2 r + i / 16 and column i % 16 (RDNA3 ISA, "WMMA").
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
// c += a * b, 16 x 16 x K, by the 64 lanes of a wave. Lane i holds K / 4 elements of row i % 16 of
// a and of column i % 16 of b. Its result c[r] is in row 4 (i / 16) + r and column i % 16 (CDNA2
// ISA, "MFMA"). The instruction for f16 flushes subnormal numbers to zero, so f16 is multiplied as
// f32.
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
