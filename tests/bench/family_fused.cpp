#include <string>

#include "base/diagnostic.hpp"
#include "kiln/ops/fused_products.hpp"
#include "tests/bench/family_rows.hpp"
#include "tests/bench/quantized_cases.hpp"

namespace kiln::bench {
namespace {

// Dims are those of a matrix: rows, columns; for fused_matrix and half_matrix then vectors. If
// there is a fourth dim, experts, the vectors are tasks. Products of one vector use a pair of
// matrices, as in a feed-forward layer, in f16.

Operand weights(const Kernel& kernel, const BenchCase& subject) {
  return blocks(format_of(kernel), subject.dims[0] * subject.dims[1]);
}
std::size_t vectors_of(const BenchCase& subject) {
  return subject.dims.rank() >= 3 ? subject.dims[2] : 1;
}
std::size_t experts_of(const BenchCase& subject) {
  return subject.dims.rank() == 4 ? subject.dims[3] : 0;
}

template <typename Call>
Call product_call(const Kernel& kernel, const BenchCase& subject, const Addresses& addresses) {
  Call call;
  call.format = format_of(kernel);
  call.rows = subject.dims[0];
  call.columns = subject.dims[1];
  call.weights = addresses.inputs[0];
  call.dst_dtype = ops::DType::kF16;
  call.dst = addresses.output;
  return call;
}
std::vector<ops::Extents> matrices(const Kernel& kernel) {
  const ops::BlockFormat format = format_of(kernel);
  if (format == ops::BlockFormat::kQ4_0 || format == ops::BlockFormat::kQ4_K) {
    return {{14336, 4096}, {4096, 14336}, {1024, 4096}};
  }
  return {{14336, 4096}};
}
std::size_t half_values(std::size_t rows, std::size_t columns) {
  return ops::half_chunk_bytes(rows, columns) / size_of(ops::DType::kF16);
}
std::vector<ops::Extents> tiles(const Kernel&) {
  return {{4096, 4096, 16}, {4096, 4096, 64}, {4096, 4096, 512}};
}

std::vector<ops::Extents> tiles_and_experts(const Kernel& kernel) {
  std::vector<ops::Extents> shapes = tiles(kernel);
  for (const ops::Extents& each :
       {ops::Extents{2048, 4096, 8192, 8}, {2048, 4096, 2048, 8}, {2048, 4096, 512, 64}}) {
    shapes.push_back(each);
  }
  return shapes;
}

// --- quantize_rows, half_rows, join_products, rank_experts

Operands quantize_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t rows = subject.dims[0], columns = subject.dims[1];
  return {{floats(kernel.first, rows * columns)}, activations(rows, columns)};
}
Result<ops::Launch> plan_quantize(const Kernel& kernel, const BenchCase& subject,
                                  const Addresses& addresses, ops::Geometry) {
  ops::QuantizeRows call;
  call.dtype = kernel.first;
  call.rows = subject.dims[0];
  call.columns = subject.dims[1];
  call.x = addresses.inputs[0];
  call.out = addresses.output;
  return plan(call, subject.gpu);
}
// The scales follow the halves.
Operands half_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t rows = subject.dims[0], columns = subject.dims[1];
  return {{floats(kernel.first, rows * columns)},
          floats(ops::DType::kF16, half_values(rows, columns) + 2 * rows)};
}
Result<ops::Launch> plan_half(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry) {
  ops::HalfRows call;
  call.dtype = kernel.first;
  call.rows = subject.dims[0];
  call.columns = subject.dims[1];
  call.x = addresses.inputs[0];
  call.out = addresses.output;
  call.in_chunks = true;
  call.scales =
      static_cast<std::uint16_t*>(addresses.output) + half_values(call.rows, call.columns);
  return plan(call, subject.gpu);
}
Operands join_operands(const Kernel&, const BenchCase& subject) {
  const std::size_t count = subject.count();
  return {{floats(ops::DType::kF32, count), floats(ops::DType::kF32, count)},
          floats(ops::DType::kF16, count)};
}
Result<ops::Launch> plan_join(const Kernel&, const BenchCase& subject, const Addresses& addresses,
                              ops::Geometry) {
  ops::JoinProducts call;
  call.columns = subject.count();
  call.gates = addresses.inputs[0];
  call.values = addresses.inputs[1];
  call.dst_dtype = ops::DType::kF16;
  call.dst = addresses.output;
  return plan(call, subject.gpu);
}
// Dims: tasks, experts. The output has the order, followed by the tiles.
Operands rank_operands(const Kernel&, const BenchCase& subject) {
  const std::size_t tasks = subject.dims[0], experts = subject.dims[1];
  return {{ids_below(tasks, experts)},
          {ops::DType::kU32, {{tasks + 3 * ops::expert_tiles(tasks, experts)}}}};
}
Result<ops::Launch> plan_rank(const Kernel&, const BenchCase& subject, const Addresses& addresses,
                              ops::Geometry) {
  ops::RankExperts call;
  call.tasks = subject.dims[0];
  call.experts = subject.dims[1];
  call.ids = addresses.inputs[0];
  call.order = addresses.output;
  call.tiles = static_cast<std::uint32_t*>(addresses.output) + call.tasks;
  return plan(call, subject.gpu);
}
BenchCase rank_case(std::string kernel, std::size_t count) {
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {count, 8};
  return subject;
}

