// The launches of each family of kernels: what a case reads and writes, kiln's launch for it, and
// the original's.
//
// The kernels' tables (ops/src/own_kernels.hpp) say which kernels exist, with their types and cost.
// To add a family, add a row to family_maps.cpp or one of its neighbours.
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
  std::size_t below = 0;    // integers from 0 to below - 1; 0: values of the case's kind
  std::size_t used = kAll;  // number of elements that are read or written
  Numbers numbers = Numbers::kRandom;
  std::string_view blocks = {};  // u8: blocks of this format (data.hpp)

  std::size_t bytes() const;    // from the first element to the last
  std::size_t touched() const;  // bytes to read or write; a repeated element counts once
  std::size_t unit() const;     // bytes of the smallest meaningful part: an element, or a block
};
// Returns the content of an operand: about `count` elements, as whole units.
std::vector<std::byte> content_of(const Operand& operand, DataKind kind, std::size_t count);
struct Operands {
  std::vector<Operand> inputs;
  Operand output;

  double min_bytes() const;
  bool is_contiguous() const;
};

using ops::Cost;

// The resource that should limit the speed of large cases.
enum class Bound : unsigned char { kMemory, kArithmetic, kReads };

struct KernelTraits {
  std::string_view module;
  std::string_view family;              // "unary", "copy2d": kernels with the same kind of launch
  ops::DType dtype = ops::DType::kF32;  // of its first input, or of its output
  Cost cost = Cost::kBrief;
  Bound bound = Bound::kMemory;
  bool data_matters = true;
  std::size_t max_count = 0;  // largest count to measure with
  std::size_t scalars = 0;
  bool is_for_views = false;         // for views of another family, measured with it
  bool has_views = false;            // takes strides of its operands
  std::size_t strided = 0;           // the operand that has the views to measure
  std::vector<ops::Extents> shapes;  // to measure in addition to the sizes
  // Shapes to measure for this kernel even if another kernel represents it elsewhere.
  std::vector<ops::Extents> own_shapes;
  bool has_step_before = false;  // see plan_before
  bool is_planned = false;       // kiln's helpers can launch it
  bool has_original = true;
  // A kernel under kiln's own name that may be used instead of the one with the original's name.
  bool stands_for_original = false;
};
// Returns an error if no family knows the kernel.
Result<KernelTraits> traits_of(std::string_view kernel);

// Returns a case of about `count` elements, contiguous if the family has contiguous cases. The
// output of copy2d is the rows of a wider matrix.
Result<BenchCase> sized_case(std::string_view kernel, std::size_t count,
                             DataKind kind = DataKind::kUniform);

struct Addresses {
  std::vector<const void*> inputs;
  void* output = nullptr;
};
Result<Operands> operands_of(const BenchCase& subject);
// Returns the launch that kiln's helpers plan.
Result<ops::Launch> plan_ours(const BenchCase& subject, const Addresses& addresses,
                              ops::Geometry geometry);
// Returns a launch that is run once for a case and makes inputs for its launches. Nothing if none
// is needed.
Result<std::optional<ops::Launch>> plan_first(const BenchCase& subject, const Addresses& addresses);
// Returns the launch that prepares an input of that launch: the activations of a product. Nothing
// if none is needed.
Result<std::optional<ops::Launch>> plan_before(const BenchCase& subject,
                                               const Addresses& addresses);
// True if kiln's helpers choose this kernel for the case, where they choose between a kernel under
// kiln's own name and the one with the original's name.
Result<bool> is_chosen(const BenchCase& subject, const Addresses& addresses);
// Returns the original's own launch, made without kiln's helpers. Error: kUnavailable if there is
// no original.
Result<ops::Launch> plan_original(const BenchCase& subject, const Addresses& addresses);

}  // namespace kiln::bench
