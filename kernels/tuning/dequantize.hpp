// How tensors of quantized blocks become floats. For host programs only.
#pragma once

namespace kiln::tuning {

// From this many values, in blocks of 256, thread blocks have several threads along y, and a thread
// decodes 16 or 32 values. In smaller tensors a thread decodes four or eight values.
//
// Measured on an H200, in us, to f16 and to f32; each pair: four or eight values, 16 or 32 values:
//                       Q2_K                     Q4_K                     Q6_K
//   64 x 1024      1.18 1.64  1.15 1.34     1.41 1.38  1.32 1.31     1.22 1.76  1.20 1.40
//   4096 x 4096    18.3 10.6  25.0 20.4     13.3 11.7  21.4 21.3     24.0 13.6  26.3 22.9
//   14336 x 4096   60.5 36.8  83.9 67.6     45.6 38.4  69.2 69.3     80.3 43.4  86.1 74.3
inline constexpr unsigned long long kLargeTensor = 1ull << 20;

// Up to this many values in blocks of 256, or bytes of output from smaller blocks, kiln's own
// geometry is the reference geometry. Fewer, larger blocks of threads take longer.
//
// Measured on an H200, in us; each pair: larger blocks, reference geometry: 4,096 values of Q4_K to
// f16 1.42, 1.30;
//                 8,192        19,968       32,768       65,536       131,072 values
//   Q4_0 to f16   1.22 1.06    1.27 1.09    1.42 1.25    1.60 1.56    1.64 1.64
//   Q5_0 to f16   1.25 1.06    1.29 1.11    1.47 1.21    1.58 1.57    1.69 1.67
//   Q4_1 to f32   1.15 1.06    1.39 1.32    1.49 1.50    1.54 1.55    1.59 1.63
inline constexpr unsigned long long kSmallTensor = 1ull << 12, kSmallOutput = 1ull << 17;

// From so many threads on, of eight values each, as many as the device holds go over all values that become
// f16, but for those of Q8_0. Fewer threads, and all that make f32, take eight values and exit.
//
// H100, microseconds, resident threads -> a thread for every eight values:
//            2^24 to f16     2^27 to f16    2^24 to f32     2^27 to f32
//   Q4_0     17.0 -> 16.4    126 -> 134     29.6 -> 27.8    232 -> 211
//   Q5_1     17.9 -> 17.4    136 -> 142     30.9 -> 28.9    241 -> 219
//   MXFP4    17.9 -> 17.3    131 -> 136     30.1 -> 27.7    234 -> 209
//   Q8_0     20.9 -> 19.4    156 -> 140     34.9 -> 31.4    263 -> 236
inline constexpr unsigned long long kManyDequantized = 1ull << 22;

}  // namespace kiln::tuning