// --- products

Operands vector_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t columns = subject.dims[1];
  return {{weights(kernel, subject), weights(kernel, subject), activations(1, columns),
           only_before(columns)},
          floats(ops::DType::kF16, subject.dims[0])};
}
Result<ops::Launch> plan_vector(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry) {
  auto call = product_call<ops::FusedVector>(kernel, subject, addresses);
  call.gate = addresses.inputs[1];
  call.activations = addresses.inputs[2];
  return plan(call, subject.gpu);
}
Operands float_vector_operands(const Kernel& kernel, const BenchCase& subject) {
  return {{weights(kernel, subject), weights(kernel, subject),
           floats(ops::DType::kF16, subject.dims[1])},
          floats(ops::DType::kF16, subject.dims[0])};
}
Result<ops::Launch> plan_float_vector(const Kernel& kernel, const BenchCase& subject,
                                      const Addresses& addresses, ops::Geometry) {
  auto call = product_call<ops::FusedFloatVector>(kernel, subject, addresses);
  call.gate = addresses.inputs[1];
  call.x_dtype = ops::DType::kF16;
  call.x = addresses.inputs[2];
  return plan(call, subject.gpu);
}
Operands matrix_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t columns = subject.dims[1], vectors = vectors_of(subject);
  return {{weights(kernel, subject), activations(vectors, columns), only_before(vectors * columns)},
          floats(ops::DType::kF16, vectors * subject.dims[0])};
}
Result<ops::Launch> plan_matrix(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry) {
  auto call = product_call<ops::FusedMatrix>(kernel, subject, addresses);
  call.vectors = vectors_of(subject);
  call.activations = addresses.inputs[1];
  return plan(call, subject.gpu);
}
// The vectors, followed by their scales, are made from the third input. With experts, the order,
// the places and the tiles of their tasks are made from the last input.
std::size_t half_rows_of(const BenchCase& subject) {
  const std::size_t vectors = vectors_of(subject), experts = experts_of(subject);
  return experts == 0 ? vectors : ops::half_task_rows(vectors, experts);
}
Operands half_matrix_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t rows = subject.dims[0], columns = subject.dims[1];
  const std::size_t vectors = vectors_of(subject), experts = experts_of(subject);
  const std::size_t halves = half_rows_of(subject), matrices = experts == 0 ? 1 : experts;
  Operands operands{{blocks(format_of(kernel), matrices * rows * columns),
                     floats(ops::DType::kF16, half_values(halves, columns) + 2 * halves),
                     only_before(vectors * columns)},
                    floats(ops::DType::kF16, vectors * rows)};
  if (experts != 0) {
    const std::size_t tiles = ops::expert_tiles(vectors, experts, ops::kHalfExpertTile);
    operands.inputs.push_back(ids_below(2 * vectors + 3 * tiles, 1));
    operands.inputs.push_back(ids_below(vectors, experts));
  }
  return operands;
}
ops::RankExperts ranks_of(const BenchCase& subject, const Addresses& addresses) {
  ops::RankExperts call;
  call.tasks = vectors_of(subject);
  call.experts = experts_of(subject);
  call.tile = ops::kHalfExpertTile;
  call.ids = addresses.inputs[4];
  auto* const order = static_cast<std::uint32_t*>(const_cast<void*>(addresses.inputs[3]));
  call.order = order;
  call.places = order + call.tasks;
  call.tiles = order + 2 * call.tasks;
  return call;
}
Result<std::optional<ops::Launch>> rank_first(const BenchCase& subject,
                                              const Addresses& addresses) {
  if (experts_of(subject) == 0) return std::optional<ops::Launch>();
  KILN_TRY_ASSIGN(ops::Launch launch, plan(ranks_of(subject, addresses), subject.gpu));
  return std::optional<ops::Launch>(std::move(launch));
}
Result<ops::Launch> halves_before(const Kernel&, const BenchCase& subject,
                                  const Addresses& addresses) {
  ops::HalfRows call;
  call.rows = vectors_of(subject);
  call.columns = subject.dims[1];
  call.x = addresses.inputs[2];
  call.out = const_cast<void*>(addresses.inputs[1]);
  call.in_chunks = true;
  call.scales =
      static_cast<std::uint16_t*>(call.out) + half_values(half_rows_of(subject), call.columns);
  if (experts_of(subject) != 0) call.places = ranks_of(subject, addresses).places;
  return plan(call, subject.gpu);
}
Result<ops::Launch> plan_half_matrix(const Kernel& kernel, const BenchCase& subject,
                                     const Addresses& addresses, ops::Geometry) {
  auto call = product_call<ops::HalfMatrix>(kernel, subject, addresses);
  call.vectors = vectors_of(subject);
  call.x = addresses.inputs[1];
  call.experts = experts_of(subject);
  if (call.experts != 0) {
    const ops::RankExperts ranks = ranks_of(subject, addresses);
    call.order = ranks.order;
    call.tiles = ranks.tiles;
  }
  return plan(call, subject.gpu);
}
// Quantizes the last input into the one before it.
Result<ops::Launch> quantize_before(const Kernel&, const BenchCase& subject,
                                    const Addresses& addresses) {
  const std::size_t last = addresses.inputs.size() - 1;
  ops::QuantizeRows call;
  call.rows = vectors_of(subject);
  call.columns = subject.dims[1];
  call.x = addresses.inputs[last];
  call.out = const_cast<void*>(addresses.inputs[last - 1]);
  return plan(call, subject.gpu);
}

}  // namespace

