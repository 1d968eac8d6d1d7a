#include <algorithm>

#include "kiln/ops/indexing.hpp"
#include "tests/bench/family_rows.hpp"

namespace kiln::bench {
namespace {

// Dims are places and columns: as many ids as places, each of any of them; of gather rows and
// places.
const std::vector<ops::Extents> kRowShapes = {{8, 4096}, {16384, 4096}, {65536, 64}, {65536, 1024}};

BenchCase rows_of_4096(std::string kernel, std::size_t count) {
  const std::size_t columns = std::min<std::size_t>(count, 4096);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {count / columns, columns};
  return subject;
}

// u8 has no more ids than that.
Operand ids_of(const Kernel& kernel, const ops::Extents& dims, std::size_t places) {
  return {kernel.first,
          {dims},
          size_of(kernel.first) == 1 ? std::min<std::size_t>(places, 255) : places};
}
Operands by_shared_ids(const Kernel& kernel, const BenchCase& subject) {
  const Operand rows{kernel.dtype, {subject.dims}};
  return {{ids_of(kernel, {subject.dims[0]}, subject.dims[0]), rows}, rows};
}
template <std::size_t Dim>
Operands by_own_ids(const Kernel& kernel, const BenchCase& subject) {
  const Operand rows{kernel.dtype, {subject.dims}};
  return {{ids_of(kernel, subject.dims, subject.dims[Dim]), rows}, rows};
}

// A thread for each column.
void one_thread_a_column(const BenchCase& subject, ops::Launch& launch) {
  launch.block = {1024, 1, 1};
  launch.grid = {static_cast<std::uint32_t>((subject.dims[1] + 1023) / 1024), 1, 1};
}

template <typename Call>
Call call_of(const Kernel& kernel, const BenchCase& subject, const Addresses& addresses,
             ops::Geometry geometry) {
  Call call;
  call.ids_dtype = kernel.first;
  call.dtype = kernel.dtype;
  call.dims = subject.dims;
  call.ids = addresses.inputs[0];
  call.inp = addresses.inputs[1];
  call.out = addresses.output;
  call.geometry = geometry;
  return call;
}

Result<ops::Launch> plan_select(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  auto call = call_of<ops::IndexSelect>(kernel, subject, addresses, geometry);
  call.ids_layout = {{subject.dims[0]}};
  return plan(call, subject.gpu);
}
Result<ops::Launch> plan_gather(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  auto call = call_of<ops::Gather>(kernel, subject, addresses, geometry);
  call.dim = 1;
  call.count = subject.dims[1];
  return plan(call, subject.gpu);
}
Result<ops::Launch> plan_add(const Kernel& kernel, const BenchCase& subject,
                             const Addresses& addresses, ops::Geometry geometry) {
  auto call = call_of<ops::IndexAdd>(kernel, subject, addresses, geometry);
  call.size = subject.dims[0];
  return plan(call, subject.gpu);
}
template <ops::ScatterOp Op>
Result<ops::Launch> plan_scatter(const Kernel& kernel, const BenchCase& subject,
                                 const Addresses& addresses, ops::Geometry geometry) {
  auto call = call_of<ops::Scatter>(kernel, subject, addresses, geometry);
  call.op = Op;
  call.size = subject.dims[0];
  return plan(call, subject.gpu);
}

template <ops::ScatterOp Op>
Family scatter(std::string_view name) {
  return {.name = name,
          .shapes = kRowShapes,
          .sized = rows_of_4096,
          .operands = by_own_ids<0>,
          .plan = plan_scatter<Op>,
          .original = {{Role::kInput, 0},
                       {Role::kInput, 1},
                       {Role::kOutput},
                       {Role::kOne64},
                       {Role::kDim64, 0},
                       {Role::kDim64, 0},
                       {Role::kDim64, 1}},
          .original_grid = one_thread_a_column};
}

}  // namespace

std::vector<Family> index_families() {
  return {
      {.name = "index_select",
       .shapes = kRowShapes,
       .sized = rows_of_4096,
       .operands = by_shared_ids,
       .plan = plan_select,
       .original = {{Role::kCount},
                    {Role::kOne64},
                    {Role::kIdsInfo},
                    {Role::kInput, 0},
                    {Role::kInput, 1},
                    {Role::kOutput},
                    {Role::kOne64},
                    {Role::kDim64, 0},
                    {Role::kDim64, 0},
                    {Role::kDim64, 1}}},

      {.name = "gather",
       .shapes = kRowShapes,
       .sized = rows_of_4096,
       .operands = by_own_ids<1>,
       .plan = plan_gather,
       .original = {{Role::kCount},
                    {Role::kInput, 0},
                    {Role::kInput, 1},
                    {Role::kOutput},
                    {Role::kDim64, 0},
                    {Role::kDim64, 1},
                    {Role::kDim64, 1},
                    {Role::kOne64}}},

      {.name = "index_add",
       .shapes = kRowShapes,
       .sized = rows_of_4096,
       .operands = by_shared_ids,
       .plan = plan_add,
       .original = {{Role::kInput, 0},
                    {Role::kDim64, 0},
                    {Role::kInput, 1},
                    {Role::kOutput},
                    {Role::kOne64},
                    {Role::kDim64, 0},
                    {Role::kDim64, 0},
                    {Role::kDim64, 1}},
       .original_grid = one_thread_a_column},

      scatter<ops::ScatterOp::kAssign>("scatter"),
      scatter<ops::ScatterOp::kAdd>("scatter_add"),
  };
}

}  // namespace kiln::bench
