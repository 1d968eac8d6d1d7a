// quantized: kiln's own products of a matrix and up to eight vectors, which threads hold.
#include "device/export.cuh"
#include "families/held_vectors.cuh"
#include "gguf/formats.cuh"

// name(vx, vy, dst, ncols_x, nrows_x, ncols_y, nrows_y, nrows_dst)
#define HELD_VECTORS(format, suffix)                                                              \
  KILN_BOUNDED_KERNEL(32 * kiln::tuning::kHeldWaves, 1, held_vectors_##suffix, const void* vx,    \
                      const void* vy, kiln::f32* dst, kiln::i32 ncols_x, kiln::i32 nrows_x,       \
                      kiln::i32 ncols_y, kiln::i32 nrows_y, kiln::i32 nrows_dst) {                \
    using kiln::u32;                                                                              \
    const u32 columns = static_cast<u32>(ncols_x);                                                \
    kiln::families::multiply_held<kiln::gguf::format>(                                            \
        {static_cast<const kiln::u8*>(vx), static_cast<u32>(nrows_x),                             \
         columns / kiln::gguf::format::kValues},                                                  \
        {static_cast<const u32*>(vy),                                                             \
         static_cast<u32>(nrows_y) / 32 * kiln::families::kBlockWords, static_cast<u32>(ncols_y), \
         columns / 32},                                                                           \
        dst, static_cast<u32>(nrows_dst));                                                        \
  }
KILN_EACH_HELD(HELD_VECTORS)
