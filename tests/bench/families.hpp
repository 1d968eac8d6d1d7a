// How each family of kernels is launched: what a case reads and writes, our launch for it, and the
// original's.
//
// Which kernels there are, of which types and at what cost, the kernels' tables say
// (ops/src/own_kernels.hpp). To add a family, add a row to family_maps.cpp or its neighbours.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kiln/ops/launch.hpp"
#include "kiln/result.hpp"
#include "ops/src/own_kernels.hpp"
#include "tests/bench/cases.hpp"
#include "tests/bench/data.hpp"

namespace kiln::bench {

struct Operand {
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);

  ops::DType dtype = ops::DType::kF32;
  ops::Layout layout;
  std::size_t below = 0;    // whole numbers from 0 on, all less than this; 0: of the case's kind
  std::size_t used = kAll;  // elements that are read or written
  Numbers numbers = Numbers::kRandom;
  std::string_view blocks = {};  // u8: blocks of this format (data.hpp)

  std::size_t bytes() const;    // from the first element to the last
  std::size_t touched() const;  // bytes that have to be read or written; a repeated element once
  std::size_t unit() const;     // bytes that do not make sense apart: an element, or a block
};
// What an operand of a case holds, in about `count` elements: whole units.
std::vector<std::byte> content_of(const Operand& operand, DataKind kind, std::size_t count);
struct Operands {
  std::vector<Operand> inputs;
  Operand output;

  double min_bytes() const;
  bool is_contiguous() const;
};

using ops::Cost;

// What the time of large cases should go to.
enum class Bound : unsigned char { kMemory, kArithmetic, kReads };

struct KernelTraits {
  std::string_view module;
  std::string_view family;              // "unary", "copy2d": kernels that are launched alike
  ops::DType dtype = ops::DType::kF32;  // of its first input, or of its output
  Cost cost = Cost::kBrief;
  Bound bound = Bound::kMemory;
  bool data_matters = true;
  std::size_t largest = 0;  // count to measure with
  std::size_t scalars = 0;
  bool is_for_views = false;         // of another family, and measured with that
  bool has_views = false;            // takes the strides of its operands
  std::size_t strided = 0;           // the operand that views are measured with
  std::vector<ops::Extents> shapes;  // to measure beside the sizes
  // The same for this kernel, whether or not another one stands for it elsewhere.
  std::vector<ops::Extents> own_shapes;
  bool has_step_before = false;  // see plan_before
  bool is_planned = false;       // our helpers can launch it
  bool has_original = true;
  bool stands_for_original = false;  // a name of our own, beside the one that the original has
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
// What is run once for a case, and makes inputs of its launches. Nothing where none is needed.
Result<std::optional<ops::Launch>> plan_first(const BenchCase& subject, const Addresses& addresses);
// What prepares an input of that launch: a product's activations. Nothing where none is needed.
Result<std::optional<ops::Launch>> plan_before(const BenchCase& subject,
                                               const Addresses& addresses);
// Whether our helpers take this kernel for the case, where they choose between a kernel of our own and
// the one of the original's name.
Result<bool> is_chosen(const BenchCase& subject, const Addresses& addresses);
// The original's own launch, made without our helpers. Error: kUnavailable, there is no original.
Result<ops::Launch> plan_original(const BenchCase& subject, const Addresses& addresses);

}  // namespace kiln::bench
