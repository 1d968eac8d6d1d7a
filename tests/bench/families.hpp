// How each family of kernels is launched: what a case reads and writes, our launch for it, and the
// original's.
//
// Which kernels there are, of which types and at what cost, the kernels' tables say
// (ops/src/own_kernels.hpp). To add a family, add a row to family_maps.cpp or its neighbours.
#pragma once

#include <string_view>
#include <vector>

#include "kiln/ops/launch.hpp"
#include "kiln/result.hpp"
#include "ops/src/own_kernels.hpp"
#include "tests/bench/cases.hpp"

namespace kiln::bench {

struct Operand {
  ops::DType dtype = ops::DType::kF32;
  ops::Layout layout;
  std::size_t below = 0;  // whole numbers from 0 on, all less than this; 0: of the case's kind
  std::size_t used = 0;   // elements that are read or written; 0: all

  std::size_t bytes() const;    // from the first element to the last
  std::size_t touched() const;  // bytes that have to be read or written; a repeated element once
};
struct Operands {
  std::vector<Operand> inputs;
  Operand output;

  double min_bytes() const;
  bool is_contiguous() const;
};

using ops::Cost;

// What the time of large cases should go to.
enum class Bound : unsigned char { kMemory, kArithmetic };

struct KernelTraits {
  std::string_view module;
  std::string_view family;              // "unary", "copy2d": kernels that are launched alike
  ops::DType dtype = ops::DType::kF32;  // of its first input, or of its output
  Cost cost = Cost::kBrief;
  Bound bound = Bound::kMemory;
  bool data_matters = true;
  std::size_t largest = 0;  // count to measure with
  std::size_t scalars = 0;
  bool has_views = false;            // takes the strides of its operands
  std::size_t strided = 0;           // the operand that views are measured with
  std::vector<ops::Extents> shapes;  // to measure beside the sizes
  bool is_planned = false;           // our helpers can launch it
  bool has_original = true;
};
// An error names a kernel that no family knows.
Result<KernelTraits> traits_of(std::string_view kernel);

// A case of about `count` elements, contiguous where the family has such: copy2d has rows of a
// wider matrix as its output.
Result<BenchCase> sized_case(std::string_view kernel, std::size_t count,
                             DataKind kind = DataKind::kUniform);

struct Addresses {
  std::vector<const void*> inputs;
  void* output = nullptr;
};
Result<Operands> operands_of(const BenchCase& subject);
// The launch that our helpers plan.
Result<ops::Launch> plan_ours(const BenchCase& subject, const Addresses& addresses,
                              ops::Geometry geometry);
// The original's own launch, made without our helpers. Error: kUnavailable, there is no original.
Result<ops::Launch> plan_original(const BenchCase& subject, const Addresses& addresses);

}  // namespace kiln::bench
