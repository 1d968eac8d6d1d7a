#include <algorithm>

#include "kiln/ops/indexing.hpp"
#include "tests/bench/family_rows.hpp"

namespace kiln::bench {
namespace {

// Dims are those of the moved elements: elements selected by ids, columns; or outer dims, elements,
// columns. For gather, two dims are rows and elements. The indexed dim is as large as the number of
// ids, unless the case names another size.
const std::vector<ops::Extents> kRowShapes = {{8, 4096}, {16384, 4096}, {65536, 64}, {65536, 1024}};

BenchCase rows_of_4096(std::string kernel, std::size_t count) {
  const std::size_t columns = std::min<std::size_t>(count, 4096);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {count / columns, columns};
  return subject;
}

struct SplitDims {
  std::size_t outer, ids, inner, indexed_size;

  ops::Extents dims(std::size_t size) const { return {outer, size, inner}; }
};
enum class TwoDims : std::uint8_t { kElementsFirst, kRowsFirst };
template <TwoDims kTwo>
SplitDims split_dims(const BenchCase& subject) {
  const ops::Extents& dims = subject.dims;
  SplitDims parts = dims.rank() == 3              ? SplitDims{dims[0], dims[1], dims[2], 0}
                    : kTwo == TwoDims::kRowsFirst ? SplitDims{dims[0], dims[1], 1, 0}
                                                  : SplitDims{1, dims[0], dims[1], 0};
  parts.indexed_size = subject.indexed_size != 0 ? subject.indexed_size : parts.ids;
  return parts;
}

// u8 has only 255 ids.
Operand ids_of(const Kernel& kernel, const ops::Extents& dims, std::size_t indexed_size) {
  return {kernel.first,
          {dims},
          size_of(kernel.first) == 1 ? std::min<std::size_t>(indexed_size, 255) : indexed_size};
}
// The operand that ids index. Only the elements that ids can name count as touched, each once.
Operand indexed_operand(const Kernel& kernel, const SplitDims& parts) {
  return {kernel.dtype,
          {parts.dims(parts.indexed_size)},
          0,
          parts.outer * std::min(parts.ids, parts.indexed_size) * parts.inner};
}
enum class Ids : std::uint8_t { kShared, kOwn };
template <Ids kIds, TwoDims kTwo>
Operand ids_of_case(const Kernel& kernel, const BenchCase& subject) {
  const SplitDims parts = split_dims<kTwo>(subject);
  return ids_of(kernel, kIds == Ids::kShared ? ops::Extents{parts.ids} : parts.dims(parts.ids),
                parts.indexed_size);
}
template <Ids kIds, TwoDims kTwo>
Operands reading_operands(const Kernel& kernel, const BenchCase& subject) {
  const SplitDims parts = split_dims<kTwo>(subject);
  return {{ids_of_case<kIds, kTwo>(kernel, subject), indexed_operand(kernel, parts)},
          {kernel.dtype, {parts.dims(parts.ids)}}};
}
template <Ids kIds>
Operands writing_operands(const Kernel& kernel, const BenchCase& subject) {
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  return {{ids_of_case<kIds, TwoDims::kElementsFirst>(kernel, subject),
           {kernel.dtype, {parts.dims(parts.ids)}}},
          indexed_operand(kernel, parts)};
}

// Sets one thread for each element of the dims other than that of the ids.
void one_thread_a_column(const BenchCase& subject, ops::Launch& launch) {
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  launch.block = {1024, 1, 1};
  launch.grid = {static_cast<std::uint32_t>((parts.outer * parts.inner + 1023) / 1024), 1, 1};
}

template <typename... Values>
void pass(ops::Launch& launch, Values... values) {
  (launch.arguments.push_back(ops::Argument::of(values)), ...);
}
using Size = std::uint64_t;

void original_select(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  pass(launch, Size{subject.count()}, Size{1}, nullptr, addresses.inputs[0], addresses.inputs[1],
       addresses.output, Size{parts.outer}, Size{parts.indexed_size}, Size{parts.ids},
       Size{parts.inner});
  launch.layout = {parts.ids, 1};
  launch.layout_argument = 2;
}
void original_gather(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  const SplitDims parts = split_dims<TwoDims::kRowsFirst>(subject);
  pass(launch, Size{subject.count()}, addresses.inputs[0], addresses.inputs[1], addresses.output,
       Size{parts.outer}, Size{parts.indexed_size}, Size{parts.ids}, Size{parts.inner});
}
void original_add(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  one_thread_a_column(subject, launch);
  pass(launch, addresses.inputs[0], Size{parts.ids}, addresses.inputs[1], addresses.output,
       Size{parts.outer}, Size{parts.ids}, Size{parts.indexed_size}, Size{parts.inner});
}
void original_scatter(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  one_thread_a_column(subject, launch);
  pass(launch, addresses.inputs[0], addresses.inputs[1], addresses.output, Size{parts.outer},
       Size{parts.ids}, Size{parts.indexed_size}, Size{parts.inner});
}

template <typename Call>
Call call_of(const Kernel& kernel, const Addresses& addresses, ops::Geometry geometry) {
  Call call;
  call.ids_dtype = kernel.first;
  call.dtype = kernel.dtype;
  call.dim = 1;
  call.ids = addresses.inputs[0];
  call.inp = addresses.inputs[1];
  call.out = addresses.output;
  call.geometry = geometry;
  return call;
}

Result<ops::Launch> plan_select(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  auto call = call_of<ops::IndexSelect>(kernel, addresses, geometry);
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  call.dims = parts.dims(parts.indexed_size);
  call.ids_layout = {{parts.ids}};
  return plan(call, subject.gpu);
}
Result<ops::Launch> plan_gather(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  auto call = call_of<ops::Gather>(kernel, addresses, geometry);
  const SplitDims parts = split_dims<TwoDims::kRowsFirst>(subject);
  call.dims = parts.dims(parts.indexed_size);
  call.count = parts.ids;
  return plan(call, subject.gpu);
}
Result<ops::Launch> plan_add(const Kernel& kernel, const BenchCase& subject,
                             const Addresses& addresses, ops::Geometry geometry) {
  auto call = call_of<ops::IndexAdd>(kernel, addresses, geometry);
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  call.dims = parts.dims(parts.ids);
  call.size = parts.indexed_size;
  return plan(call, subject.gpu);
}
template <ops::ScatterOp Op>
Result<ops::Launch> plan_scatter(const Kernel& kernel, const BenchCase& subject,
                                 const Addresses& addresses, ops::Geometry geometry) {
  auto call = call_of<ops::Scatter>(kernel, addresses, geometry);
  call.op = Op;
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  call.dims = parts.dims(parts.ids);
  call.size = parts.indexed_size;
  return plan(call, subject.gpu);
}

Result<ops::Launch> plan_add_any(const Kernel& kernel, const BenchCase& subject,
                                 const Addresses& addresses, ops::Geometry /*ours alone*/) {
  auto call = call_of<ops::IndexAdd>(kernel, addresses, ops::Geometry::kOwn);
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  call.dims = parts.dims(parts.ids);
  call.size = parts.indexed_size;
  call.order = ops::SumOrder::kAny;
  return plan(call, subject.gpu);
}
// The third input holds the numbers of the ids. They are not sorted here: sums with distinct ids
// take the same time.
Result<ops::Launch> plan_add_sorted(const Kernel& kernel, const BenchCase& subject,
                                    const Addresses& addresses, ops::Geometry /*ours alone*/) {
  auto call = call_of<ops::IndexAdd>(kernel, addresses, ops::Geometry::kOwn);
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  call.dims = parts.dims(parts.ids);
  call.size = parts.indexed_size;
  call.order = ops::SumOrder::kSorted;
  call.sorted = addresses.inputs[2];
  return plan(call, subject.gpu);
}
Operands add_sorted_operands(const Kernel& kernel, const BenchCase& subject) {
  Operands operands = writing_operands<Ids::kShared>(kernel, subject);
  const std::size_t ids = split_dims<TwoDims::kElementsFirst>(subject).ids;
  operands.inputs.push_back({ops::DType::kU32, {{ids}}, ids});
  return operands;
}
template <ops::ScatterOp Op>
Result<ops::Launch> plan_scatter_any(const Kernel& kernel, const BenchCase& subject,
                                     const Addresses& addresses, ops::Geometry /*ours alone*/) {
  auto call = call_of<ops::Scatter>(kernel, addresses, ops::Geometry::kOwn);
  const SplitDims parts = split_dims<TwoDims::kElementsFirst>(subject);
  call.dims = parts.dims(parts.ids);
  call.size = parts.indexed_size;
  call.op = Op;
  call.order = ops::SumOrder::kAny;
  return plan(call, subject.gpu);
}

// Kernels that write to the elements of ids are bound by the required order, or by atomics.
Family indexed(std::string_view name, Bound bound, decltype(Family::sized) sized,
               decltype(Family::operands) operands, decltype(Family::plan) plan,
               decltype(Family::launch_original) original, std::string_view original_root = {}) {
  return {.name = name,
          .bound = bound,
          .shapes = kRowShapes,
          .sized = sized,
          .operands = operands,
          .plan = plan,
          .original_root = original_root,
          .launch_original = original};
}

}  // namespace

std::vector<Family> index_families() {
  constexpr auto kFirst = TwoDims::kElementsFirst;
  constexpr auto kReading = Bound::kMemory, kWriting = Bound::kArithmetic;
  return {
      indexed("index_select", kReading, rows_of_4096, reading_operands<Ids::kShared, kFirst>,
              plan_select, original_select),
      indexed("gather", kReading, rows_of_4096, reading_operands<Ids::kOwn, TwoDims::kRowsFirst>,
              plan_gather, original_gather),
      indexed("index_add", kWriting, rows_of_4096, writing_operands<Ids::kShared>, plan_add,
              original_add),
      indexed("scatter", kWriting, rows_of_4096, writing_operands<Ids::kOwn>,
              plan_scatter<ops::ScatterOp::kAssign>, original_scatter),
      indexed("scatter_add", kWriting, rows_of_4096, writing_operands<Ids::kOwn>,
              plan_scatter<ops::ScatterOp::kAdd>, original_scatter),
      indexed("index_add_any", kWriting, rows_of_4096, writing_operands<Ids::kShared>, plan_add_any,
              original_add, "ia"),
      indexed("index_add_sorted", kWriting, rows_of_4096, add_sorted_operands, plan_add_sorted,
              original_add, "ia"),
      indexed("scatter_any", kWriting, rows_of_4096, writing_operands<Ids::kOwn>,
              plan_scatter_any<ops::ScatterOp::kAssign>, original_scatter, "s"),
      indexed("scatter_add_any", kWriting, rows_of_4096, writing_operands<Ids::kOwn>,
              plan_scatter_any<ops::ScatterOp::kAdd>, original_scatter, "sa"),
  };
}

}  // namespace kiln::bench
