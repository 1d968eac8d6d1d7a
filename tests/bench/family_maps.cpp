#include <algorithm>
#include <iterator>

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
const std::vector<Parameter> kTwoInputParameters = {{Role::kCount},    {Role::kRank},
                                                    {Role::kInfo},     {Role::kInput, 0},
                                                    {Role::kInput, 1}, {Role::kOutput}};

// Returns the operation whose kernels have that root.
template <typename Operations>
auto operation(const Operations& operations, std::string_view root) {
  return std::find_if(std::begin(operations), std::end(operations),
                      [root](const auto& each) { return each.root == root; })
      ->op;
}

Result<ops::Launch> plan_unary(const Kernel& kernel, const BenchCase& subject,
                               const Addresses& addresses, ops::Geometry geometry) {
  return plan(
      ops::Unary{operation(ops::kUnaryOps, kernel.root), kernel.dtype, layout_of(subject, 0),
                 addresses.inputs[0], addresses.output, scalar_of(kernel, subject, 0), geometry},
      subject.gpu);
}

Result<ops::Launch> plan_affine(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  return plan(
      ops::Affine{kernel.dtype, layout_of(subject, 0), addresses.inputs[0], addresses.output,
                  scalar_of(kernel, subject, 0), scalar_of(kernel, subject, 1), geometry},
      subject.gpu);
}

// --- two and three operands

Operands binary_operands(const Kernel& kernel, const BenchCase& subject) {
  return {{{kernel.dtype, layout_of(subject, 0)}, {kernel.dtype, layout_of(subject, 1)}},
          {kernel.out, {subject.dims}}};
}

Operands where_operands(const Kernel& kernel, const BenchCase& subject) {
  return {{{kernel.first, layout_of(subject, 0), 2},
           {kernel.dtype, layout_of(subject, 1)},
           {kernel.dtype, layout_of(subject, 2)}},
          {kernel.dtype, {subject.dims}}};
}

template <ops::Tiles kTiles>
Result<ops::Launch> plan_cast(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::Cast{kernel.first, kernel.dtype, layout_of(subject, 0), addresses.inputs[0],
                        addresses.output, geometry, kTiles},
              subject.gpu);
}

// Returns a case of transposed views with about `count` elements.
template <std::size_t kViews>
BenchCase turned(std::string kernel, std::size_t count) {
  std::size_t rows = 1;
  while (4 * rows * rows <= count) rows *= 2;
  BenchCase subject;
  subject.kernel = std::move(kernel);
  subject.dims = {2 * rows, count / (2 * rows) + 2};
  subject.strides.assign(kViews, {1, 2 * rows});
  return subject;
}

Result<ops::Launch> plan_binary(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  ops::Binary call;
  call.op = operation(ops::kBinaryOps, kernel.root);
  call.dtype = kernel.dtype;
  call.lhs_layout = layout_of(subject, 0);
  call.rhs_layout = layout_of(subject, 1);
  call.lhs = addresses.inputs[0];
  call.rhs = addresses.inputs[1];
  call.out = addresses.output;
  call.geometry = geometry;
  return plan(call, subject.gpu);
}

template <ops::Tiles kTiles>
Result<ops::Launch> plan_where(const Kernel& kernel, const BenchCase& subject,
                               const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::Where{kernel.first, kernel.dtype, layout_of(subject, 0), layout_of(subject, 1),
                         layout_of(subject, 2), addresses.inputs[0], addresses.inputs[1],
                         addresses.inputs[2], addresses.output, geometry, kTiles},
              subject.gpu);
}

const std::vector<Parameter> kWhereParameters = {
    {Role::kCount},    {Role::kRank},     {Role::kInfo},  {Role::kInput, 0},
    {Role::kInput, 1}, {Role::kInput, 2}, {Role::kOutput}};

}  // namespace

std::vector<Family> map_families() {
  return {
      {.name = "affine",
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
       .views = 1,
       .operands = map_operands,
       .plan = plan_unary,
       .original = kMapParameters},

      {.name = "unary",
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
       .views = 1,
       .operands = map_operands,
       .plan = plan_cast<ops::Tiles::kBySize>,
       .original = kMapParameters},

      {.name = "cast_tiles",
       .is_for_views = true,
       .views = 1,
       .sized = turned<1>,
       .operands = map_operands,
       .plan = plan_cast<ops::Tiles::kAlways>,
       .original_root = "cast",
       .is_choice = true,
       .original = kMapParameters},

      {.name = "binary",
       .views = 2,
       .strided = 1,
       .operands = binary_operands,
       .plan = plan_binary,
       .original = kTwoInputParameters},

      {.name = "comparison",
       .views = 2,
       .strided = 1,
       .operands = binary_operands,
       .plan = plan_binary,
       .original = kTwoInputParameters},

      {.name = "where",
       .views = 3,
       .always_info = true,
       .operands = where_operands,
       .plan = plan_where<ops::Tiles::kBySize>,
       .original = kWhereParameters},

      {.name = "where_tiles",
       .is_for_views = true,
       .views = 3,
       .always_info = true,
       .sized = turned<3>,
       .operands = where_operands,
       .plan = plan_where<ops::Tiles::kAlways>,
       .original_root = "where",
       .is_choice = true,
       .original = kWhereParameters},
  };
}

}  // namespace kiln::bench
