// quantized: converts blocks of GGUF files to floats, and activations to Q8_1.
#include "device/export.cuh"
#include "families/dequantize.cuh"
#include "families/quantize.cuh"
#include "gguf/formats.cuh"

// name(vx, y, k)
#define DEQUANTIZE(T, format, suffix, per_k, ...)                                               \
  KILN_KERNEL(1024, dequantize_block_##suffix##_##T, const void* vx, kiln::T* y, kiln::i32 k) { \
    kiln::families::__VA_ARGS__(vx, y, static_cast<kiln::u32>(k) / per_k);                      \
  }
#define DEQUANTIZE_BOTH(format, suffix, per_k, ...)   \
  DEQUANTIZE(f32, format, suffix, per_k, __VA_ARGS__) \
  DEQUANTIZE(f16, format, suffix, per_k, __VA_ARGS__)
#define OF_BLOCKS(format, suffix) \
  DEQUANTIZE_BOTH(format, suffix, 1, dequantize<kiln::gguf::format, 32, 8>)
#define OF_VALUES(format, suffix)                              \
  DEQUANTIZE_BOTH(format, suffix, kiln::gguf::format::kValues, \
                  dequantize<kiln::gguf::format, 256, 16>)
#define OWN_OF_BLOCKS(format, suffix) \
  DEQUANTIZE_BOTH(format, suffix, 1, dequantize_blocks<kiln::gguf::format>)
// name(vx, y): a larger thread block takes as many blocks of values as it has threads for
#define DEQUANTIZE_GRID(T, format, suffix, threads)                                \
  KILN_KERNEL(1024, dequantize_block_##suffix##_##T, const void* vx, kiln::T* y) { \
    kiln::families::dequantize_of_grid<kiln::gguf::format, threads>(vx, y);        \
  }
#define OF_GRID(format, suffix, threads, slices)                      \
  static_assert(kiln::gguf::kSlices<kiln::gguf::format> == (slices)); \
  DEQUANTIZE_GRID(f32, format, suffix, threads) DEQUANTIZE_GRID(f16, format, suffix, threads)
KILN_EACH_DEQUANTIZE_OF_BLOCKS(OF_BLOCKS)
KILN_EACH_OWN_FORMAT(OWN_OF_BLOCKS)
KILN_EACH_DEQUANTIZE_OF_VALUES(OF_VALUES)
KILN_EACH_DEQUANTIZE_OF_GRID(OF_GRID)

// name(src0, src1, dst, ne00, nb01)
#define GET_ROWS(format, suffix)                                                                \
  KILN_KERNEL(1024, get_rows_##suffix, const void* src0, const kiln::u32* src1, kiln::f32* dst, \
              kiln::i64 ne00, kiln::u64 nb01) {                                                 \
    kiln::families::get_rows<kiln::gguf::format>(src0, src1, dst, ne00, nb01);                  \
  }
#define GET_FLOAT_ROWS(type, suffix)                                                  \
  KILN_KERNEL(1024, get_rows_##suffix, const kiln::type* src0, const kiln::u32* src1, \
              kiln::f32* dst, kiln::i64 ne00, kiln::u64 nb01) {                       \
    kiln::families::get_float_rows(src0, src1, dst, ne00, nb01);                      \
  }
KILN_EACH_GET_ROWS(GET_ROWS)
KILN_EACH_GET_FLOAT_ROWS(GET_FLOAT_ROWS)

KILN_BOUNDED_KERNEL(1024, 2, quantize_q8_1, const kiln::f32* x, void* vy, kiln::i32 kx,
                    kiln::i32 kx_padded) {
  kiln::families::quantize_q8_1(x, vy, kx, kx_padded);
}