std::vector<Family> fused_families() {
  constexpr std::size_t kMaxCount = std::size_t{1} << 26;
  return {
      {.name = "quantize rows",
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes = {{1, 4096}, {512, 4096}},
       .sized = matrix_case,
       .operands = quantize_operands,
       .plan = plan_quantize},
      {.name = "half rows",
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes = {{1, 4096}, {512, 4096}},
       .sized = matrix_case,
       .operands = half_operands,
       .plan = plan_half},
      {.name = "join products",
       .data_matters = false,
       .max_count = kMaxCount,
       .operands = join_operands,
       .plan = plan_join},
      {.name = "rank experts",
       .bound = Bound::kArithmetic,
       .data_matters = false,
       .max_count = std::size_t{1} << 16,
       .shapes = {{64, 8}, {4096, 128}},
       .sized = rank_case,
       .operands = rank_operands,
       .plan = plan_rank},
      {.name = "fused vector",
       .bound = Bound::kReads,
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of = matrices,
       .sized = matrix_case,
       .operands = vector_operands,
       .plan = plan_vector,
       .before = quantize_before},
      {.name = "fused float vector",
       .bound = Bound::kReads,
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of = matrices,
       .sized = matrix_case,
       .operands = float_vector_operands,
       .plan = plan_float_vector},
      {.name = "fused matrix",
       .bound = Bound::kArithmetic,
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of = tiles,
       .sized = tiles_case,
       .operands = matrix_operands,
       .plan = plan_matrix,
       .before = quantize_before},
      {.name = "half matrix",
       .bound = Bound::kArithmetic,
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of = tiles_and_experts,
       .sized = tiles_case,
       .operands = half_matrix_operands,
       .plan = plan_half_matrix,
       .first = rank_first,
       .before = halves_before},
  };
}

}  // namespace kiln::bench
