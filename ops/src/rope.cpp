#include "kiln/ops/rope.hpp"

#include <limits>

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {

Result<Launch> plan(const Rope& call, const Gpu&) {
  const std::string_view root = call.kind == RopeKind::kNeighbours ? "rope_i"
                                : call.kind == RopeKind::kHalves   ? "rope"
                                                                   : "rope_thd";
  KILN_TRY(require_dtype(root, call.dtype, {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}));
  const Layout src{call.kind == RopeKind::kHalvesTokensFirst
                       ? Extents{call.batches, call.tokens, call.heads, call.head_size}
                       : Extents{call.batches, call.heads, call.tokens, call.head_size}};
  KILN_TRY_ASSIGN(const std::size_t count, element_count(src));
  if (call.head_size % 2 != 0) {
    return Error{ErrorCode::kInvalidInput,
                 "heads of " + std::to_string(call.head_size) + " elements are no pairs",
                 {},
                 {}};
  }
  KILN_TRY(in_32_bits("elements", count, std::numeric_limits<std::uint32_t>::max()));
  const auto narrow = [](std::size_t value) {
    return Argument::of(static_cast<std::uint32_t>(value));
  };
  const std::size_t batch = call.heads * call.tokens * call.head_size;

  Launch launch;
  launch.module = "reduce";
  launch.kernel = kernel_name(root, call.dtype);
  KILN_TRY(set_reference_grid(launch, count / 2));
  launch.arguments = {Argument::of(call.src), Argument::of(call.cos), Argument::of(call.sin),
                      Argument::of(call.dst)};
  if (call.kind == RopeKind::kHalvesTokensFirst) {
    for (const std::size_t size : {call.batches, call.tokens, call.heads, call.head_size}) {
      launch.arguments.push_back(narrow(size));
    }
  } else {
    launch.arguments.push_back(narrow(call.batches * call.heads));
    launch.arguments.push_back(narrow(call.tokens * call.head_size));
    if (call.kind == RopeKind::kHalves) launch.arguments.push_back(narrow(call.head_size));
  }
  launch.arguments.push_back(narrow(call.tables == RopeTables::kPerBatch ? batch : 0));
  return launch;
}

}  // namespace kiln::ops
