#include <algorithm>
#include <string>

#include "kiln/ops/quantized.hpp"
#include "tests/bench/family_rows.hpp"
#include "tests/bench/quantized_cases.hpp"

namespace kiln::bench {
namespace {

// Dims are those of the matrix: rows, columns. mul_mat and held_vectors have vectors as a third
// dim; indexed_moe has batches and slots. For get_rows they are ids and columns.

bool has_long_blocks(ops::BlockFormat format) { return ops::info(format).values == 256; }
bool is_measured_widely(ops::BlockFormat format) {
  return format == ops::BlockFormat::kQ4_0 || format == ops::BlockFormat::kQ8_0 ||
         format == ops::BlockFormat::kQ4_K || format == ops::BlockFormat::kQ6_K;
}

Operand f32_of(std::size_t count) { return floats(ops::DType::kF32, count); }

template <typename... Values>
void pass(ops::Launch& launch, Values... values) {
  (launch.arguments.push_back(ops::Argument::of(values)), ...);
}
using Int = std::int32_t;
Int narrow(std::size_t value) { return static_cast<Int>(value); }
std::uint32_t blocks_for(std::size_t count, std::size_t each) {
  return static_cast<std::uint32_t>((count + each - 1) / each);
}

BenchCase whole_blocks(std::string kernel, std::size_t count) {
  return contiguous_case(std::move(kernel), std::max<std::size_t>(count / 256, 1) * 256);
}

// --- quantize_q8_1

Operands quantize_operands(const Kernel&, const BenchCase& subject) {
  const std::size_t rows = subject.dims[0], columns = subject.dims[1];
  return {{f32_of(rows * columns)}, activations(rows, columns)};
}
Result<ops::Launch> plan_quantize(const Kernel&, const BenchCase& subject,
                                  const Addresses& addresses, ops::Geometry geometry) {
  ops::QuantizeQ8_1 call;
  call.rows = subject.dims[0];
  call.columns = subject.dims[1];
  call.x = addresses.inputs[0];
  call.out = addresses.output;
  call.geometry = geometry;
  return plan(call, subject.gpu);
}
void original_quantize(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  const std::size_t padded = ops::padded_columns(subject.dims[1]);
  launch.block = {256, 1, 1};
  launch.grid = {blocks_for(padded, 256), static_cast<std::uint32_t>(subject.dims[0]), 1};
  pass(launch, addresses.inputs[0], addresses.output, narrow(subject.dims[1]), narrow(padded));
}

// Returns the table row of the case's kernel. A launch of the original has only the case.
const Kernel& kernel_of(const BenchCase& subject) {
  return *ops::find_own_kernel("quantized", subject.kernel);
}
ops::BlockFormat format_of_case(const BenchCase& subject) { return format_of(kernel_of(subject)); }

// --- dequantize_block

Operands dequantize_operands(const Kernel& kernel, const BenchCase& subject) {
  return {{blocks(format_of(kernel), subject.count())}, {kernel.out, {subject.dims}}};
}
Result<ops::Launch> plan_dequantize(const Kernel& kernel, const BenchCase& subject,
                                    const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::DequantizeBlocks{format_of(kernel), kernel.out, subject.count(),
                                    addresses.inputs[0], addresses.output, geometry},
              subject.gpu);
}
void original_dequantize(const BenchCase& subject, const Addresses& addresses,
                         ops::Launch& launch) {
  const ops::BlockFormat format = format_of_case(subject);
  const std::size_t count = subject.count();
  pass(launch, addresses.inputs[0], addresses.output);
  if (has_long_blocks(format)) {
    const bool narrow_block =
        format == ops::BlockFormat::kQ4_K || format == ops::BlockFormat::kQ8_K;
    launch.block = {narrow_block ? 32U : 64U, 1, 1};
    launch.grid = {blocks_for(count, 256), 1, 1};
  } else if (format == ops::BlockFormat::kQ5_0 || format == ops::BlockFormat::kQ5_1) {
    launch.block = {256, 1, 1};
    launch.grid = {blocks_for(count, 512), 1, 1};
    pass(launch, narrow(count));
  } else {
    launch.block = {32, 1, 1};
    launch.grid = {blocks_for(count, 256), 1, 1};
    pass(launch, narrow(count / 32));
  }
}

// --- get_rows

std::size_t places_of(const BenchCase& subject) {
  return subject.indexed_size != 0 ? subject.indexed_size : subject.dims[0];
}
std::size_t chosen_values(const BenchCase& subject) {
  return std::min(subject.dims[0], places_of(subject)) * subject.dims[1];
}
Operands get_rows_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t indexed_size = places_of(subject), columns = subject.dims[1];
  return {{blocks(format_of(kernel), indexed_size * columns, chosen_values(subject)),
           ids_below(subject.dims[0], indexed_size)},
          f32_of(subject.dims[0] * columns)};
}
Operands get_float_rows_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t indexed_size = places_of(subject), columns = subject.dims[1];
  Operand table{kernel.first, {{indexed_size, columns}}};
  table.used = chosen_values(subject);
  return {{table, ids_below(subject.dims[0], indexed_size)}, f32_of(subject.dims[0] * columns)};
}
template <typename Call>
Result<ops::Launch> plan_rows(Call call, const BenchCase& subject, const Addresses& addresses,
                              ops::Geometry geometry) {
  call.count = subject.dims[0];
  call.columns = subject.dims[1];
  call.table = addresses.inputs[0];
  call.ids = addresses.inputs[1];
  call.out = addresses.output;
  call.geometry = geometry;
  return plan(call, subject.gpu);
}
Result<ops::Launch> plan_get_rows(const Kernel& kernel, const BenchCase& subject,
                                  const Addresses& addresses, ops::Geometry geometry) {
  ops::GetRows call;
  call.format = format_of(kernel);
  return plan_rows(call, subject, addresses, geometry);
}
Result<ops::Launch> plan_get_float_rows(const Kernel& kernel, const BenchCase& subject,
                                        const Addresses& addresses, ops::Geometry geometry) {
  ops::GetFloatRows call;
  call.dtype = kernel.first;
  return plan_rows(call, subject, addresses, geometry);
}
void pass_rows(const BenchCase& subject, const Addresses& addresses, std::size_t row_bytes,
               ops::Launch& launch) {
  pass(launch, addresses.inputs[0], addresses.inputs[1], addresses.output,
       static_cast<std::int64_t>(subject.dims[1]), std::uint64_t{row_bytes});
}
void original_get_rows(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  const ops::BlockFormat format = format_of_case(subject);
  const auto ids = static_cast<std::uint32_t>(subject.dims[0]);
  const std::size_t columns = subject.dims[1];
  if (has_long_blocks(format)) {
    launch.block = {format == ops::BlockFormat::kQ4_K ? 32U : 64U, 1, 1};
    launch.grid = {ids, blocks_for(columns, 256), 1};
  } else {
    launch.block = {256, 1, 1};
    launch.grid = {ids, blocks_for(columns, 512), 1};
  }
  pass_rows(subject, addresses, ops::row_bytes(format, columns), launch);
}
void original_get_float_rows(const BenchCase& subject, const Addresses& addresses,
                             ops::Launch& launch) {
  launch.block = {256, 1, 1};
  launch.grid = {static_cast<std::uint32_t>(subject.dims[0]), blocks_for(subject.dims[1], 256), 1};
  pass_rows(subject, addresses, subject.dims[1] * size_of(kernel_of(subject).first), launch);
}

