#include "plan.hpp"

#include <algorithm>
#include <limits>

#include "base/diagnostic.hpp"

namespace kiln::ops {

namespace {

Error no_kernel(std::string_view root, DType dtype, const std::string& taken) {
  return refused("no kernel of '" + std::string(root) + "' takes '" + std::string(name(dtype)) +
                 "'")
      .note("it takes " + taken);
}

}  // namespace

Result<void> require_dtype(std::string_view root, DType dtype, std::initializer_list<DType> taken) {
  if (std::find(taken.begin(), taken.end(), dtype) != taken.end()) return {};
  std::string list;
  for (const DType each : taken) {
    if (!list.empty()) list += ' ';
    list += name(each);
  }
  return no_kernel(root, dtype, list);
}

std::string to_string(const Launch& launch) {
  const auto size = [](const Dim3& dims) {
    std::string text = std::to_string(dims.x);
    if (dims.y != 1 || dims.z != 1) text += "x" + std::to_string(dims.y);
    if (dims.z != 1) text += "x" + std::to_string(dims.z);
    return text;
  };
  return std::string(launch.module) + "." + launch.kernel.text() + "<<<" + size(launch.grid) +
         ", " + size(launch.block) + ">>>";
}

std::string to_string(const LaunchSequence& sequence) {
  std::string text;
  for (const Launch& launch : sequence.launches) {
    if (!text.empty()) text += '\n';
    text += to_string(launch);
    if (!launch.purpose.empty()) text += ": " + std::string(launch.purpose);
  }
  return text;
}

Result<void> set_kernel(Launch& launch, const KernelRows& rows, DType dtype) {
  if (rows.has(dtype)) {
    const std::uint16_t row = rows.by_dtype[static_cast<std::size_t>(dtype)];
    launch.module = kOwnKernels[row].module;
    launch.kernel = kOwnKernels[row].name;
    launch.own_kernel = row;
    return {};
  }
  std::string taken;
  for (const DTypeInfo& each : kDTypes) {
    if (rows.has(each.dtype)) taken += (taken.empty() ? "" : " ") + std::string(each.name);
  }
  return no_kernel(rows.root, dtype, taken);
}

namespace {

constexpr std::uint32_t kReferenceThreads = 1024;

}  // namespace

Result<void> set_grid(Launch& launch, Geometry geometry, std::size_t count, tuning::Launch own) {
  if (geometry == Geometry::kOwn) {
    launch.grid.x = own.blocks;
    launch.block.x = own.threads;
    launch.grid.y = own.rows;
    return {};
  }
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    return refused(std::to_string(count) +
                   " elements are more than the reference geometry can count")
        .note("it counts elements in 32 bits")
        .hint("use Geometry::kOwn");
  }
  launch.grid.x = static_cast<std::uint32_t>((count - 1) / kReferenceThreads + 1);
  launch.block.x = kReferenceThreads;
  return {};
}

tuning::Spread spread_over(const Gpu& gpu) {
  const tuning::Machine* machine = &tuning::machine(tuning::Architecture::kSm80);  // if unknown
  for (const tuning::Machine& each : tuning::kMachines) {
    const std::string_view name = each.target;
    if (gpu.target.substr(0, name.size()) == name) machine = &each;
  }
  return {*machine, gpu.multiprocessors != 0 ? gpu.multiprocessors : machine->multiprocessors};
}

tuning::Launch one_thread_each(const tuning::Spread& spread, std::size_t count) {
  constexpr std::size_t kMaxThreads = std::size_t{1} << 31;
  return spread.singly(std::min(count, kMaxThreads));
}

tuning::Launch one_by_one(const tuning::Spread& spread, std::size_t count, unsigned block) {
  if (block == 0) block = tuning::elementwise(spread.machine.architecture).threads;
  return count <= spread.resident() ? spread.one_each(count) : spread.over(count, block);
}

