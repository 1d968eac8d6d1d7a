#include "tests/bench/bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/diagnostic.hpp"
#include "kiln/ops/scalar.hpp"

namespace kiln::bench {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kBeyondCache = 256 * kMebibyte;  // several times the L2 cache
constexpr std::size_t kValues = kMebibyte;             // distinct values, repeated over the inputs
constexpr std::size_t kMaxPieces = 400;                // launches in a graph
constexpr std::size_t kCachedBytes = 16 * kMebibyte;   // fit in any data center GPU's L2 cache

// Distance from one set of an operand to the next: well aligned, and a whole number of the units
// that are repeated; one unit if there are no elements.
std::size_t padded(const Operand& operand) {
  const std::size_t step = std::lcm(std::size_t{256}, operand.unit());
  return (std::max<std::size_t>(operand.bytes(), 1) + step - 1) / step * step;
}

std::size_t padded_inputs(const Operands& operands) {
  std::size_t bytes = 0;
  for (const Operand& input : operands.inputs) bytes += padded(input);
  return bytes;
}

// Returns the largest number of launches in a sample: about 2 ms at full speed, so that the start
// of the sample is negligible.
std::size_t pieces_of(double bytes) {
  const double one_us = std::max(bytes / 4e6, 1.0);
  return std::clamp<std::size_t>(static_cast<std::size_t>(2000 / one_us), 4, kMaxPieces);
}

// True if two results differ by more than different rounding can explain.
bool differs(ops::DType dtype, std::uint64_t a, std::uint64_t b) {
  if (a == b) return false;
  if (!is_float(dtype)) return true;
  const double left = ops::Scalar::of_bits(dtype, a).value();
  const double right = ops::Scalar::of_bits(dtype, b).value();
  if (std::isnan(left) || std::isnan(right)) return std::isnan(left) != std::isnan(right);
  const double tolerance = size_of(dtype) == 1 ? 0.13 : 0.02;
  return std::fabs(left - right) > tolerance * std::max(std::fabs(left), std::fabs(right)) + 0.01;
}

}  // namespace

Bench::Bench(const Device& device, const Settings& settings, std::unique_ptr<CudaClock> clock,
             Stream stream)
    : device_(device),
      settings_(settings),
      clock_(std::move(clock)),
      stream_(std::move(stream)),
      launcher_(device, stream_) {
  if (!settings.originals.empty()) {
    originals_.emplace(device, *clock_, originals_in(settings.originals));
  }
  if (!settings.target.empty()) ours_.emplace(device, *clock_, ours_for(settings.target));
}

Result<bool> Bench::fits_cache(const BenchCase& subject) {
  KILN_TRY_ASSIGN(const Operands operands, operands_of(subject));
  return padded_inputs(operands) + padded(operands.output) <= kCachedBytes;
}

Result<Bench> Bench::open(const Device& device, const Settings& settings,
                          const std::vector<BenchCase>& cases) {
  std::size_t inp_bytes = 512 * kMebibyte, out_bytes = 512 * kMebibyte;
  for (const BenchCase& each : cases) {
    KILN_TRY_ASSIGN(const Operands operands, operands_of(each));
    inp_bytes = std::max(inp_bytes, padded_inputs(operands));
    out_bytes = std::max(out_bytes, padded(operands.output));
  }
  KILN_TRY_ASSIGN(CudaClock clock, CudaClock::open(device.info().ordinal));
  KILN_TRY_ASSIGN(Stream stream, device.create_stream());
  Bench bench(device, settings, std::make_unique<CudaClock>(std::move(clock)), std::move(stream));
  KILN_TRY_ASSIGN(bench.inp_, device.allocate(inp_bytes));
  KILN_TRY_ASSIGN(bench.out_, device.allocate(out_bytes));
  return bench;
}