// --- dequantize_mul_mat_vec

Operands f32_vector_operands(const Kernel& kernel, const BenchCase& subject) {
  return {{blocks(format_of(kernel), subject.count()), f32_of(subject.dims[1])},
          f32_of(subject.dims[0])};
}
Result<ops::Launch> plan_f32_vector(const Kernel& kernel, const BenchCase& subject,
                                    const Addresses& addresses, ops::Geometry geometry) {
  ops::DequantizeMulMatVec call;
  call.format = format_of(kernel);
  call.rows = subject.dims[0];
  call.columns = subject.dims[1];
  call.weights = addresses.inputs[0];
  call.x = addresses.inputs[1];
  call.dst = addresses.output;
  call.geometry = geometry;
  return plan(call, subject.gpu);
}
void original_f32_vector(const BenchCase& subject, const Addresses& addresses,
                         ops::Launch& launch) {
  launch.block = {32, 1, 1};
  launch.grid = {static_cast<std::uint32_t>(subject.dims[0]), 1, 1};
  pass(launch, addresses.inputs[0], addresses.inputs[1], addresses.output, narrow(subject.dims[1]));
  if (format_of_case(subject) != ops::BlockFormat::kQ5_K) pass(launch, narrow(subject.dims[0]));
}

// --- mul_mat_vec and mul_mat

