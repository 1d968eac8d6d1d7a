// What the benchmark measures: a kernel over a shape, with data of one kind.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/layout.hpp"

namespace kiln::bench {

// What the inputs hold. Integers have fitting analogues (data.hpp).
enum class DataKind : unsigned char {
  kUniform,   // 0 to 1
  kNormal,    // mean 0, deviation 1
  kNegative,  // -1 to 0
  kSpecial,   // normal, with 1% of NaN, infinities, zeros and subnormals
};
inline constexpr DataKind kDataKinds[] = {DataKind::kUniform, DataKind::kNormal,
                                          DataKind::kNegative, DataKind::kSpecial};
std::string_view name(DataKind kind);

// How the strided operands lie.
enum class View : unsigned char { kContiguous, kTransposed, kPermuted, kNarrowed, kBroadcast };
std::string_view name(View view);

// What convolutions, pools and their like do beside the image's dims. Of size 0: the family's
// usual.
struct Windows {
  std::size_t channels = 0;  // of the output, where it may have others
  std::size_t size = 0;      // of a window, in each dim; of upsampling, how many times larger
  std::size_t stride = 1, padding = 0;
};

struct BenchCase {
  std::string kernel;
  ops::Extents dims;
  // One list for each strided operand, in the family's order (families.cpp); none: contiguous.
  std::vector<ops::Extents> strides;
  std::vector<double> scalars;
  Windows windows;
  std::size_t places = 0;  // of a dim that ids choose from; 0: as many as there are ids
  DataKind kind = DataKind::kUniform;
  View view = View::kContiguous;
  std::string shape;  // "2^22", "transposed 512x512"
  ops::Gpu gpu;       // that our launches are planned for

  std::size_t count() const;  // of elements: the product of the dims
  std::string name() const;   // "ugelu_f32 2^22 normal"
};

// A power of two as "2^22", any other number in digits.
std::string count_name(std::size_t count);
// "1000x77".
std::string dims_name(const ops::Extents& dims);
BenchCase contiguous_case(std::string kernel, std::size_t count,
                          DataKind kind = DataKind::kUniform);

}  // namespace kiln::bench
