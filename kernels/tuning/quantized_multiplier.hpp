// Chooses the products with quantized weights that use the vendor's matrix library. For host
// programs only.
#pragma once

namespace kiln::tuning {

// True if the library's way is faster than kiln's kernels. `is_slow`: kiln's kernels take longer
// than for most formats (Q2_K, Q3_K, Q6_K, MXFP4). `is_plain`: f16 to f16, without a gate.
// `by_groups`: kiln's kernels use warp groups, with f16 vectors (half_products.hpp). The library's
// way takes four launches, or two for plain products. For small matrices, launched one by one,
// these take 20 us whatever they do.
//
// Measured on an H200 with cuBLAS 13, in us, all launches, f32 to f32; each pair: kiln's kernels
// with Q8_1, the library's way. With warp groups and half_rows, kiln's kernels take some 24 and 27
// for Q4_0 and Q6_K of 4096 x 4096 by 64, 45 and 50 by 512, and 157 and 175 for 14336 x 4096 by
// 512.
//                          one by one              in a graph
//                          Q4_0        Q6_K        Q4_0        Q6_K
//   1024 x 1024 by 64      10.2  19.9  12.6  19.2   8.6   8.4  11.0   8.7
//   1024 x 1024 by 512     15.6  19.6  19.5  18.7  13.8  10.0  17.7  10.2
//   2048 x 2048 by 17      14.6  20.3  20.4  19.5  12.7  12.4  18.0  12.7
//   2048 x 2048 by 512     36.0  21.1  49.1  21.6  33.4  16.8  46.2  17.0
//   1024 x 4096 by 16      11.8  22.3  18.6  24.7   9.0  13.1  16.1  13.8
//   2048 x 4096 by 17      26.5  24.7  36.8  24.2  24.2  16.8  34.5  17.7
//   4096 x 2048 by 48      19.6  19.2  24.5  20.2  17.3  14.9  22.0  15.8
//   4096 x 4096 by 16      22.2  30.6  29.7  31.9  18.7  26.4  25.8  28.0
//   4096 x 4096 by 24      27.6  31.4  38.7  33.0  25.3  27.1  35.5  28.2
//   4096 x 4096 by 48      31.7  33.1  42.4  34.5  29.4  28.6  39.1  29.6
//   4096 x 4096 by 512      109  50.8   159  51.4   106  44.3   156  45.8
//   6144 x 4096 by 48      40.9  41.8  56.0  44.0  37.7  35.7  53.0  37.9
//   14336 x 4096 by 32     47.8  85.0  65.0  86.7  45.1  80.1  62.0  81.6
//   14336 x 4096 by 64     64.4  86.2  90.9  87.6  61.5  81.3  88.0  82.7
//   14336 x 4096 by 80     97.0  87.6   140  89.0  94.1  81.7   136  83.0
//   14336 x 4096 by 512     359   145   521   147   353   140   523   141
//   128256 x 4096 by 48                 570   714               564   684
//   128256 x 4096 by 80     602   711               599   679
//   128256 x 4096 by 128    742   730               838   699
// On an H100, whose memory is slower:
//   4096 x 4096 by 64      32.7  34.9  42.6  37.1  29.5  29.1  39.0  31.3
//   4096 x 14336 by 48     92.8   116   131   120  88.8   110   127   114
//   14336 x 4096 by 33     61.6   111  87.9   116  58.2   105  84.0   109
//   14336 x 4096 by 65     95.6   112   139   117  91.9   106   135   109
//   14336 x 4096 by 512     351   164   514   167   353   157   518   161
//   128256 x 4096 by 128    742   963               738   932
// f16 to f16, one by one, Q4_K:  4096 x 4096 by 32: 30.9  23.7.
constexpr bool prefers_library(unsigned long long rows, unsigned long long columns,
                               unsigned long long vectors, bool is_slow, bool is_plain,
                               bool by_groups) {
  if (by_groups) return vectors >= 512;
  const unsigned long long weights = rows * columns;
  if (weights < 1u << 22) return vectors >= 512;
  if (rows >= 1u << 15) return vectors >= 129;
  if (rows >= 1u << 13) return vectors >= 65;
  if (is_slow || (rows <= 2048 && columns >= 4096)) return vectors >= 17;
  if (weights > 1u << 25) return vectors >= 65;
  if (weights < 1u << 23) return vectors >= 128;
  return vectors >= (is_plain ? 32 : 48);
}

}  // namespace kiln::tuning