std::size_t vectors_in_name(std::string_view kernel) {
  return static_cast<std::size_t>(kernel.back() - '0');
}
std::size_t vectors_of(const BenchCase& subject) {
  if (subject.dims.rank() == 3) return subject.dims[2];
  return vectors_in_name(subject.kernel);
}
Operands product_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t rows = subject.dims[0], columns = subject.dims[1];
  const std::size_t vectors = vectors_of(subject);
  return {{blocks(format_of(kernel), rows * columns), activations(vectors, columns),
           only_before(vectors * columns)},
          f32_of(vectors * rows)};
}
Result<ops::Launch> quantize_before(std::size_t vectors, const BenchCase& subject,
                                    const Addresses& addresses) {
  ops::QuantizeQ8_1 call;
  call.rows = vectors;
  call.columns = subject.dims[1];
  call.x = addresses.inputs[2];
  call.out = const_cast<void*>(addresses.inputs[1]);
  return plan(call, subject.gpu);
}
Result<ops::Launch> before_product(const Kernel&, const BenchCase& subject,
                                   const Addresses& addresses) {
  return quantize_before(vectors_of(subject), subject, addresses);
}
ops::Q8_1Product product_of(const Kernel& kernel, const BenchCase& subject,
                            const Addresses& addresses) {
  ops::Q8_1Product product;
  product.format = format_of(kernel);
  product.rows = subject.dims[0];
  product.columns = subject.dims[1];
  product.vectors = vectors_of(subject);
  product.weights = addresses.inputs[0];
  product.activations = addresses.inputs[1];
  product.dst = addresses.output;
  return product;
}
template <typename Call>
Result<ops::Launch> plan_product(const Kernel& kernel, const BenchCase& subject,
                                 const Addresses& addresses, ops::Geometry geometry) {
  return plan(Call{product_of(kernel, subject, addresses), geometry}, subject.gpu);
}
Result<ops::Launch> plan_held(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry) {
  return plan(ops::HeldVectors{product_of(kernel, subject, addresses)}, subject.gpu);
}
void original_vectors(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  const std::size_t rows = subject.dims[0], columns = subject.dims[1];
  const std::size_t vectors = vectors_of(subject);
  launch.block = {32, vectors <= 4 ? 4U : 2U, 1};
  launch.grid = {blocks_for(rows, vectors == 1 ? 1 : 2), 1, 1};
  pass(launch, addresses.inputs[0], addresses.inputs[1], addresses.output, narrow(columns),
       narrow(rows), narrow(ops::padded_columns(columns)), narrow(rows));
}
struct Tile {
  std::size_t rows, vectors;
};
Tile original_tile(ops::BlockFormat format) {
  switch (format) {
    case ops::BlockFormat::kQ5_0:
    case ops::BlockFormat::kQ5_1:
    case ops::BlockFormat::kQ8_0: return {64, 128};
    case ops::BlockFormat::kQ3_K: return {128, 128};
    case ops::BlockFormat::kQ6_K: return {64, 64};
    default: return {128, 64};
  }
}
void original_matrix(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  const std::size_t rows = subject.dims[0], columns = subject.dims[1];
  const Tile tile = original_tile(format_of_case(subject));
  launch.block = {32, 4, 1};
  launch.grid = {blocks_for(rows, tile.rows), blocks_for(vectors_of(subject), tile.vectors), 1};
  pass(launch, addresses.inputs[0], addresses.inputs[1], addresses.output, narrow(columns),
       narrow(rows), narrow(vectors_of(subject)), narrow(ops::padded_columns(columns)),
       narrow(rows));
}

