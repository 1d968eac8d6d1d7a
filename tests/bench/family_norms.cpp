#include <algorithm>

#include "base/diagnostic.hpp"
#include "kiln/ops/norm.hpp"
#include "kiln/ops/rope.hpp"
#include "tests/bench/family_rows.hpp"

namespace kiln::bench {
namespace {

// --- norms: rows of contiguous columns, with a factor and a term for each column

const std::vector<ops::Extents> kNormShapes = {{1, 4096},  {8, 4096},  {8192, 1000},  {32768, 4096},
                                               {64, 333},  {1000, 77}, {131072, 333}, {131072, 33},
                                               {4, 50257}, {2364, 197}};

BenchCase rows_of_4096(std::string kernel, std::size_t count) {
  const std::size_t columns = std::min<std::size_t>(count, 4096);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {count / columns, columns};
  return subject;
}

BenchCase one_long_row(std::string kernel, std::size_t count) {
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {1, count};
  return subject;
}

template <std::size_t Vectors>
Operands norm_operands(const Kernel& kernel, const BenchCase& subject) {
  Operands operands{{{kernel.dtype, {subject.dims}}}, {kernel.dtype, {subject.dims}}};
  for (std::size_t i = 0; i < Vectors; ++i) {
    operands.inputs.push_back({kernel.dtype, {{subject.dims[1]}}});
  }
  return operands;
}

void norm_grid(const BenchCase& subject, ops::Launch& launch) {
  launch.grid = {static_cast<std::uint32_t>(subject.dims[0]), 1, 1};
  launch.block = {subject.dims[1] < 1024 ? 32u : 1024u, 1, 1};
}

Result<ops::Launch> plan_rmsnorm(const Kernel& kernel, const BenchCase& subject,
                                 const Addresses& addresses, ops::Geometry geometry) {
  ops::RmsNorm call;
  call.dtype = kernel.dtype;
  call.rows = subject.dims[0];
  call.columns = subject.dims[1];
  call.src = addresses.inputs[0];
  call.dst = addresses.output;
  call.alpha = addresses.inputs[1];
  call.geometry = geometry;
  return plan(call, subject.gpu);
}

ops::LayerNorm layernorm_of(const Kernel& kernel, const BenchCase& subject,
                            const Addresses& addresses) {
  ops::LayerNorm call;
  call.dtype = kernel.dtype;
  call.rows = subject.dims[0];
  call.columns = subject.dims[1];
  call.src = addresses.inputs[0];
  call.dst = addresses.output;
  call.alpha = addresses.inputs[1];
  call.beta = addresses.inputs[2];
  return call;
}
Result<ops::Launch> plan_layernorm(const Kernel& kernel, const BenchCase& subject,
                                   const Addresses& addresses, ops::Geometry geometry) {
  ops::LayerNorm call = layernorm_of(kernel, subject, addresses);
  call.geometry = geometry;
  return plan(call, subject.gpu);
}

// Plans two blocks for each row if the normal plan uses one. LayerNorm stands for both norms.
Result<ops::Launch> plan_long_norm(const Kernel& kernel, const BenchCase& subject,
                                   const Addresses& addresses, ops::Geometry /*ours alone*/) {
  ops::LayerNorm call = layernorm_of(kernel, subject, addresses);
  KILN_TRY_ASSIGN(ops::Launch launch, plan(call, subject.gpu));
  if (launch.steps > 1) return launch;
  call.parts = 2;
  return plan(call, subject.gpu);
}

// --- rope: dims are batches, heads, tokens, head size; for rope_thd, batches, tokens, heads, head
// size

const std::vector<ops::Extents> kHeadShapes = {{8, 32, 1, 128}, {4, 32, 4096, 128}};
const std::vector<ops::Extents> kTokenShapes = {{8, 1, 32, 128}, {4, 4096, 32, 128}};

BenchCase heads_of_128(std::string kernel, std::size_t count) {
  const std::size_t size = std::clamp<std::size_t>(count / 2 * 2, 2, 128);  // pairs
  const bool tokens_first = kernel.starts_with("rope_thd");
  const std::size_t pairs = std::max<std::size_t>(count / size, 1);
  const std::size_t heads = std::min<std::size_t>(pairs, 32);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = tokens_first ? ops::Extents{1, pairs / heads, heads, size}
                              : ops::Extents{1, heads, pairs / heads, size};
  return subject;
}

Operands rope_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t tokens = subject.dims[kernel.root == "rope_thd" ? 1 : 2];
  const Operand table{kernel.dtype, {{tokens, subject.dims[3] / 2}}};
  return {{{kernel.dtype, {subject.dims}}, table, table}, {kernel.dtype, {subject.dims}}};
}

void a_thread_a_pair(const BenchCase& subject, ops::Launch& launch) {
  launch.block = {1024, 1, 1};
  launch.grid = {static_cast<std::uint32_t>((subject.count() / 2 + 1023) / 1024), 1, 1};
}

Result<ops::Launch> plan_rope(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry geometry) {
  const bool tokens_first = kernel.root == "rope_thd";
  ops::Rope call;
  call.kind = tokens_first              ? ops::RopeKind::kHalvesTokensFirst
              : kernel.root == "rope_i" ? ops::RopeKind::kNeighbours
                                        : ops::RopeKind::kHalves;
  call.dtype = kernel.dtype;
  call.batches = subject.dims[0];
  call.heads = subject.dims[tokens_first ? 2 : 1];
  call.tokens = subject.dims[tokens_first ? 1 : 2];
  call.head_size = subject.dims[3];
  call.src = addresses.inputs[0];
  call.cos = addresses.inputs[1];
  call.sin = addresses.inputs[2];
  call.dst = addresses.output;
  call.geometry = geometry;
  return plan(call, subject.gpu);
}

Family rope(std::string_view name, const std::vector<ops::Extents>& shapes,
            std::vector<Parameter> sizes) {
  std::vector<Parameter> original = {
      {Role::kInput, 0}, {Role::kInput, 1}, {Role::kInput, 2}, {Role::kOutput}};
  original.insert(original.end(), sizes.begin(), sizes.end());
  original.push_back({Role::kZero32});  // distance between the tables of batches; here shared
  return {.name = name,
          .shapes = shapes,
          .sized = heads_of_128,
          .operands = rope_operands,
          .plan = plan_rope,
          .original = std::move(original),
          .original_grid = a_thread_a_pair};
}

Family layernorm(std::string_view name) {
  return {.name = name,
          .shapes = kNormShapes,
          .sized = rows_of_4096,
          .operands = norm_operands<2>,
          .plan = plan_layernorm,
          .original = {{Role::kInput, 0},
                       {Role::kOutput},
                       {Role::kInput, 1},
                       {Role::kInput, 2},
                       {Role::kColumns32},
                       {Role::kBlock32},
                       {Role::kEpsilon}},
          .original_grid = norm_grid};
}
Family long_norm() {
  Family family = layernorm("long-norm");
  family.original_root = "layernorm";
  family.is_choice = true;
  family.max_count = std::size_t{1} << 24;
  family.shapes = {{1, 32000}, {1, 128256}, {4, 50257}};
  family.sized = one_long_row;
  family.plan = plan_long_norm;
  return family;
}

}  // namespace

std::vector<Family> norm_families() {
  return {
      {.name = "rmsnorm",
       .shapes = kNormShapes,
       .sized = rows_of_4096,
       .operands = norm_operands<1>,
       .plan = plan_rmsnorm,
       .original = {{Role::kInput, 0},
                    {Role::kOutput},
                    {Role::kInput, 1},
                    {Role::kColumns32},
                    {Role::kBlock32},
                    {Role::kEpsilon}},
       .original_grid = norm_grid},

      layernorm("layernorm"),
      long_norm(),

      rope("rope", kHeadShapes, {{Role::kProduct32, 0}, {Role::kProduct32, 2}, {Role::kDim32, 3}}),
      rope("rope_i", kHeadShapes, {{Role::kProduct32, 0}, {Role::kProduct32, 2}}),
      rope("rope_thd", kTokenShapes,
           {{Role::kDim32, 0}, {Role::kDim32, 1}, {Role::kDim32, 2}, {Role::kDim32, 3}}),
  };
}

}  // namespace kiln::bench
