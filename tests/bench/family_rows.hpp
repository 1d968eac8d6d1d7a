// A family as a row: everything that the benchmark knows of kernels that are launched alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/families.hpp"

namespace kiln::bench {

// What a parameter of an original kernel holds.
enum class Role : unsigned char {
  kCount,      // elements, in 64 bits
  kRank,       // dims of the layout block; 1 where there is none
  kInfo,       // the layout block: dims, then each operand's strides
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
  kRowStride32,  // how far apart rows are by stride list `index`, in 32 bits
};
struct Parameter {
  Role role;
  std::size_t index = 0;
};

using Kernel = ops::OwnKernel;

struct Family {
  std::string_view name;             // the family of kernels in the tables, with as many scalars
  std::string_view root = {};        // of kernels of this root alone; empty: of all
  std::vector<double> scalars = {};  // to measure with, where a case names none
  Bound bound = Bound::kMemory;
  Bound (*bound_of)(const Kernel& kernel) = nullptr;  // where it is not the same for all kernels
  bool data_matters = true;                           // its time may depend on what the inputs hold
  std::size_t largest = std::size_t{1} << 28;         // count to measure with
  bool is_for_views = false;  // large ones of another family, and measured with that
  std::size_t views = 0;     // stride lists of the layout block; 0: there is no such block
  bool always_info = false;  // the layout block is there when all is contiguous, too
  bool sums_last = false;    // it ends in the size and row-major stride of the last dim
  std::size_t strided = 0;   // the operand that views are measured with
  std::vector<ops::Extents> shapes = {};  // to measure beside the sizes
  std::vector<ops::Extents> (*shapes_of)(const Kernel& kernel) = nullptr;  // the kernel's own
  // Null: a contiguous case.
  BenchCase (*sized)(std::string kernel, std::size_t count) = nullptr;
  Operands (*operands)(const Kernel& kernel, const BenchCase& subject);
  // Null: our helpers do not plan it.
  Result<ops::Launch> (*plan)(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry geometry) = nullptr;
  // Makes inputs that all launches of a case read; of a case without such, nothing. Null: none has.
  Result<std::optional<ops::Launch>> (*first)(const BenchCase& subject,
                                              const Addresses& addresses) = nullptr;
  // Makes an input that the launch reads of one that it does not. Null: none is made.
  Result<ops::Launch> (*before)(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses) = nullptr;
  // What the names of its originals begin with, in place of the root of a name of our own.
  std::string_view original_root = {};
  bool is_choice = false;  // whose plan is this kernel or the one of the original's name, by the case
  // Empty, and no launch below: there is no original.
  std::vector<Parameter> original = {};
  // In place of these: sets arguments and layout, and the grid where it is another one.
  void (*launch_original)(const BenchCase& subject, const Addresses& addresses,
                          ops::Launch& launch) = nullptr;
  // Null: blocks of 1024 threads, one element a thread.
  void (*original_grid)(const BenchCase& subject, ops::Launch& launch) = nullptr;
};

// The rows, by what they have in common.
std::vector<Family> map_families();        // family_maps.cpp: an output element for each index
std::vector<Family> memory_families();     // family_memory.cpp: constants and copies of rows
std::vector<Family> row_families();        // family_rows.cpp: rows at a time
std::vector<Family> norm_families();       // family_norms.cpp: norms and rotary embedding
std::vector<Family> index_families();      // family_index.cpp: elements by ids
std::vector<Family> window_families();     // family_windows.cpp: convolutions, pools, upsampling
std::vector<Family> fused_families();      // family_fused.cpp: our own products with these
std::vector<Family> quantized_families();  // family_quantized.cpp: blocks of GGUF files

// For rows: the layout of stride list `list`, contiguous where the case has none; and scalar `i`.
ops::Layout layout_of(const BenchCase& subject, std::size_t list);
ops::Scalar scalar_of(const Kernel& kernel, const BenchCase& subject, std::size_t i);

}  // namespace kiln::bench
