// A family as a row: everything that the benchmark knows about kernels with the same kind of
// launch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/families.hpp"

namespace kiln::bench {

// The content of a parameter of an original kernel.
enum class Role : unsigned char {
  kCount,      // number of elements, in 64 bits
  kRank,       // number of dims in the layout block; 1 if there is no block
  kInfo,       // the layout block: dims, then the strides of each operand
  kInput,      // the address of input `index`
  kOutput,     // the address of the output
  kScalar,     // scalar `index`, of the kernel's dtype
  kDim32,      // dim `index`, in 32 bits
  kColumns,    // the last dim, in 64 bits
  kColumns32,  // the same in 32 bits
  kPaddedColumns32,  // the next power of two, in 32 bits
  kProduct32,  // dims `index` and `index` + 1 multiplied, in 32 bits
  kBlock32,    // threads in a block
  kEpsilon,    // 1e-5 as an f32
  kOne,        // in 64 bits
  kZero32,
  kRowStride32,  // the stride of rows in stride list `index`, in 32 bits
};
struct Parameter {
  Role role;
  std::size_t index = 0;
};

using Kernel = ops::OwnKernel;

struct Family {
  std::string_view name;             // the family of kernels in the tables, with as many scalars
  std::string_view root = {};        // only kernels of this root; empty: all
  std::vector<double> scalars = {};  // to measure with, if a case has none
  Bound bound = Bound::kMemory;
  Bound (*bound_of)(const Kernel& kernel) = nullptr;  // if it differs between kernels
  bool data_matters = true;                           // the time may depend on the inputs
  std::size_t max_count = std::size_t{1} << 28;       // largest count to measure with
  bool is_for_views = false;  // for large views of another family, with which it is measured
  std::size_t views = 0;     // number of stride lists in the layout block; 0: no such block
  bool always_info = false;  // there is a layout block even if all operands are contiguous
  bool sums_last = false;    // the block ends in the size and the row-major stride of the last dim
  std::size_t strided = 0;   // the operand that has the views to measure
  std::vector<ops::Extents> shapes = {};  // to measure in addition to the sizes
  std::vector<ops::Extents> (*shapes_of)(const Kernel& kernel) = nullptr;  // shapes for one kernel
  // Null: a contiguous case.
  BenchCase (*sized)(std::string kernel, std::size_t count) = nullptr;
  Operands (*operands)(const Kernel& kernel, const BenchCase& subject);
  // Null: kiln's helpers do not plan it.
  Result<ops::Launch> (*plan)(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry geometry) = nullptr;
  // Makes inputs that all launches of a case read; returns nothing if the case has no such inputs.
  // Null: no case has.
  Result<std::optional<ops::Launch>> (*first)(const BenchCase& subject,
                                              const Addresses& addresses) = nullptr;
  // Makes an input of the launch from an operand that the launch itself does not read. Null: no
  // such input.
  Result<ops::Launch> (*before)(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses) = nullptr;
  // The root of the original's name, in place of the root of kiln's own name.
  std::string_view original_root = {};
  bool is_choice = false;  // the plan may use the kernel with the original's name instead
  // The parameters of the original. Empty, and no launch_original: there is no original.
  std::vector<Parameter> original = {};
  // Used instead of `original`: sets the arguments, the layout, and the grid if it differs.
  void (*launch_original)(const BenchCase& subject, const Addresses& addresses,
                          ops::Launch& launch) = nullptr;
  // Null: blocks of 1024 threads, one element a thread.
  void (*original_grid)(const BenchCase& subject, ops::Launch& launch) = nullptr;
};

// The rows, grouped by access pattern.
std::vector<Family> map_families();        // family_maps.cpp: an output element for each index
std::vector<Family> memory_families();     // family_memory.cpp: constants and copies of rows
std::vector<Family> row_families();        // family_rows.cpp: rows at a time
std::vector<Family> norm_families();       // family_norms.cpp: norms and rotary embedding
std::vector<Family> index_families();      // family_index.cpp: elements by ids
std::vector<Family> window_families();     // family_windows.cpp: convolutions, pools, upsampling
std::vector<Family> fused_families();      // family_fused.cpp: kiln's own products
std::vector<Family> quantized_families();  // family_quantized.cpp: blocks of GGUF files

// For the rows: the layout of stride list `list`, contiguous if the case has none; and scalar `i`.
ops::Layout layout_of(const BenchCase& subject, std::size_t list);
ops::Scalar scalar_of(const Kernel& kernel, const BenchCase& subject, std::size_t i);

}  // namespace kiln::bench