// Returns the number of sets of operands. No launch of a larger case finds its operands in the
// cache. Those of a small case, which a graph cannot drive out of the cache, all stay there, as
// they would in a program that has just computed them.
std::size_t Bench::sets_of(std::size_t set_bytes) const {
  constexpr std::size_t kEnough = 50;  // more take longer to plan, and change nothing
  if (settings_.is_cached || set_bytes * kMaxPieces < kBeyondCache) {
    return std::clamp<std::size_t>(kCachedBytes / set_bytes, 1, kEnough);
  }
  return std::min(kBeyondCache / set_bytes + 2, kMaxPieces);
}

Bench::BufferLayout Bench::layout_of(const Operands& operands) const {
  BufferLayout layout;
  for (const Operand& input : operands.inputs) layout.inputs.push_back(padded(input));
  layout.output = padded(operands.output);
  const std::size_t inp_bytes = padded_inputs(operands);
  const std::size_t set_bytes = inp_bytes + layout.output;
  layout.sets = sets_of(set_bytes);
  if (inp_bytes != 0) layout.sets = std::min(layout.sets, inp_.size() / inp_bytes);
  layout.sets = std::max<std::size_t>(1, std::min(layout.sets, out_.size() / layout.output));
  return layout;
}

// The order is: all sets of the first input, all sets of the second, ...
Addresses Bench::addresses_of(const BufferLayout& layout, std::size_t set) const {
  Addresses addresses;
  std::size_t begin = 0;
  for (const std::size_t bytes : layout.inputs) {
    addresses.inputs.push_back(inp_.as<char>() + begin + set * bytes);
    begin += layout.sets * bytes;
  }
  addresses.output = out_.as<char>() + set * layout.output;
  return addresses;
}

Bench::Content Bench::content(const Operand& operand, DataKind kind) {
  return {operand.dtype, operand.below, operand.numbers, operand.blocks, kind};
}

const std::vector<std::byte>& Bench::values_of(const Operand& operand, DataKind kind) {
  std::vector<std::byte>& cached = values_[content(operand, kind)];
  if (cached.empty()) cached = content_of(operand, kind, kValues);
  return cached;
}

Result<void> Bench::prepare_ours(const ops::Launch& launch) {
  return ours_ ? ours_->prepare(launch) : launcher_.prepare(launch);
}
Result<void> Bench::run_ours(const ops::Launch& launch) const {
  return ours_ ? ours_->run(launch, stream_) : launcher_.run(launch);
}

Result<void> Bench::fill_inputs(const Operands& operands, const BufferLayout& layout,
                                DataKind kind) {
  decltype(input_contents_) contents;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
    // A single input fills the whole buffer, so that the next case with the same input finds it
    // filled.
    const std::size_t bytes =
        operands.inputs.size() == 1 ? inp_.size() : layout.sets * layout.inputs[i];
    const Operand& input = operands.inputs[i];
    contents.emplace_back(content(input, kind), begin, bytes);
    begin += bytes;
  }
  if (contents.empty() || contents == input_contents_) return {};
  for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
    const std::vector<std::byte>& source = values_of(operands.inputs[i], kind);
    char* const target = inp_.as<char>() + std::get<1>(contents[i]);
    const std::size_t bytes = std::get<2>(contents[i]);
    std::size_t filled = std::min(source.size(), bytes);
    KILN_TRY(device_.copy_to_device(target, source.data(), filled));
    while (filled < bytes) {
      const std::size_t count = std::min(filled, bytes - filled);
      KILN_TRY(device_.copy_on_device(target + filled, target, count));
      filled += count;
    }
  }
  KILN_TRY(device_.synchronize());
  input_contents_ = std::move(contents);
  return {};
}

