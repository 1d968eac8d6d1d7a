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

// Returns a case that copies a square, or two squares, into the left half of a matrix twice as
// wide.
BenchCase rows_of_wider(std::string kernel, std::size_t count) {
  std::size_t columns = 1;
  while (columns * columns < count) columns *= 2;
  const std::size_t rows = std::max<std::size_t>(count / columns, 1);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {rows, columns};
  subject.strides = {{columns, 1}, {2 * columns, 1}};
  return subject;
}

// --- kernels under kiln's own names

Result<ops::Launch> plan_arange(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry /*ours alone*/) {
  return plan(ops::Arange{scalar_of(kernel, subject, 0), scalar_of(kernel, subject, 1),
                          subject.count(), addresses.output},
              subject.gpu);
}

// Dims are matrices, rows, columns; with two dims there is one matrix.
Result<ops::Launch> plan_transpose(const Kernel& kernel, const BenchCase& subject,
                                   const Addresses& addresses, ops::Geometry /*ours alone*/) {
  const ops::Extents& dims = subject.dims;
  const std::size_t rank = dims.rank();
  return plan(ops::Transpose{kernel.dtype, rank == 3 ? dims[0] : 1, dims[rank - 2], dims[rank - 1],
                             addresses.inputs[0], addresses.output},
              subject.gpu);
}

// Copies the right half of wider rows. Dims are those of the output.
Result<ops::Launch> plan_slice(const Kernel& kernel, const BenchCase& subject,
                               const Addresses& addresses, ops::Geometry /*ours alone*/) {
  const ops::Extents& dims = subject.dims;
  return plan(ops::Slice{kernel.dtype,
                         {dims[0], 2 * dims[1]},
                         1,
                         dims[1],
                         1,
                         dims[1],
                         addresses.inputs[0],
                         addresses.output},
              subject.gpu);
}

BenchCase square(std::string kernel, std::size_t count) {
  BenchCase subject = rows_of_wider(std::move(kernel), count);
  subject.strides.clear();
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

      {.name = "arange",
       .scalars = {3, 2},
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             return Operands{{}, {kernel.dtype, {subject.dims}}};
           },
       .plan = plan_arange},

      {.name = "transpose",
       .shapes = {{16384, 8192}, {64, 1024, 1024}},
       .sized = square,
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             return Operands{{{kernel.dtype, {subject.dims}}}, {kernel.dtype, {subject.dims}}};
           },
       .plan = plan_transpose},

      {.name = "slice",
       .sized = square,
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             const std::size_t columns = subject.dims[1];
             return Operands{{{kernel.dtype, {subject.dims, {2 * columns, 1}}}},
                             {kernel.dtype, {subject.dims}}};
           },
       .plan = plan_slice},
  };
}

}  // namespace kiln::bench