const ops::Extents kMatrices[] = {{14336, 4096}, {4096, 14336}, {4096, 4096},
                                  {4096, 512},   {2048, 2048},  {1024, 1024}};
std::vector<ops::Extents> matrices(const Kernel& kernel) {
  if (is_measured_widely(format_of(kernel))) return {std::begin(kMatrices), std::end(kMatrices)};
  return {kMatrices[0]};
}
std::vector<ops::Extents> vector_shapes(const Kernel& kernel) {
  const std::size_t vectors = vectors_in_name(kernel.name);
  return (vectors & (vectors - 1)) == 0 ? matrices(kernel) : std::vector<ops::Extents>();
}
std::vector<ops::Extents> matrix_shapes(const Kernel& kernel) {
  if (!is_measured_widely(format_of(kernel))) return {{4096, 4096, 64}, {4096, 4096, 512}};
  constexpr std::size_t kVectors[] = {16, 64, 512}, kMore[] = {32, 128};
  std::vector<ops::Extents> shapes;
  for (const ops::Extents& matrix : kMatrices) {
    for (const std::size_t vectors : kVectors) {
      shapes.push_back({matrix[0], matrix[1], vectors});
    }
  }
  for (const std::size_t vectors : kMore) shapes.push_back({4096, 4096, vectors});
  return shapes;
}
std::vector<ops::Extents> held_shapes(const Kernel& kernel) {
  if (!is_measured_widely(format_of(kernel))) return {{14336, 4096, 8}};
  return {{14336, 4096, 2}, {14336, 4096, 4}, {14336, 4096, 8}, {4096, 14336, 8}};
}
BenchCase held_case(std::string kernel, std::size_t count) {
  BenchCase subject = matrix_case(std::move(kernel), count);
  subject.dims = {subject.dims[0], subject.dims[1], 8};
  subject.shape += " x8";
  return subject;
}
// A product of one vector is bound by reading the matrix; one of more vectors is also bound by
// arithmetic.
Bound bound_of_vectors(const Kernel& kernel) {
  return vectors_in_name(kernel.name) == 1 ? Bound::kReads : Bound::kArithmetic;
}

// --- indexed_moe_forward: the slots of a batch share its activations

Operands moe_operands(const Kernel& kernel, const BenchCase& subject) {
  const std::size_t rows = subject.dims[0], columns = subject.dims[1], batches = subject.dims[2];
  const std::size_t tasks = batches * subject.dims[3];
  const std::size_t experts = subject.indexed_size != 0 ? subject.indexed_size : 8;
  return {{blocks(format_of(kernel), experts * rows * columns,
                  std::min(experts, tasks) * rows * columns),
           activations(batches, columns), only_before(batches * columns),
           ids_below(tasks, experts, Numbers::kShuffled)},
          f32_of(tasks * rows)};
}
Result<ops::Launch> before_moe(const Kernel&, const BenchCase& subject,
                               const Addresses& addresses) {
  return quantize_before(subject.dims[2], subject, addresses);
}
Result<ops::Launch> plan_moe(const Kernel& kernel, const BenchCase& subject,
                             const Addresses& addresses, ops::Geometry geometry) {
  ops::IndexedMoe call;
  call.format = format_of(kernel);
  call.rows = subject.dims[0];
  call.columns = subject.dims[1];
  call.batches = subject.dims[2];
  call.slots = subject.dims[3];
  call.weights = addresses.inputs[0];
  call.activations = addresses.inputs[1];
  call.experts = addresses.inputs[3];
  call.dst = addresses.output;
  call.geometry = geometry;
  return plan(call, subject.gpu);
}
void original_moe(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  const ops::Extents& dims = subject.dims;
  launch.block = {32, 4, 1};
  launch.grid = {static_cast<std::uint32_t>(dims[0]), static_cast<std::uint32_t>(dims[2]),
                 static_cast<std::uint32_t>(dims[3])};
  pass(launch, addresses.inputs[0], addresses.inputs[1], addresses.inputs[3], addresses.output,
       narrow(dims[0]), narrow(dims[1]), narrow(dims[2]), narrow(dims[3]),
       narrow(ops::padded_columns(dims[1])), Int{1});
}
BenchCase moe_case(std::string kernel, std::size_t count) {
  BenchCase subject = matrix_case(std::move(kernel), count);
  subject.dims = {subject.dims[0], subject.dims[1], 2, 4};
  subject.shape += " b2 top4";
  return subject;
}

}  // namespace