Result<double> Bench::copy_us(double bytes) {
  const std::size_t half = std::max<std::size_t>(static_cast<std::size_t>(bytes / 2) / 16 * 16, 16);
  if (const auto cached = copies_.find(half); cached != copies_.end()) return cached->second;
  const std::size_t capacity = std::min(inp_.size(), out_.size());
  const std::size_t sets = std::clamp<std::size_t>(capacity / half, 1, sets_of(2 * half));
  const std::size_t length = std::min(half, capacity);
  const auto source = [&](std::size_t i) { return inp_.as<char>() + i % sets * length; };
  const auto target = [&](std::size_t i) { return out_.as<char>() + i % sets * length; };
  // A copy as a node of a graph is slower than one on a stream, so the stream is measured.
  const CudaClock::Plan plan{pieces_of(bytes), std::min<std::size_t>(settings_.samples, 15)};
  KILN_TRY_ASSIGN(const double by_engine, clock_->stream_us(stream_, plan, [&](std::size_t i) {
    return clock_->copy(stream_, target(i), source(i), length);
  }));
  KILN_TRY_ASSIGN(const double by_kernel, clock_->graph_us(stream_, plan, [&](std::size_t i) {
    return clock_->copy_by_kernel(stream_, target(i), source(i), length);
  }));
  // The buffers are those of the case, which may hold less than one copy of all its bytes.
  const double scale = static_cast<double>(half) / static_cast<double>(length);
  return copies_[half] = std::min(by_engine, by_kernel) * scale;
}

Result<double> Bench::read_us(double bytes) {
  const std::size_t length = std::min(static_cast<std::size_t>(bytes) / 16 * 16 + 16, inp_.size());
  const double scale = std::max(1.0, bytes / static_cast<double>(length));
  if (const auto cached = reads_.find(length); cached != reads_.end()) {
    return cached->second * scale;
  }
  const std::size_t sets = std::clamp<std::size_t>(inp_.size() / length, 1, sets_of(length));
  const CudaClock::Plan plan{pieces_of(bytes), std::min<std::size_t>(settings_.samples, 15)};
  KILN_TRY_ASSIGN(reads_[length], clock_->graph_us(stream_, plan, [&](std::size_t i) {
    return clock_->read_by_kernel(stream_, out_.data(), inp_.as<char>() + i % sets * length,
                                  length);
  }));
  return reads_[length] * scale;
}

Result<Bench::Launches> Bench::plan_launches(const BenchCase& subject, const KernelTraits& traits,
                                             const BufferLayout& layout) {
  Launches launches;
  for (std::size_t set = 0; set < layout.sets; ++set) {
    const Addresses addresses = addresses_of(layout, set);
    KILN_TRY_ASSIGN(const std::optional<ops::Launch> first, plan_first(subject, addresses));
    if (first) {
      KILN_TRY(prepare_ours(*first));
      KILN_TRY(run_ours(*first));
    }
    KILN_TRY_ASSIGN(launches.own.emplace_back(),
                    plan_ours(subject, addresses, ops::Geometry::kOwn));
    KILN_TRY_ASSIGN(launches.original_grid.emplace_back(),
                    plan_ours(subject, addresses, ops::Geometry::kReference));
    if (traits.has_step_before) {
      KILN_TRY_ASSIGN(std::optional<ops::Launch> step, plan_before(subject, addresses));
      launches.before.push_back(std::move(*step));
    }
    if (!traits.has_original) continue;
    KILN_TRY_ASSIGN(launches.original.emplace_back(), plan_original(subject, addresses));
  }
  return launches;
}

