#include "tests/bench/family_rows.hpp"

#include <algorithm>
#include <bit>

#include "base/diagnostic.hpp"
#include "kiln/ops/norm.hpp"
#include "kiln/ops/reduce.hpp"
#include "kiln/ops/sort.hpp"

namespace kiln::bench {
namespace {

// Returns a case with rows of up to 1024 columns. The last dim is reduced.
BenchCase rows_of_columns(std::string kernel, std::size_t count) {
  const std::size_t columns = std::min<std::size_t>(count, 1024);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {count / columns, columns};
  return subject;
}

BenchCase one_row(std::string kernel, std::size_t count) {
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {1, count};
  return subject;
}

BenchCase rows_of_two(std::string kernel, std::size_t count) {
  const std::size_t columns = std::min<std::size_t>(count, 2);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {count / columns, columns};
  return subject;
}

// From the single row of logits of a decoder to many short rows.
const std::vector<ops::Extents> kRowShapes = {
    {1, 128256},   {8, 4096},     {64, 128256}, {128, 1 << 20}, {8192, 4096},
    {1 << 20, 64}, {65536, 96},   {64, 333},    {1000, 77},     {512, 333},
    {4096, 17},    {131072, 333}, {131072, 33}, {2364, 197}};

std::size_t columns_of(const BenchCase& subject) { return subject.dims[subject.dims.rank() - 1]; }

void one_block_a_row(const BenchCase& subject, ops::Launch& launch) {
  const std::size_t columns = columns_of(subject);
  launch.grid = {static_cast<std::uint32_t>(subject.count() / columns), 1, 1};
  launch.block = {1, 1, 1};
  while (launch.block.x < std::min<std::size_t>(columns, 1024)) launch.block.x *= 2;
}

void one_warp_a_row(const BenchCase& subject, ops::Launch& launch) {
  launch.grid = {static_cast<std::uint32_t>(subject.count() / columns_of(subject)), 1, 1};
  launch.block = {1, 32, 1};
}

void one_sort_a_block(const BenchCase& subject, ops::Launch& launch) {
  one_block_a_row(subject, launch);
  launch.shared_bytes = static_cast<std::uint32_t>(std::bit_ceil(columns_of(subject))) * 4;
}

Operands reduce_operands(const Kernel& kernel, const BenchCase& subject) {
  const ops::Extents rows(subject.dims.begin(), subject.dims.rank() - 1);
  return {{{kernel.dtype, layout_of(subject, 0)}}, {kernel.out, {rows}}};
}

Result<ops::Launch> plan_reduce(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  ops::Reduce call;
  for (const ops::ReduceOpInfo& op : ops::kReduceOps) {
    if (op.root == kernel.root) call.op = op.op;
  }
  call.dtype = kernel.dtype;
  call.layout = layout_of(subject, 0);
  call.over = {subject.dims.rank() - 1};
  call.src = addresses.inputs[0];
  call.dst = addresses.output;
  call.geometry = geometry;
  return plan(call, subject.gpu);
}

// Plans as many blocks for each row as pay off, but at least two.
Result<ops::Launch> plan_split(const Kernel& kernel, const BenchCase& subject,
                               const Addresses& addresses, ops::Geometry /*ours alone*/) {
  ops::Reduce call;
  for (const ops::ReduceOpInfo& op : ops::kReduceOps) {
    const bool serves = op.split == kernel.root || op.split_apart == kernel.root;
    if (serves && op.order == ops::ReduceOrder::kGiven) call.op = op.op;
  }
  call.dtype = kernel.dtype;
  call.layout = layout_of(subject, 0);
  call.over = {subject.dims.rank() - 1};
  call.src = addresses.inputs[0];
  call.dst = addresses.output;
  KILN_TRY_ASSIGN(const ops::Launch chosen, plan(call, subject.gpu));
  if (chosen.kernel == kernel.name) return chosen;
  call.parts = 2;
  return plan(call, subject.gpu);
}

Result<ops::Launch> plan_sum_into(const Kernel& kernel, const BenchCase& subject,
                                  const Addresses& addresses, ops::Geometry geometry) {
  ops::SumInto call;
  call.dtype = kernel.dtype;
  call.layout = layout_of(subject, 0);
  call.over = {subject.dims.rank() - 1};
  call.inp = addresses.inputs[0];
  call.out = addresses.output;
  call.geometry = geometry;
  return plan(call);
}

Result<ops::Launch> plan_softmax(const Kernel& kernel, const BenchCase& subject,
                                 const Addresses& addresses, ops::Geometry geometry) {
  const std::size_t columns = columns_of(subject);
  return plan(ops::Softmax{kernel.dtype, subject.count() / columns, columns, addresses.inputs[0],
                           addresses.output, geometry},
              subject.gpu);
}

// Plans two blocks for each row if the normal plan uses one.
Result<ops::Launch> plan_long_softmax(const Kernel& kernel, const BenchCase& subject,
                                      const Addresses& addresses, ops::Geometry /*ours alone*/) {
  const std::size_t columns = columns_of(subject);
  ops::Softmax call{kernel.dtype,        subject.count() / columns, columns,
                    addresses.inputs[0], addresses.output,          ops::Geometry::kOwn};
  KILN_TRY_ASSIGN(ops::Launch launch, plan(call, subject.gpu));
  if (launch.steps > 1) return launch;
  call.parts = 2;
  return plan(call, subject.gpu);
}
// For shapes that the plan stages.
Result<ops::Launch> plan_staged_softmax(const Kernel& kernel, const BenchCase& subject,
                                        const Addresses& addresses, ops::Geometry /*ours alone*/) {
  return plan_softmax(kernel, subject, addresses, ops::Geometry::kOwn);
}

ops::SortOrder order_of(const Kernel& kernel) {
  return kernel.root.ends_with("_desc") ? ops::SortOrder::kDescending : ops::SortOrder::kAscending;
}
Result<ops::Launch> plan_argsort(const Kernel& kernel, const BenchCase& subject,
                                 const Addresses& addresses, ops::Geometry geometry) {
  const std::size_t columns = columns_of(subject);
  return plan(ops::ArgSort{order_of(kernel), kernel.dtype, subject.count() / columns, columns,
                           addresses.inputs[0], addresses.output, geometry},
              subject.gpu);
}
Result<ops::Launch> plan_sort(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry /*ours alone*/) {
  const std::size_t columns = columns_of(subject);
  return plan(ops::Sort{order_of(kernel), kernel.dtype, subject.count() / columns, columns,
                        addresses.inputs[0], addresses.output},
              subject.gpu);
}

// For rows that several blocks share; at least two blocks for each row.
Result<ops::Launch> plan_long_sort(const Kernel& kernel, const BenchCase& subject,
                                   const Addresses& addresses, ops::Geometry /*ours alone*/) {
  const std::size_t columns = columns_of(subject);
  ops::ArgSort call{ops::SortOrder::kAscending, kernel.dtype,    subject.count() / columns, columns,
                    addresses.inputs[0],        addresses.output};
  KILN_TRY_ASSIGN(const ops::Launch chosen, plan(call, subject.gpu));
  if (chosen.kernel == kernel.name) return chosen;
  call.parts = 2;
  return plan(call, subject.gpu);
}

Family reduction(std::string_view name) {
  return {.name = name,
          .views = 1,
          .always_info = true,
          .shapes = kRowShapes,
          .sized = rows_of_columns,
          .operands = reduce_operands,
          .plan = plan_reduce,
          .original = {{Role::kCount},
                       {Role::kColumns},
                       {Role::kRank},
                       {Role::kInfo},
                       {Role::kInput},
                       {Role::kOutput}},
          .original_grid = one_block_a_row};
}

// A family has a single root, so there is a row for each root.
Family split_reduction(std::string_view name, std::string_view root, std::string_view original) {
  Family family = reduction(name);
  family.root = root;
  family.original_root = original;
  family.is_choice = true;
  family.shapes = {{1, 128256}, {8, 128256}, {64, 128256}};
  family.sized = one_row;
  family.plan = plan_split;
  return family;
}

// Reduces the columns of a matrix.
BenchCase columns_of_rows(std::string kernel, std::size_t count) {
  BenchCase subject = rows_of_columns(std::move(kernel), count);
  const std::size_t rows = subject.dims[0], columns = subject.dims[1];
  subject.dims = {columns, rows};
  subject.strides = {{1, columns}};
  subject.view = View::kTransposed;
  return subject;
}
Family split_apart(Family family) {
  family.shapes = {};
  family.sized = columns_of_rows;
  return family;
}

Family softmax(std::string_view name) {
  return {.name = name,
          .shapes = kRowShapes,
          .sized = rows_of_columns,
          .operands =
              [](const Kernel& kernel, const BenchCase& subject) {
                return Operands{{{kernel.dtype, {subject.dims}}}, {kernel.dtype, {subject.dims}}};
              },
          .plan = plan_softmax,
          .original = {{Role::kInput}, {Role::kOutput}, {Role::kColumns32}},
          .original_grid = one_warp_a_row};
}

Family long_softmax() {
  Family family = softmax("long-softmax");
  family.original_root = "softmax";
  family.is_choice = true;
  family.max_count = std::size_t{1} << 24;  // the original takes half a second
  family.shapes = {{1, 32000}, {1, 128256}, {8, 50257}};
  family.sized = one_row;
  family.plan = plan_long_softmax;
  return family;
}
Family staged_softmax() {
  Family family = softmax("staged-softmax");
  family.original_root = "softmax";
  family.is_choice = true;
  family.shapes = {{4096, 5}, {131072, 33}};
  family.sized = rows_of_two;
  family.plan = plan_staged_softmax;
  return family;
}

}  // namespace

std::vector<Family> row_families() {
  return {
      reduction("reduction"),
      reduction("arg-reduction"),
      split_reduction("split-reduction", "split_sum", "fast_sum"),
      split_reduction("split-reduction", "split_extreme", "fast_max"),
      split_reduction("split-arg-reduction", "split_argextreme", "fast_argmax"),
      split_apart(split_reduction("split-reduction", "split_apart_sum", "fast_sum")),
      split_apart(split_reduction("split-reduction", "split_apart_extreme", "fast_max")),
      split_apart(split_reduction("split-arg-reduction", "split_apart_argextreme", "fast_argmax")),

      // The original takes 53 seconds for 2^28 of f16, normally distributed.
      {.name = "sum-into",
       .max_count = std::size_t{1} << 22,
       .views = 1,
       .always_info = true,
       .sums_last = true,
       .sized = rows_of_columns,
       .operands = reduce_operands,
       .plan = plan_sum_into,
       .original = {{Role::kCount},
                    {Role::kRank},
                    {Role::kOne},
                    {Role::kInfo},
                    {Role::kInput},
                    {Role::kOutput}}},

      softmax("softmax"),
      long_softmax(),
      staged_softmax(),

      {.name = "argsort",
       .bound = Bound::kArithmetic,
       .shapes = {{16384, 128}, {4096, 1024}, {64, 8192}},
       .sized = rows_of_columns,
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             return Operands{{{kernel.dtype, {subject.dims}}}, {kernel.out, {subject.dims}}};
           },
       .plan = plan_argsort,
       .original = {{Role::kInput}, {Role::kOutput}, {Role::kColumns32}, {Role::kPaddedColumns32}},
       .original_grid = one_sort_a_block},

      {.name = "sort",
       .bound = Bound::kArithmetic,
       .shapes = {{16384, 128}, {4096, 1024}, {64, 8192}},
       .sized = rows_of_columns,
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             return Operands{{{kernel.dtype, {subject.dims}}}, {kernel.out, {subject.dims}}};
           },
       .plan = plan_sort},

      {.name = "long-sort",
       .bound = Bound::kArithmetic,
       .shapes = {{1, 128256}, {64, 128256}, {128, 16384}, {4096, 16384}},
       .sized = one_row,
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             return Operands{{{kernel.dtype, {subject.dims}}}, {kernel.out, {subject.dims}}};
           },
       .plan = plan_long_sort},
  };
}

}  // namespace kiln::bench
