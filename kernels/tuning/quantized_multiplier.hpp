// When products with quantized weights go by the vendor's matrix library. For host programs alone.
#pragma once

namespace kiln::tuning {

// `is_plain`: of f16 to f16, without a gate. `has_short_runs`: a scale for 16 weights, which takes our
// kernels longer.
//
// H200, cuBLAS 13, microseconds of all launches, one by one: our kernels and the library's way, of
// f32 to f32:
//                         Q4_0           Q8_0           Q4_K           Q6_K
//   4096 x 4096 by 16    22.2  30.6     30.8  34.0     25.8  30.4     29.7  31.9
//   4096 x 4096 by 32    28.2  31.7     32.1  34.6     29.6  31.3     38.4  33.4
//   4096 x 4096 by 64    32.8  30.7     37.0  33.5     35.7  30.3     42.4  32.5
//   4096 x 4096 by 512    110  51.4      121  53.2      133  50.8      159  52.0
//   14336 x 4096 by 48   62.3  86.3     71.7  94.0     76.4  83.7     90.0  87.8
//   14336 x 4096 by 64   64.4  86.2     73.7  93.8     78.9  83.3     90.9  87.6
//   14336 x 4096 by 80   97.0  87.6      108  95.7      115  84.7      140  89.0
//   14336 x 4096 by 512   359   145      396   154      434   143      521   147
//   4096 x 14336 by 32   80.5  92.2                                    118  94.0
//   4096 x 14336 by 64   93.2  96.5                                    130  96.9
//   1024 x 4096 by 16    11.8  22.3                                   18.6  24.7
//   1024 x 4096 by 32    23.8  22.0                                   36.4  23.2
//   1024 x 1024 by 512   15.6  19.6                                   19.5  18.7
//   128256 x 4096 by 64   388   661
//   128256 x 4096 by 128  750   667
// of f16 to f16:
//   4096 x 4096 by 32    29.2  25.1     33.2  27.2     31.4  25.5     40.0  34.1
constexpr bool prefers_library(unsigned long long rows, unsigned long long columns,
                               unsigned long long vectors, bool is_plain, bool has_short_runs) {
  if (rows * columns < 1u << 22) return vectors >= 512;
  if (has_short_runs) return vectors >= (rows < 8192 ? 24 : 48);
  if (rows >= 8192) return vectors >= 80;
  return vectors >= (rows <= 1024 ? 24 : is_plain ? 32 : 64);
}

}  // namespace kiln::tuning
