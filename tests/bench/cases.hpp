// The cases of the benchmark: a kernel with a shape and a kind of data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/layout.hpp"

namespace kiln::bench {

// The contents of the inputs. Integers have corresponding ranges (data.hpp).
enum class DataKind : unsigned char {
  kUniform,   // 0 to 1
  kNormal,    // mean 0, deviation 1
  kNegative,  // -1 to 0
  kSpecial,   // normal, with 1% of NaN, infinities, zeros and subnormals
};
inline constexpr DataKind kDataKinds[] = {DataKind::kUniform, DataKind::kNormal,
                                          DataKind::kNegative, DataKind::kSpecial};
std::string_view name(DataKind kind);

// The layout of the strided operands.
enum class View : unsigned char { kContiguous, kTransposed, kPermuted, kNarrowed, kBroadcast };
std::string_view name(View view);

// The parameters of convolutions, pools and the like, in addition to the dims of the image. `size`
// 0: the family's default.
struct Windows {
  std::size_t channels = 0;  // of the output, if they may differ from those of the input
  std::size_t size = 0;      // of a window in each dim; for upsampling, the factor
  std::size_t stride = 1, padding = 0;
};

struct BenchCase {
  std::string kernel;
  ops::Extents dims;
  // A list for each strided operand, in the order of the family (families.cpp); none: contiguous.
  std::vector<ops::Extents> strides;
  std::vector<double> scalars;
  Windows windows;
  std::size_t indexed_size = 0;  // size of the dim that ids index; 0: as large as the number of ids
  DataKind kind = DataKind::kUniform;
  View view = View::kContiguous;
  std::string shape;  // "2^22", "transposed 512x512"
  ops::Gpu gpu;       // that kiln's launches are planned for

  std::size_t count() const;  // number of elements: the product of the dims
  std::string name() const;   // "ugelu_f32 2^22 normal"
};

// Returns a power of two as "2^22", and any other number in digits.
std::string count_name(std::size_t count);
// Returns "1000x77".
std::string dims_name(const ops::Extents& dims);
BenchCase contiguous_case(std::string kernel, std::size_t count,
                          DataKind kind = DataKind::kUniform);

}  // namespace kiln::bench
