#include "kiln/ops/reduce.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/diagnostic.hpp"
#include "kernels/tuning/split.hpp"
#include "kernels/tuning/workspace.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr auto kReduce = rows_of_each(kReduceOps);
constexpr KernelRows kSum = rows_of("sum");
// In the order of kReduceOps.
constexpr std::array kSplit = {
#define KILN_ROW(name, op, dtypes, output, split, order) rows_of("split_" #split),
    KILN_EACH_REDUCTION(KILN_ROW)
#undef KILN_ROW
};
constexpr std::array kSplitApart = {
#define KILN_ROW(name, op, dtypes, output, split, order) rows_of("split_apart_" #split),
    KILN_EACH_REDUCTION(KILN_ROW)
#undef KILN_ROW
};

// Returns an error unless `over` names dims of the layout, each once.
Result<void> require_dims(const Layout& layout, const Extents& over) {
  bool seen[kMaxRank] = {};
  if (over.empty()) return refused("no dim is reduced").hint("name the dims in 'over'");
  for (const std::size_t dim : over) {
    if (dim >= layout.dims.rank()) {
      return refused("dim " + std::to_string(dim) + " is reduced of shape " +
                     to_string(layout.dims) + ", which has " + std::to_string(layout.dims.rank()) +
                     " dims");
    }
    if (seen[dim]) return refused("dim " + std::to_string(dim) + " is reduced twice");
    seen[dim] = true;
  }
  if (over.rank() > layout.dims.rank()) {
    return refused(std::to_string(over.rank()) + " dims are reduced of shape " +
                   to_string(layout.dims) + ", which has " + std::to_string(layout.dims.rank()));
  }
  return {};
}

// Returns the view with the kept dims first, in their order, and then the reduced dims in the order
// of `over`.
Layout reduced_last(const Layout& layout, const Extents& over) {
  const Extents strides = strides_of(layout);
  Layout view{layout.dims, strides};
  std::size_t at = 0;
  const auto move = [&](std::size_t dim) {
    view.dims[at] = layout.dims[dim];
    view.strides[at] = strides[dim];
    ++at;
  };
  for (std::size_t dim = 0; dim < layout.dims.rank(); ++dim) {
    if (std::find(over.begin(), over.end(), dim) == over.end()) move(dim);
  }
  for (const std::size_t dim : over) move(dim);
  return view;
}

// Returns a launch that takes few elements at once: one block per row and one element per thread,
// or up to four if a row lies along one dim and the rows fill at most half of the device. Returns
// nothing if that takes more threads than the device holds `rounds` times. Measured on an H200, own geometry, in us,
// by fewer threads -> at once: fast_sum_f32 1x4096 2.95 -> 2.42; fast_max_f64 8x4096 3.57 -> 2.91;
// but fast_sum_f32 200x1500 3.48 -> 3.90.
std::optional<tuning::Launch> at_once(const Gpu& gpu, std::size_t rows, std::size_t each,
                                      bool along, std::size_t rounds) {
  unsigned block = 1;
  while (block < each && block < 1024) block *= 2;
  const std::size_t resident = spread_over(gpu).resident();
  const std::size_t most = along && 2 * rows * block <= resident ? 4 : 1;  // elements of a thread
  if (most * block < each || rows * block > rounds * resident) return std::nullopt;
  return tuning::Launch{static_cast<unsigned>(rows), block};
}

bool is_dense(const Layout& view) {
  return view.dims.rank() == 0 || view.strides[view.dims.rank() - 1] == 1;
}
// True if rows that are neighbours in memory are many enough to be read together.
bool go_across(const Layout& view, std::size_t kept, std::size_t rows, std::size_t each) {
  return !is_dense(view) && kept != 0 && view.strides[kept - 1] == 1 &&
         view.dims.rank() == kept + 1 && rows * each >= tuning::kAcross;
}

// kiln's own geometry for more elements. It follows the cases of the kernel
// (kernels/families/reduce.cuh).
tuning::Launch own_geometry(const Gpu& gpu, const Layout& view, std::size_t kept, std::size_t rows,
                            std::size_t each, std::size_t element) {
  const tuning::Spread device = spread_over(gpu);
  if (go_across(view, kept, rows, each)) return tuning::across_rows(device, rows, each);
  const bool dense = is_dense(view);
  const bool has_waves = dense && rows * 64 >= device.resident();
  const unsigned most = has_waves ? tuning::kAnyPiecesOfLane : tuning::kPiecesOfLane;
  constexpr std::size_t kAhead = tuning::kPiecesAhead, kWave = 32;
  std::size_t pieces = dense ? (each * element + 15) / 16 : each;
  const bool many = dense && rows * pieces > device.resident() / tuning::kManyPieces;
  if (many && pieces <= most * kWave) pieces = (pieces + kAhead - 1) / kAhead;
  return tuning::over_rows(device, rows, pieces, kAhead, most);
}

