// How tensors of quantized blocks are made floats. For host programs alone.
#pragma once

namespace kiln::tuning {

// So many values of blocks of 256 are taken by blocks of threads with several along y, where a
// thread decodes 16 or 32 values; fewer by one thread for each four or eight.
//
// H200, microseconds to f16 and to f32, by four or eight values and by more:
//                       Q2_K                     Q4_K                     Q6_K
//   64 x 1024      1.18 1.64  1.15 1.34     1.41 1.38  1.32 1.31     1.22 1.76  1.20 1.40
//   4096 x 4096    18.3 10.6  25.0 20.4     13.3 11.7  21.4 21.3     24.0 13.6  26.3 22.9
//   14336 x 4096   60.5 36.8  83.9 67.6     45.6 38.4  69.2 69.3     80.3 43.4  86.1 74.3
inline constexpr unsigned long long kLargeTensor = 1ull << 20;

// Up to so many the reference's geometry is our own, too: 4,096 values of Q5_0 to f16 take 1.43
// microseconds by fewer, larger blocks and 1.25 by its, of Q4_K 1.42 and 1.30 (H200).
inline constexpr unsigned long long kSmallTensor = 1ull << 12;

}  // namespace kiln::tuning