std::vector<Family> quantized_families() {
  constexpr std::size_t kMaxCount = std::size_t{1} << 26;
  const auto rows_family = [](std::string_view name, auto operands, auto plan, auto original) {
    return Family{.name = name,
                  .data_matters = false,
                  .max_count = kMaxCount,
                  .shapes = {{8, 4096}, {2048, 4096}},
                  .sized = matrix_case,
                  .operands = operands,
                  .plan = plan,
                  .launch_original = original};
  };
  return {
      {.name = "quantize",
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes = {{1, 4096}, {8, 14336}, {4096, 4096}},
       .sized = matrix_case,
       .operands = quantize_operands,
       .plan = plan_quantize,
       .launch_original = original_quantize},

      {.name = "dequantize",
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of =
           [](const Kernel&) {
             return std::vector<ops::Extents>{{14336, 4096}};
           },
       .sized = whole_blocks,
       .operands = dequantize_operands,
       .plan = plan_dequantize,
       .launch_original = original_dequantize},

      rows_family("get_rows", get_rows_operands, plan_get_rows, original_get_rows),
      rows_family("get_float_rows", get_float_rows_operands, plan_get_float_rows,
                  original_get_float_rows),

      {.name = "dequantize_mul_mat_vec",
       .bound = Bound::kReads,
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of = matrices,
       .sized = matrix_case,
       .operands = f32_vector_operands,
       .plan = plan_f32_vector,
       .launch_original = original_f32_vector},

      {.name = "mul_mat_vec",
       .bound_of = bound_of_vectors,
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of = vector_shapes,
       .sized = matrix_case,
       .operands = product_operands,
       .plan = plan_product<ops::MulMatVec>,
       .before = before_product,
       .launch_original = original_vectors},

      // For formats that the original does not have.
      {.name = "own dequantize",
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of =
           [](const Kernel&) {
             return std::vector<ops::Extents>{{14336, 4096}};
           },
       .sized = whole_blocks,
       .operands = dequantize_operands,
       .plan = plan_dequantize},

      {.name = "own mul_mat_vec",
       .bound = Bound::kReads,
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of = vector_shapes,
       .sized = matrix_case,
       .operands = product_operands,
       .plan = plan_product<ops::MulMatVec>,
       .before = before_product},

      {.name = "held vectors",
       .bound = Bound::kArithmetic,
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of = held_shapes,
       .sized = held_case,
       .operands = product_operands,
       .plan = plan_held,
       .before = before_product},

      {.name = "mul_mat",
       .bound = Bound::kArithmetic,
       .data_matters = false,
       .max_count = kMaxCount,
       .shapes_of = matrix_shapes,
       .sized = tiles_case,
       .operands = product_operands,
       .plan = plan_product<ops::MulMat>,
       .before = before_product,
       .launch_original = original_matrix},

      {.name = "indexed_moe",
       .bound = Bound::kArithmetic,
       .data_matters = false,
       .max_count = kMaxCount,
       .sized = moe_case,
       .operands = moe_operands,
       .plan = plan_moe,
       .before = before_moe,
       .launch_original = original_moe},
  };
}

}  // namespace kiln::bench