Result<Measurement> Bench::measure(const BenchCase& requested) {
  BenchCase subject = requested;
  subject.gpu = ops::Gpu::of(device_.info());
  KILN_TRY_ASSIGN(const KernelTraits traits, traits_of(subject.kernel));
  KILN_TRY_ASSIGN(const Operands operands, operands_of(subject));
  Measurement measured;
  measured.subject = subject;
  measured.cost = traits.cost;
  measured.bound = traits.bound;
  measured.module = traits.module;
  measured.dtype = traits.dtype;
  measured.contiguous = operands.is_contiguous();
  measured.min_bytes = operands.min_bytes();
  measured.stands_for_original = traits.stands_for_original;

  const BufferLayout layout = layout_of(operands);
  KILN_TRY(fill_inputs(operands, layout, subject.kind));
  KILN_TRY_ASSIGN(measured.chosen, is_chosen(subject, addresses_of(layout, 0)));
  KILN_TRY_ASSIGN(const Launches launches, plan_launches(subject, traits, layout));

  KILN_TRY(prepare_ours(launches.own[0]));
  KILN_TRY(prepare_ours(launches.original_grid[0]));
  std::vector<CudaClock::Work> works = {
      [&](std::size_t i) { return run_ours(launches.own[i % layout.sets]); },
      [&](std::size_t i) { return run_ours(launches.original_grid[i % layout.sets]); },
      [&](std::size_t) {
        const ops::Launch& empty = traits.has_original ? launches.original[0] : launches.own[0];
        return clock_->launch_nothing(stream_, empty.grid, empty.block);
      }};
  const bool has_original = originals_ && traits.has_original;
  if (has_original) {
    KILN_TRY(originals_->prepare(launches.original[0]));
    works.push_back([&](std::size_t i) {
      return originals_->run(launches.original[i % layout.sets], stream_);
    });
  }
  if (!launches.before.empty()) {
    KILN_TRY(prepare_ours(launches.before[0]));
    works.push_back([&](std::size_t i) -> Result<void> {
      KILN_TRY(run_ours(launches.before[i % layout.sets]));
      return run_ours(launches.own[i % layout.sets]);
    });
  }
  const CudaClock::Plan plan{pieces_of(measured.min_bytes), settings_.samples};
  KILN_TRY_ASSIGN(const std::vector<double> times,
                  clock_->graphs_us(stream_, plan, settings_.budget_us, works));
  measured.own_us = times[0];
  measured.original_grid_us = times[1];
  measured.empty_us = times[2];
  if (has_original) measured.original_us = times[3];
  if (!launches.before.empty()) measured.with_step_before_us = times.back();
  if (std::max(measured.own_us, measured.original_grid_us) >= kLongCaseUs) {
    KILN_TRY_ASSIGN(measured.copy_us, copy_us(measured.min_bytes));
  }
  if (measured.bound == Bound::kReads && measured.min_bytes >= kJudgedReadBytes) {
    KILN_TRY_ASSIGN(measured.read_us, read_us(measured.min_bytes));
  }
  return measured;
}

Result<std::optional<std::size_t>> Bench::count_differing(const BenchCase& subject) {
  KILN_TRY_ASSIGN(const KernelTraits traits, traits_of(subject.kernel));
  if (!originals_ || !traits.has_original) return std::optional<std::size_t>();
  KILN_TRY_ASSIGN(const Operands operands, operands_of(subject));
  const BufferLayout layout = layout_of(operands);
  KILN_TRY(fill_inputs(operands, layout, subject.kind));
  const Addresses addresses = addresses_of(layout, 0);
  KILN_TRY_ASSIGN(const ops::Launch ours, plan_ours(subject, addresses, ops::Geometry::kOwn));
  KILN_TRY_ASSIGN(const ops::Launch original, plan_original(subject, addresses));
  KILN_TRY(prepare_ours(ours));
  KILN_TRY(originals_->prepare(original));

  std::vector<std::byte> results[2];
  for (std::vector<std::byte>& result : results) {
    result.resize(operands.output.bytes());
    KILN_TRY(device_.copy_to_device(addresses.output, result.data(), result.size()));  // zeros
    KILN_TRY(device_.synchronize());
    KILN_TRY(&result == results ? run_ours(ours) : originals_->run(original, stream_));
    KILN_TRY(stream_.synchronize());
    KILN_TRY(device_.copy_to_host(result.data(), addresses.output, result.size()));
  }
  std::size_t count = 0;
  const std::size_t width = size_of(operands.output.dtype);
  for (std::size_t offset = 0; offset < results[0].size(); offset += width) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, results[0].data() + offset, width);
    std::memcpy(&b, results[1].data() + offset, width);
    count += differs(operands.output.dtype, a, b);
  }
  return std::optional<std::size_t>(count);
}

}  // namespace kiln::bench