// Returns the distance of neighbours in some dims, in row-major order, or nothing if it varies.
std::optional<std::size_t> distance(const Layout& view, std::size_t first, std::size_t end) {
  std::optional<std::size_t> apart;
  std::size_t count = 1;
  for (std::size_t dim = end; dim-- > first;) {
    if (view.dims[dim] == 1) continue;
    if (!apart) apart = view.strides[dim];
    if (view.strides[dim] != *apart * count) return std::nullopt;
    count *= view.dims[dim];
  }
  return apart ? apart : 1;
}

// Rows whose elements are evenly spaced, and whose first elements are, too.
struct EvenRows {
  std::size_t rows, each, row_stride, stride;

  bool are_neighbours() const { return rows > 1 && row_stride == 1 && stride != 1; }
};
std::optional<EvenRows> even_rows(const Layout& view, std::size_t kept, std::size_t rows,
                                  std::size_t each) {
  const std::optional<std::size_t> row_stride = distance(view, 0, kept);
  const std::optional<std::size_t> stride = distance(view, kept, view.dims.rank());
  if (!row_stride || !stride) return std::nullopt;
  return EvenRows{rows, each, *row_stride, *stride};
}

// Returns how the kernels without a layout take the rows. Returns nothing if the kernel that reads
// a layout is faster. `at_once`: that kernel can take all elements at once.
std::optional<tuning::Split> split_of(const Gpu& gpu, const EvenRows& rows, const Reduce& call,
                                      bool at_once) {
  const tuning::Spread device = spread_over(gpu);
  const auto element = static_cast<unsigned>(size_of(call.dtype));
  tuning::Split split{};
  if (rows.are_neighbours()) {
    if (!at_once) split = tuning::split_across(device, rows.rows, rows.each, element);
    const bool serves = rows.rows * rows.each >= tuning::kAcross &&
                        (split.parts == 1 || rows.each > tuning::kAcrossAlone);
    if (!serves) return std::nullopt;
  } else if (rows.stride == 1) {
    split = tuning::reduction_parts(device, rows.rows, rows.each, element, gives_index(call.op));
  } else if (!at_once) {
    split = tuning::split_rows(device, rows.rows, rows.each, rows.each);
    if (split.parts == 1) return std::nullopt;
  }
  return split.parts != 0 ? std::optional(split) : std::nullopt;
}

Result<Launch> plan_split(const Reduce& call, const EvenRows& rows, const tuning::Split& split) {
  Launch launch;
  const bool apart = rows.stride != 1;
  KILN_TRY(set_kernel(launch, of(apart ? kSplitApart : kSplit, call.op), call.dtype));
  constexpr std::size_t kMaxStates = std::size_t{1} << 31, kMaxStateBytes = 16;
  constexpr std::size_t kMaxRows = tuning::kWorkspaceCounters / 4;
  // Leaves room for whole waves of neighbouring rows.
  constexpr std::size_t kWidestWave = 64;
  const std::size_t states = (rows.rows + kWidestWave) * split.parts;
  if (split.parts > 1 && (rows.rows > kMaxRows || states >= kMaxStates)) {
    return refused(std::to_string(rows.rows) + " rows are too many for " +
                   std::to_string(split.parts) + " parts each");
  }
  launch.grid.x = split.launch.blocks;
  launch.block.x = split.launch.threads;
  if (split.lanes != 0) launch.block = {split.lanes, split.launch.threads / split.lanes, 1};
  if (split.parts > 1) {
    launch.workspace_bytes = tuning::kWorkspaceCounters + states * kMaxStateBytes;
    launch.workspace_argument = 9;
  }
  const std::uint32_t reversed = info(call.op).order == ReduceOrder::kReversed ? 1 : 0;
  launch.pass(SplitReduceKernel<void, void>(), rows.rows, rows.each, rows.row_stride, rows.stride,
              split.parts, split.each, reversed, call.src, call.dst, nullptr);
  return launch;
}

}  // namespace

