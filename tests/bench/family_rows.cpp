#include "tests/bench/family_rows.hpp"

#include <algorithm>

namespace kiln::bench {
namespace {

constexpr std::string_view kReductions[] = {"fast_sum", "fast_min", "fast_max"};
constexpr std::string_view kArgReductions[] = {"fast_argmin", "fast_argmax"};

// Rows of up to 1024 columns; the last dim is the one that is reduced.
BenchCase rows_of_columns(std::string kernel, std::size_t count) {
  const std::size_t columns = std::min<std::size_t>(count, 1024);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {count / columns, columns};
  return subject;
}

// From a decoder's one row of logits to many short rows.
const std::vector<ops::Extents> kRowShapes = {
    {1, 128256}, {8, 4096}, {64, 128256}, {128, 1 << 20}, {8192, 4096}, {1 << 20, 64}, {65536, 96}};

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

Operands reduce_operands(const Kernel& kernel, const BenchCase& subject) {
  const ops::Extents rows(subject.dims.begin(), subject.dims.rank() - 1);
  const bool gives_index = is_one_of(kernel.root, kArgReductions);
  return {{{kernel.dtype, layout_of(subject, 0)}},
          {gives_index ? ops::DType::kU32 : kernel.dtype, {rows}}};
}

Family reduction(std::string_view name, bool (*has)(std::string_view root)) {
  return {.name = name,
          .module = "reduce",
          .has = has,
          .cost = [](const Kernel&) { return Cost::kShort; },
          .views = 1,
          .always_info = true,
          .shapes = kRowShapes,
          .sized = rows_of_columns,
          .operands = reduce_operands,
          .original = {{Role::kCount},
                       {Role::kColumns},
                       {Role::kRank},
                       {Role::kInfo},
                       {Role::kInput},
                       {Role::kOutput}},
          .original_grid = one_block_a_row};
}

}  // namespace

std::vector<Family> row_families() {
  return {
      reduction("reduction", [](std::string_view root) { return is_one_of(root, kReductions); }),
      reduction("arg-reduction",
                [](std::string_view root) { return is_one_of(root, kArgReductions); }),

      {.name = "softmax",
       .module = "reduce",
       .has = [](std::string_view root) { return root == "softmax"; },
       .cost = [](const Kernel&) { return Cost::kFunction; },
       .shapes = kRowShapes,
       .sized = rows_of_columns,
       .operands =
           [](const Kernel& kernel, const BenchCase& subject) {
             return Operands{{{kernel.dtype, {subject.dims}}}, {kernel.dtype, {subject.dims}}};
           },
       .original = {{Role::kInput}, {Role::kOutput}, {Role::kColumns32}},
       .original_grid = one_warp_a_row},
  };
}

}  // namespace kiln::bench
