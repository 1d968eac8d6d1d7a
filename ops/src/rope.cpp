#include "kiln/ops/rope.hpp"

#include <limits>

#include "base/diagnostic.hpp"
#include "kernels/tuning/rope.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {

namespace {

constexpr KernelRows kNeighbours = rows_of("rope_i");
constexpr KernelRows kHalves = rows_of("rope");
constexpr KernelRows kTokensFirst = rows_of("rope_thd");

}  // namespace

Result<Launch> plan(const Rope& call, const Gpu& gpu) {
  const KernelRows& kernels = call.kind == RopeKind::kNeighbours          ? kNeighbours
                              : call.kind == RopeKind::kHalves            ? kHalves
                              : call.kind == RopeKind::kHalvesTokensFirst ? kTokensFirst
                                                                          : kNoRows;
  Launch launch;
  KILN_TRY(set_kernel(launch, kernels, call.dtype));
  const Layout src{call.kind == RopeKind::kHalvesTokensFirst
                       ? Extents{call.batches, call.tokens, call.heads, call.head_size}
                       : Extents{call.batches, call.heads, call.tokens, call.head_size}};
  KILN_TRY_ASSIGN(const std::size_t count, element_count(src));
  if (call.head_size % 2 != 0) {
    return refused("heads of " + std::to_string(call.head_size) + " elements are no pairs");
  }
  // One thread per pair, or per chunk of pairs if there are more pairs than the device has threads.
  const tuning::Spread spread = spread_over(gpu);
  const std::size_t pairs = count / 2;
  const unsigned together = tuning::rope_pairs(static_cast<unsigned>(size_of(call.dtype)),
                                               call.kind != RopeKind::kNeighbours);
  KILN_TRY(set_grid(launch, call.geometry, pairs,
                    pairs <= spread.resident()
                        ? spread.contiguous(pairs, together)
                        : one_thread_each(spread, (pairs + together - 1) / together)));

  // Everything except the total number of elements is counted in 32 bits.
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
  const std::size_t each = call.heads * call.tokens * call.head_size;
  KILN_TRY_ASSIGN(const std::uint32_t batch, in_32_bits("elements of a batch", each, kMax));
  KILN_TRY_ASSIGN(const std::uint32_t groups, in_32_bits("heads", call.batches * call.heads, kMax));
  KILN_TRY(in_32_bits("tokens", call.batches * call.tokens, kMax));
  const auto narrow = [](std::size_t size) { return static_cast<std::uint32_t>(size); };
  const std::uint32_t head = narrow(call.tokens * call.head_size);
  const std::uint32_t stride = call.tables == RopeTables::kPerBatch ? batch : 0;
  switch (call.kind) {
    case RopeKind::kNeighbours:
      launch.pass(RopeNeighboursKernel<void>(), call.src, call.cos, call.sin, call.dst, groups,
                  head, stride);
      break;
    case RopeKind::kHalves:
      launch.pass(RopeHalvesKernel<void>(), call.src, call.cos, call.sin, call.dst, groups, head,
                  narrow(call.head_size), stride);
      break;
    case RopeKind::kHalvesTokensFirst:
      launch.pass(RopeTokensFirstKernel<void>(), call.src, call.cos, call.sin, call.dst,
                  narrow(call.batches), narrow(call.tokens), narrow(call.heads),
                  narrow(call.head_size), stride);
      break;
  }
  return launch;
}

}  // namespace kiln::ops
