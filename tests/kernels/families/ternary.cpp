// where_<C>_<T>, where_tiles_<C>_<T>: out[i] = ids[idx(i)] != 0 ? t[idx(i)] : f[idx(i)], bit by
// bit.
#include "kiln/ops/ternary.hpp"

#include "tests/kernels/elementwise.hpp"
#include "tests/kernels/families/family.hpp"

namespace kiln::conformance {
bool add_ternary_cases(std::string_view kernel, const Wanted& wanted,
                       std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> value = split_dtype(kernel);
  if (!value) return false;
  const std::optional<RootAndDType> condition = split_dtype(value->root);
  if (!condition) return false;
  const bool tiled = condition->root == "where_tiles";
  if (!tiled && condition->root != "where") return false;
  const DType condition_dtype = condition->dtype, dtype = value->dtype;

  ElementwiseKernel subject;
  subject.name = kernel;
  subject.inputs = {condition_dtype, dtype, dtype};
  subject.output = dtype;
  subject.input_names = {"ids", "t", "f"};
  subject.first_is_condition = true;
  subject.plan = [=](const std::vector<View>& inputs, void* out, ops::Geometry geometry,
                     const ops::Gpu& gpu) {
    ops::Where call;
    call.condition_dtype = condition_dtype;
    call.dtype = dtype;
    call.condition_layout = inputs[0].layout;
    call.true_layout = inputs[1].layout;
    call.false_layout = inputs[2].layout;
    call.condition = inputs[0].data;
    call.on_true = inputs[1].data;
    call.on_false = inputs[2].data;
    call.out = out;
    call.geometry = geometry;
    call.tiles = tiled ? ops::Tiles::kAlways : ops::Tiles::kNever;
    return plan(call, gpu);
  };
  subject.reference = [](const Bits* inputs) {
    return Expected::exactly(inputs[0] != 0 ? inputs[1] : inputs[2]);
  };
  if (tiled) {
    add_chosen_cases(subject, wanted, cases);
  } else {
    add_elementwise_cases(subject, wanted, cases);
  }
  return true;
}

Contracts ternary_contracts() {
  return {{"where", "condition ≠ 0 ? t : f", "", "exact", "NaN payloads stay",
           "Kept: the layout block is never null."},
          {"where_tiles", "condition ≠ 0 ? t : f", "", "exact", "NaN payloads stay",
           "A name of our own, for large views: tile by tile, for any type of that size."}};
}

}  // namespace kiln::conformance
