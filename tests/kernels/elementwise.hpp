// The cases of element-wise kernels: every layout of the inputs, alignment of pointers, aliasing,
// and grid.
//
// For kernels that read one or more strided operands of the same dims and write a contiguous output
// with as many elements. This file does not know what the kernel computes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "case.hpp"
#include "views.hpp"
#include "wanted.hpp"

namespace kiln::conformance {

enum class Alias : std::uint8_t {
  kNone,     // the operands do not overlap
  kSame,     // inp == out
  kNullInp,  // inp is null: the kernel works in place
};
enum class ValueSet : std::uint8_t {
  kMixed,
  // Every value of the first input, if it has 8 or 16 bits. For two inputs of 8 bits, every pair.
  kAll,
};

struct Variant {
  std::string name;
  std::vector<NamedLayout> views;          // of each input; all have the same dims
  std::vector<std::size_t> misalignments;  // of each input, then of the output; empty: all aligned
  Alias alias = Alias::kNone;
  GridChoice grid;
  ValueSet values = ValueSet::kMixed;
  bool empty = false;  // the element count is 0, and the kernel must write nothing

  std::size_t work() const { return grid.work(count_of(views[0].layout)); }
};

// An input in the form that the launch helpers take.
struct View {
  ops::Layout layout;
  const void* data;
};

// A kernel that takes the element count as its first argument.
struct ElementwiseKernel {
  std::string name;
  std::vector<DType> inputs;
  DType output = DType::kU8;
  std::vector<std::string> input_names = {"inp"};
  bool in_place = false;              // `out` may be the input, or the input may be null
  bool takes_rows_of_blocks = false;  // its grid may be two-dimensional
  bool first_is_condition = false;    // half of the elements of the first input are 0
  std::function<Result<ops::Launch>(const std::vector<View>&, void* out, ops::Geometry,
                                    const ops::Gpu&)>
      plan;
  // Returns the permitted values of the output for these inputs.
  std::function<Expected(const Bits* inputs)> reference;
};

// Returns the variants for a kernel with such inputs; a single one if it is drawn.
std::vector<Variant> variants_of(const ElementwiseKernel& kernel, const Wanted& wanted);

// Returns the case of a variant. Its name consists of the names of the kernel and of the variant,
// and `suffix`.
CaseSpec elementwise_case(const ElementwiseKernel& kernel, const Variant& variant,
                          const std::string& suffix = "");

// Adds a case for each variant.
void add_elementwise_cases(const ElementwiseKernel& kernel, const Wanted& wanted,
                           std::vector<CaseSpec>& cases);

// For a kernel of kiln's own that serves only some views: adds a case for each variant for which
// `plan` chooses it. Variants are drawn until there is one.
void add_chosen_cases(const ElementwiseKernel& kernel, const Wanted& wanted,
                      std::vector<CaseSpec>& cases);

}  // namespace kiln::conformance
