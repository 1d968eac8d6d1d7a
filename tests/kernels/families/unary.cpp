// u<op>_<T>: out[i] = op(inp[idx(i)]). The operations themselves are in unary_reference.cpp.
#include "kiln/ops/unary.hpp"

#include <memory>

#include "tests/kernels/elementwise.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/families/unary_reference.hpp"
#include "tests/kernels/memo.hpp"

namespace kiln::conformance {
namespace {

std::optional<ops::UnaryOp> find_op(std::string_view root) {
  for (const ops::UnaryOpInfo& each : ops::kUnaryOps) {
    if (each.root == root) return each.op;
  }
  return std::nullopt;
}

// Successive cases use successive parameters.
std::vector<double> parameters_of(ops::UnaryOp op) {
  if (op == ops::UnaryOp::kElu) return {1, 0.3, -2};
  if (op == ops::UnaryOp::kPower) return {2.3, 2, -1.5, 0.5, 3, 0, 1};
  return {0};
}

}  // namespace

bool add_unary_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const std::optional<ops::UnaryOp> op = find_op(parts->root);
  if (!op) return false;
  const DType dtype = parts->dtype;
  if (!is_float(dtype) && *op != ops::UnaryOp::kCopy) return false;

  std::vector<ElementwiseKernel> kernels;  // one for each parameter
  for (const double value : parameters_of(*op)) {
    const Bits parameter = is_float(dtype) ? encode(dtype, value) : 0;
    ElementwiseKernel subject;
    subject.name = kernel;
    subject.inputs = {dtype};
    subject.output = dtype;
    subject.in_place = true;
    subject.takes_rows_of_blocks =
        subject.output != DType::kF64;  // which may go by single elements
    subject.plan = [=, op = *op](const std::vector<View>& inputs, void* out, ops::Geometry geometry,
                                 const ops::Gpu& gpu) {
      ops::Unary call;
      call.op = op;
      call.dtype = dtype;
      call.layout = inputs[0].layout;
      call.inp = inputs[0].data;
      call.out = out;
      call.parameter = ops::Scalar::of_bits(dtype, parameter);
      call.geometry = geometry;
      call.rearranged = ops::Rearranged::kNever;
      return plan(call, gpu);
    };
    if (*op == ops::UnaryOp::kCopy) {
      subject.reference = [](const Bits* inputs) { return Expected::exactly(inputs[0]); };
    } else {
      auto memo = std::make_shared<Memo>(
          dtype, [=, op = *op](Bits inp) { return unary_reference(op, dtype, inp, parameter); });
      subject.reference = [memo](const Bits* inputs) { return (*memo)(inputs[0]); };
    }
    kernels.push_back(std::move(subject));
  }
  std::size_t turn = wanted.draw != nullptr ? wanted.draw->below(kernels.size()) : 0;
  for (const Variant& variant : variants_of(kernels[0], wanted)) {
    if (kernels.size() > 1 &&
        (variant.values == ValueSet::kAll || variant.views[0].name == "contiguous/n=8193")) {
      // The cases with the most values use every parameter.
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        cases.push_back(elementwise_case(kernels[i], variant, "/parameter=" + std::to_string(i)));
      }
    } else {
      cases.push_back(elementwise_case(kernels[turn++ % kernels.size()], variant));
    }
  }
  return true;
}

}  // namespace kiln::conformance
