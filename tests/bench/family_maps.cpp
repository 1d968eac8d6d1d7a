#include "kiln/ops/affine.hpp"
#include "kiln/ops/binary.hpp"
#include "kiln/ops/cast.hpp"
#include "kiln/ops/ternary.hpp"
#include "kiln/ops/unary.hpp"
#include "tests/bench/family_rows.hpp"

namespace kiln::bench {
namespace {

Operands map_operands(const Kernel& kernel, const BenchCase& subject) {
  return {{{kernel.first, layout_of(subject, 0)}}, {kernel.dtype, {subject.dims}}};
}

const std::vector<Parameter> kMapParameters = {
    {Role::kCount}, {Role::kRank}, {Role::kInfo}, {Role::kInput}, {Role::kOutput}};
const std::vector<Parameter> kTwoInputParameters = {
    {Role::kCount},    {Role::kRank},     {Role::kInfo},
    {Role::kInput, 0}, {Role::kInput, 1}, {Role::kOutput}};

Cost costs_little(const Kernel&) { return Cost::kShort; }

// --- unary

const ops::UnaryOpInfo* unary_op(std::string_view root) {
  for (const ops::UnaryOpInfo& op : ops::kUnaryOps) {
    if (root.substr(0, 1) == "u" && root.substr(1) == op.name) return &op;
  }
  return nullptr;
}

Cost unary_cost(const Kernel& kernel) {
  static constexpr std::string_view kShort[] = {"uabs",  "uceil",  "ufloor", "uneg",
                                                "urelu", "uround", "usign",  "usqr"};
  if (kernel.root == "ucopy") return Cost::kMove;
  if (kernel.root == "upowf") return Cost::kLong;
  return is_one_of(kernel.root, kShort) ? Cost::kShort : Cost::kFunction;
}

Result<ops::Launch> plan_unary(const Kernel& kernel, const BenchCase& subject,
                               const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::Unary{unary_op(kernel.root)->op, kernel.dtype, layout_of(subject, 0),
                         addresses.inputs[0], addresses.output, scalar_of(kernel, subject, 0),
                         geometry});
}

Result<ops::Launch> plan_affine(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::Affine{kernel.dtype, layout_of(subject, 0), addresses.inputs[0],
                          addresses.output, scalar_of(kernel, subject, 0),
                          scalar_of(kernel, subject, 1), geometry});
}

// --- two and three operands

constexpr std::string_view kArithmetic[] = {"badd", "bsub", "bmul", "bdiv", "bmaximum", "bminimum"};
constexpr std::string_view kComparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

Operands binary_operands(const Kernel& kernel, const BenchCase& subject) {
  const bool compares = is_one_of(kernel.root, kComparisons);
  return {{{kernel.dtype, layout_of(subject, 0)}, {kernel.dtype, layout_of(subject, 1)}},
          {compares ? ops::DType::kU8 : kernel.dtype, {subject.dims}}};
}

Operands where_operands(const Kernel& kernel, const BenchCase& subject) {
  return {{{kernel.first, layout_of(subject, 0), true},
           {kernel.dtype, layout_of(subject, 1)},
           {kernel.dtype, layout_of(subject, 2)}},
          {kernel.dtype, {subject.dims}}};
}

Result<ops::Launch> plan_cast(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::Cast{kernel.first, kernel.dtype, layout_of(subject, 0), addresses.inputs[0],
                        addresses.output, geometry});
}

Result<ops::Launch> plan_binary(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  ops::Binary call;
  for (const ops::BinaryOpInfo& op : ops::kBinaryOps) {
    if (op.root == kernel.root) call.op = op.op;
  }
  call.dtype = kernel.dtype;
  call.lhs_layout = layout_of(subject, 0);
  call.rhs_layout = layout_of(subject, 1);
  call.lhs = addresses.inputs[0];
  call.rhs = addresses.inputs[1];
  call.out = addresses.output;
  call.geometry = geometry;
  return plan(call);
}

Result<ops::Launch> plan_where(const Kernel& kernel, const BenchCase& subject,
                               const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::Where{kernel.first, kernel.dtype, layout_of(subject, 0), layout_of(subject, 1),
                         layout_of(subject, 2), addresses.inputs[0], addresses.inputs[1],
                         addresses.inputs[2], addresses.output, geometry});
}

}  // namespace

std::vector<Family> map_families() {
  return {
      {.name = "affine",
       .module = "affine",
       .has = [](std::string_view root) { return root == "affine"; },
       .cost = costs_little,
       .scalars = {1.7, 0.3},
       .views = 1,
       .operands = map_operands,
       .plan = plan_affine,
       .original = {{Role::kCount},
                    {Role::kRank},
                    {Role::kInfo},
                    {Role::kInput},
                    {Role::kOutput},
                    {Role::kScalar, 0},
                    {Role::kScalar, 1}}},

      {.name = "unary",
       .module = "unary",
       .has =
           [](std::string_view root) {
             const ops::UnaryOpInfo* op = unary_op(root);
             return op != nullptr && !op->has_parameter;
           },
       .cost = unary_cost,
       .views = 1,
       .operands = map_operands,
       .plan = plan_unary,
       .original = kMapParameters},

      {.name = "unary with a parameter",
       .module = "unary",
       .has =
           [](std::string_view root) {
             const ops::UnaryOpInfo* op = unary_op(root);
             return op != nullptr && op->has_parameter;
           },
       .cost = unary_cost,
       .scalars = {2.3},
       .views = 1,
       .operands = map_operands,
       .plan = plan_unary,
       .original = {{Role::kCount},
                    {Role::kRank},
                    {Role::kInfo},
                    {Role::kScalar},
                    {Role::kInput},
                    {Role::kOutput}}},

      {.name = "cast",
       .module = "cast",
       .has = [](std::string_view root) { return root == "cast"; },
       .cost = costs_little,
       .views = 1,
       .operands = map_operands,
       .plan = plan_cast,
       .original = kMapParameters},

      {.name = "binary",
       .module = "binary",
       .has = [](std::string_view root) { return is_one_of(root, kArithmetic); },
       .cost = costs_little,
       .views = 2,
       .strided = 1,
       .operands = binary_operands,
       .plan = plan_binary,
       .original = kTwoInputParameters},

      {.name = "comparison",
       .module = "binary",
       .has = [](std::string_view root) { return is_one_of(root, kComparisons); },
       .cost = costs_little,
       .views = 2,
       .strided = 1,
       .operands = binary_operands,
       .plan = plan_binary,
       .original = kTwoInputParameters},

      {.name = "where",
       .module = "ternary",
       .has = [](std::string_view root) { return root == "where"; },
       .cost = [](const Kernel&) { return Cost::kMove; },
       .views = 3,
       .always_info = true,
       .operands = where_operands,
       .plan = plan_where,
       .original = {{Role::kCount},
                    {Role::kRank},
                    {Role::kInfo},
                    {Role::kInput, 0},
                    {Role::kInput, 1},
                    {Role::kInput, 2},
                    {Role::kOutput}}},
  };
}

}  // namespace kiln::bench
