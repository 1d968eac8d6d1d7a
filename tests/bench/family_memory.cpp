#include <algorithm>

#include "kiln/ops/fill.hpp"
#include "tests/bench/family_rows.hpp"

namespace kiln::bench {
namespace {

Result<ops::Launch> plan_fill(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::Fill{scalar_of(kernel, subject, 0), subject.count(), addresses.output, geometry},
              subject.gpu);
}

Result<ops::Launch> plan_const_set(const Kernel& kernel, const BenchCase& subject,
                                   const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::ConstSet{scalar_of(kernel, subject, 0), layout_of(subject, 0), addresses.output,
                            geometry},
              subject.gpu);
}

Result<ops::Launch> plan_copy2d(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  const auto part = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  return plan(ops::Copy2d{kernel.dtype, part(subject.dims[0]), part(subject.dims[1]),
                          part(ops::strides_of(layout_of(subject, 0))[0]),
                          part(ops::strides_of(layout_of(subject, 1))[0]), addresses.inputs[0],
                          addresses.output, geometry},
              subject.gpu);
}

// A square, or two of them, into the left half of a matrix twice as wide.
BenchCase rows_of_wider(std::string kernel, std::size_t count) {
  std::size_t columns = 1;
  while (columns * columns < count) columns *= 2;
  const std::size_t rows = std::max<std::size_t>(count / columns, 1);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {rows, columns};
  subject.strides = {{columns, 1}, {2 * columns, 1}};
  return subject;
}

}  // namespace

std::vector<Family> memory_families() {
  return {
      {.name = "fill",
       .scalars = {1.5},
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             return Operands{{}, {kernel.dtype, {subject.dims}}};
           },
       .plan = plan_fill,
       .original = {{Role::kOutput}, {Role::kScalar}, {Role::kCount}}},

      {.name = "const_set",
       .scalars = {1.5},
       .views = 1,
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             return Operands{{}, {kernel.dtype, layout_of(subject, 0)}};
           },
       .plan = plan_const_set,
       .original =
           {{Role::kCount}, {Role::kRank}, {Role::kInfo}, {Role::kScalar}, {Role::kOutput}}},

      // Dims are rows and columns; the first stride list is the input's, the second the output's.
      {.name = "copy2d",
       .sized = rows_of_wider,
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             return Operands{{{kernel.dtype, layout_of(subject, 0)}},
                             {kernel.dtype, layout_of(subject, 1)}};
           },
       .plan = plan_copy2d,
       .original = {{Role::kInput},
                    {Role::kOutput},
                    {Role::kDim32, 0},
                    {Role::kDim32, 1},
                    {Role::kRowStride32, 0},
                    {Role::kRowStride32, 1}}},
  };
}

}  // namespace kiln::bench
