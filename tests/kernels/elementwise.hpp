// The cases of element-wise kernels: every way to lay out their inputs, to align their pointers, to
// alias them, and to choose their grid.
//
// For kernels that read one or more strided operands of the same dims and write a contiguous one of
// the same element count. What the kernel computes is not known here.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "case.hpp"
#include "views.hpp"

namespace kiln::conformance {

enum class Alias : std::uint8_t {
  kNone,     // the operands are apart
  kSame,     // inp == out
  kNullInp,  // inp is null: in place
};
enum class ValueSet : std::uint8_t {
  kMixed,
  // Every value of the first input, where it has 8 or 16 bits; of two inputs of 8 bits, every pair.
  kAll,
};

struct Variant {
  std::string name;
  std::vector<NamedLayout> views;          // of each input; their dims are the same
  std::vector<std::size_t> misalignments;  // of each input, then of the output; none: all aligned
  Alias alias = Alias::kNone;
  GridChoice grid;
  ValueSet values = ValueSet::kMixed;
  bool empty = false;  // the kernel is told that there are no elements, and writes none

  std::size_t work() const { return grid.work(count_of(views[0].layout)); }
};

// An input as the launch helper takes it.
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
  bool in_place = false;            // `out` may be the input, or the input null
  bool first_is_condition = false;  // half of the first input's elements are 0
  std::function<Result<ops::Launch>(const std::vector<View>&, void* out, ops::Geometry)> plan;
  // What the output may be where the inputs are these.
  std::function<Expected(const Bits* inputs)> reference;
};

// The variants of a kernel with such inputs.
std::vector<Variant> variants_of(const ElementwiseKernel& kernel, Breadth breadth);

// The case of a variant; its name is the kernel's, the variant's, and `suffix`.
CaseSpec elementwise_case(const ElementwiseKernel& kernel, const Variant& variant,
                          const std::string& suffix = "");

// A case for each variant.
void add_elementwise_cases(const ElementwiseKernel& kernel, Breadth breadth,
                           std::vector<CaseSpec>& cases);

// Of a kernel of our own for some views: a case for each variant that `plan` launches it for.
void add_chosen_cases(const ElementwiseKernel& kernel, Breadth breadth,
                     std::vector<CaseSpec>& cases);

}  // namespace kiln::conformance