Result<Launch> plan(const Reduce& call, const Gpu& gpu) {
  const ReduceOpInfo& op = info(call.op);
  Launch launch;
  KILN_TRY(set_kernel(launch, of(kReduce, call.op), call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  KILN_TRY(require_dims(call.layout, call.over));
  if (gives_index(call.op) && call.over.rank() != 1) {
    return refused("'" + std::string(op.root) + "' is over " + to_string(call.over) +
                   ", and an index is along one dim");
  }
  std::size_t each = 1;  // elements of one result
  for (const std::size_t dim : call.over) each *= call.layout.dims[dim];
  if (gives_index(call.op))
    KILN_TRY(in_32_bits("columns", each, std::numeric_limits<std::uint32_t>::max()));
  constexpr std::uint32_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();
  KILN_TRY_ASSIGN(const std::uint32_t blocks, in_32_bits("results", count / each, kMaxBlocks));

  const Layout view = reduced_last(call.layout, call.over);
  const std::size_t kept = view.dims.rank() - call.over.rank();
  const std::optional<EvenRows> even = even_rows(view, kept, blocks, each);
  if (call.parts != 0) {
    if (!even) return refused("the elements of shape " + to_string(view) + " are not evenly apart");
    return plan_split(call, *even, tuning::split_into(call.parts, blocks, each));
  }
  const bool contiguous = even && even->stride == 1 && (blocks == 1 || even->row_stride == each);
  // The kernel allows two rounds. They serve rows that are neighbours, unless these are evenly apart
  // and short. Measured on an H200, own geometry, in us, rows read together -> at once: 32 times 77
  // neighbouring rows of 128 elements, fast_sum_f32 6.00 -> 4.01; 64 times 64 of them,
  // fast_argmax_f32 6.31 -> 5.35; 700 neighbouring rows of 500 elements 6.22 -> 4.19, but 3100 of
  // 100 elements 3.16 -> 4.16.
  constexpr std::size_t kShort = 400;
  const bool twice = (!even || each > kShort) && go_across(view, kept, blocks, each);
  const std::optional<tuning::Launch> small =
      at_once(gpu, blocks, each, call.over.rank() == 1 || contiguous, twice ? 2 : 1);
  if (call.geometry == Geometry::kOwn && even) {
    const std::optional<tuning::Split> split = split_of(gpu, *even, call, small.has_value());
    const bool counted = split && (split->parts == 1 || blocks <= tuning::kWorkspaceCounters / 4);
    if (counted) return plan_split(call, *even, *split);
  }
  launch.layout = layout_block({{"src", view}});  // never null
  KILN_TRY(require_counted(launch.layout, view.dims.rank()));
  launch.layout_argument = 3;
  if (call.geometry == Geometry::kOwn && each != 0) {
    const tuning::Launch own =
        small ? *small : own_geometry(gpu, view, kept, blocks, each, size_of(call.dtype));
    launch.grid.x = own.blocks;
    launch.block.x = own.threads;
  } else {
    launch.grid.x = blocks;
    launch.block.x = 1;
    while (launch.block.x < std::min<std::size_t>(each, 1024)) launch.block.x *= 2;
  }
  launch.pass(ReduceKernel<void, void>(), count, each, view.dims.rank(), nullptr, call.src,
              call.dst);
  return launch;
}

Result<Launch> plan(const SumInto& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kSum, call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  KILN_TRY(require_dims(call.layout, call.over));

  launch.layout = layout_block({{"inp", call.layout}});
  KILN_TRY(require_counted(launch.layout, call.layout.dims.rank()));
  // Appends the sizes of the summed dims and then their row-major strides, outermost dim first.
  // Removing dims in this order leaves the strides of the dims inside unchanged.
  Extents over = call.over;
  std::sort(&over[0], &over[0] + over.rank());
  const Extents strides = strides_of({call.layout.dims});
  for (const std::size_t dim : over) launch.layout.push_back(call.layout.dims[dim]);
  for (const std::size_t dim : over) launch.layout.push_back(strides[dim]);
  launch.layout_argument = 3;
  const tuning::Spread device = spread_over(gpu);
  if (size_of(call.dtype) == 2) {
    // A block first sums its own elements, so large blocks are faster; few elements take one round.
    // Measured on an H200, own geometry, one sum of f16, in us, blocks of 128 -> 1024 threads:
    // 1,024 elements 4.1 -> 3.1; 700,000 12.7 -> 9.2; 2,000,000 33 -> 22.
    constexpr std::size_t kFewRounds = std::size_t{1} << 21;
    constexpr unsigned kBlock = 1024;
    tuning::Launch own = device.over(count, kBlock);
    if (count <= kFewRounds) own.blocks = static_cast<unsigned>((count - 1) / kBlock + 1);
    KILN_TRY(set_grid(launch, call.geometry, count, own));
  } else {
    KILN_TRY(set_grid(launch, call.geometry, count, one_by_one(device, count)));
  }
  launch.pass(SumIntoKernel<void>(), count, call.layout.dims.rank(), over.rank(), nullptr, call.inp,
              call.out);
  return launch;
}

}  // namespace kiln::ops