unsigned even_block(const tuning::Spread& spread, std::size_t threads, unsigned least,
                    unsigned most) {
  for (unsigned block = most; block > least; block /= 2) {
    const std::size_t round = std::size_t{block} * spread.multiprocessors;
    const bool are_even = 10 * ((threads + round - 1) / round * round) <= 11 * threads;
    if (are_even && spread.machine.threads % block == 0) return block;
  }
  return least;
}

namespace {

std::size_t widest_of(const OwnKernel& own) {
  return std::max({size_of(own.first), size_of(own.dtype), size_of(own.out)});
}
// True if a large array takes longer to compute than to move: expensive functions and pairs of
// bytes.
bool is_long(const OwnKernel& own, std::size_t widest) {
  return tuning::cost_of(own.name.data(), tuning::Cost::kBrief) == tuning::Cost::kLongest ||
         (own.module == "binary" && widest == 1);
}

// True if threads of a medium launch may take a chunk each, of `count` elements in all. Kernels of
// two operands take the elements behind whole chunks as well, `where` does not. Some functions of f8
// fill a table of results in each block, for which blocks need more work.
bool may_have_chunk_each(const OwnKernel& own, const tuning::Spread& spread, std::size_t count,
                         unsigned per_chunk) {
  const bool is_whole = count % per_chunk == 0;
  if (own.module == "binary") return true;
  if (own.module == "ternary") return is_whole;
  const tuning::Cost listed = own.cost == Cost::kLong ? tuning::Cost::kLong : tuning::Cost::kBrief;
  const tuning::Cost cost = tuning::cost_of(own.name.data(), listed);
  const bool has_table =
      own.out == DType::kF8E4M3 && tuning::looks_up_f8(cost, spread.machine.architecture);
  return !has_table && (is_whole || tuning::takes_tail(cost));
}

}  // namespace

bool goes_singly(const OwnKernel& own) { return own.cost == Cost::kLong && own.out == DType::kF64; }

bool single_occupancy(const OwnKernel& own, const tuning::Spread& spread) {
  return tuning::occupancy(own.name.data(), spread.machine.architecture) == 1;
}

Result<void> set_elementwise_grid(Launch& launch, const Gpu& gpu, Geometry geometry,
                                  std::size_t count, bool contiguous, std::size_t widest) {
  const OwnKernel& own = kOwnKernels[launch.own_kernel];
  if (widest == 0) widest = widest_of(own);
  const tuning::Spread spread = spread_over(gpu);
  if (goes_singly(own)) return set_grid(launch, geometry, count, one_thread_each(spread, count));
  if (!contiguous) return set_grid(launch, geometry, count, spread.strided(count));
  return set_grid(
      launch, geometry, count,
      spread.contiguous(count, static_cast<unsigned>(16 / widest), single_occupancy(own, spread)));
}

Result<void> set_contiguous_grid(Launch& launch, const Gpu& gpu, Geometry geometry,
                                 std::size_t count, tuning::Grid grid, bool aligned,
                                 std::size_t widest) {
  const OwnKernel& own = kOwnKernels[launch.own_kernel];
  if (widest == 0) widest = widest_of(own);
  const tuning::Spread spread = spread_over(gpu);
  if (goes_singly(own)) return set_grid(launch, geometry, count, one_thread_each(spread, count));
  const auto per_chunk = static_cast<unsigned>(16 / widest);
  const bool alone = single_occupancy(own, spread);
  tuning::Launch blocks = spread.exiting(count, per_chunk, alone, is_long(own, widest), grid);
  if (aligned && may_have_chunk_each(own, spread, count, per_chunk)) {
    const tuning::Medium medium{alone, alone ? 1u : 4u};
    blocks = spread.chunked(count, per_chunk, medium, blocks);
  }
  return set_grid(launch, geometry, count, blocks);
}

Result<void> require_scalar(std::string_view name, const Scalar& scalar, DType dtype) {
  if (scalar.dtype == dtype) return {};
  return refused("'" + std::string(name) + "' is of '" + std::string(ops::name(scalar.dtype)) +
                 "', the elements are of '" + std::string(ops::name(dtype)) + "'");
}

}  // namespace kiln::ops
