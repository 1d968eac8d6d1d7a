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
constexpr std::size_t kFitsCache = 16 * kMebibyte;     // fits in any data center GPU's L2

// Distance from one set of an operand to the next: well aligned, and a whole number of the units
// that are repeated.
std::size_t padded(const Operand& operand) {
  const std::size_t step = std::lcm(std::size_t{256}, operand.unit());
  return (operand.bytes() + step - 1) / step * step;
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
  const double step = size_of(dtype) == 1 ? 0.13 : 0.02;
  return std::fabs(left - right) > step * std::max(std::fabs(left), std::fabs(right)) + 0.01;
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

Result<Bench> Bench::open(const Device& device, const Settings& settings,
                          const std::vector<BenchCase>& cases) {
  std::size_t inp_bytes = 512 * kMebibyte, out_bytes = 512 * kMebibyte;
  for (const BenchCase& each : cases) {
    KILN_TRY_ASSIGN(const Operands operands, operands_of(each));
    std::size_t bytes = 0;
    for (const Operand& input : operands.inputs) bytes += padded(input);
    inp_bytes = std::max(inp_bytes, bytes);
    out_bytes = std::max(out_bytes, padded(operands.output));
  }
  KILN_TRY_ASSIGN(CudaClock clock, CudaClock::open(device.info().ordinal));
  KILN_TRY_ASSIGN(Stream stream, device.create_stream());
  Bench bench(device, settings, std::make_unique<CudaClock>(std::move(clock)), std::move(stream));
  KILN_TRY_ASSIGN(bench.inp_, device.allocate(inp_bytes));
  KILN_TRY_ASSIGN(bench.out_, device.allocate(out_bytes));
  return bench;
}

// Chooses the number of sets so that no launch of a larger case finds its operands in the cache.
// The operands of a small case do stay in the cache, as they would in a program that has just
// computed them.
Bench::Places Bench::places_of(const Operands& operands) const {
  Places places;
  std::size_t inp_bytes = 0;
  for (const Operand& input : operands.inputs) {
    places.inputs.push_back(padded(input));
    inp_bytes += places.inputs.back();
  }
  places.output = padded(operands.output);
  const std::size_t set_bytes = inp_bytes + places.output;
  places.sets = std::min(kBeyondCache / set_bytes + 2, kMaxPieces);
  // If all sets fit in the cache, a few sets serve as well as many and take less time to plan.
  if (places.sets * set_bytes <= kFitsCache) places.sets = std::min<std::size_t>(places.sets, 50);
  if (inp_bytes != 0) places.sets = std::min(places.sets, inp_.size() / inp_bytes);
  places.sets = std::max<std::size_t>(1, std::min(places.sets, out_.size() / places.output));
  return places;
}

// The order is: all sets of the first input, all sets of the second, ...
Addresses Bench::addresses_of(const Places& places, std::size_t set) const {
  Addresses addresses;
  std::size_t begin = 0;
  for (const std::size_t bytes : places.inputs) {
    addresses.inputs.push_back(inp_.as<char>() + begin + set * bytes);
    begin += places.sets * bytes;
  }
  addresses.output = out_.as<char>() + set * places.output;
  return addresses;
}

Bench::Content Bench::content(const Operand& operand, DataKind kind) {
  return {operand.dtype, operand.below, operand.numbers, operand.blocks, kind};
}

const std::vector<std::byte>& Bench::values(const Operand& operand, DataKind kind) {
  std::vector<std::byte>& known = values_[content(operand, kind)];
  if (known.empty()) known = content_of(operand, kind, kValues);
  return known;
}

Result<void> Bench::prepare_ours(const ops::Launch& launch) {
  return ours_ ? ours_->prepare(launch) : launcher_.prepare(launch);
}
Result<void> Bench::run_ours(const ops::Launch& launch) const {
  return ours_ ? ours_->run(launch, stream_) : launcher_.run(launch);
}

Result<void> Bench::fill_inputs(const Operands& operands, const Places& places, DataKind kind) {
  decltype(inputs_are_) wanted;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
    // A single input fills the whole buffer, so that the next case with the same input finds it
    // filled.
    const std::size_t bytes =
        operands.inputs.size() == 1 ? inp_.size() : places.sets * places.inputs[i];
    const Operand& input = operands.inputs[i];
    wanted.emplace_back(content(input, kind), begin, bytes);
    begin += bytes;
  }
  if (wanted.empty() || wanted == inputs_are_) return {};
  for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
    const std::vector<std::byte>& source = values(operands.inputs[i], kind);
    char* const target = inp_.as<char>() + std::get<1>(wanted[i]);
    const std::size_t bytes = std::get<2>(wanted[i]);
    std::size_t filled = std::min(source.size(), bytes);
    KILN_TRY(device_.copy_to_device(target, source.data(), filled));
    while (filled < bytes) {
      const std::size_t more = std::min(filled, bytes - filled);
      KILN_TRY(device_.copy_on_device(target + filled, target, more));
      filled += more;
    }
  }
  KILN_TRY(device_.synchronize());
  inputs_are_ = std::move(wanted);
  return {};
}

Result<double> Bench::copy_us(double bytes) {
  const std::size_t half = std::max<std::size_t>(static_cast<std::size_t>(bytes / 2) / 16 * 16, 16);
  if (const auto known = copies_.find(half); known != copies_.end()) return known->second;
  const std::size_t room = std::min(inp_.size(), out_.size());
  const std::size_t sets = std::clamp<std::size_t>(room / half, 1, kBeyondCache / half + 2);
  const std::size_t length = std::min(half, room);
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
  const double whole = static_cast<double>(half) / static_cast<double>(length);
  return copies_[half] = std::min(by_engine, by_kernel) * whole;
}

Result<double> Bench::read_us(double bytes) {
  const std::size_t length = std::min(static_cast<std::size_t>(bytes) / 16 * 16 + 16, inp_.size());
  const double whole = std::max(1.0, bytes / static_cast<double>(length));
  if (const auto known = reads_.find(length); known != reads_.end()) return known->second * whole;
  const std::size_t sets =
      std::clamp<std::size_t>(inp_.size() / length, 1, kBeyondCache / length + 2);
  const CudaClock::Plan plan{pieces_of(bytes), std::min<std::size_t>(settings_.samples, 15)};
  KILN_TRY_ASSIGN(reads_[length], clock_->graph_us(stream_, plan, [&](std::size_t i) {
    return clock_->read_by_kernel(stream_, out_.data(), inp_.as<char>() + i % sets * length,
                                  length);
  }));
  return reads_[length] * whole;
}

Result<Measurement> Bench::measure(const BenchCase& given) {
  BenchCase subject = given;
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

  const Places places = places_of(operands);
  KILN_TRY(fill_inputs(operands, places, subject.kind));
  KILN_TRY_ASSIGN(measured.chosen, is_chosen(subject, addresses_of(places, 0)));
  std::vector<ops::Launch> own, original_grid, original, before;
  for (std::size_t set = 0; set < places.sets; ++set) {
    const Addresses addresses = addresses_of(places, set);
    KILN_TRY_ASSIGN(const std::optional<ops::Launch> first, plan_first(subject, addresses));
    if (first) {
      KILN_TRY(prepare_ours(*first));
      KILN_TRY(run_ours(*first));
    }
    KILN_TRY_ASSIGN(own.emplace_back(), plan_ours(subject, addresses, ops::Geometry::kOwn));
    KILN_TRY_ASSIGN(original_grid.emplace_back(),
                    plan_ours(subject, addresses, ops::Geometry::kReference));
    if (traits.has_step_before) {
      KILN_TRY_ASSIGN(std::optional<ops::Launch> step, plan_before(subject, addresses));
      before.push_back(std::move(*step));
    }
    if (!traits.has_original) continue;
    KILN_TRY_ASSIGN(original.emplace_back(), plan_original(subject, addresses));
  }

  KILN_TRY(prepare_ours(own[0]));
  KILN_TRY(prepare_ours(original_grid[0]));
  std::vector<CudaClock::Work> works = {
      [&](std::size_t i) { return run_ours(own[i % places.sets]); },
      [&](std::size_t i) { return run_ours(original_grid[i % places.sets]); },
      [&](std::size_t) {
        const ops::Launch& empty = traits.has_original ? original[0] : own[0];
        return clock_->launch_nothing(stream_, empty.grid, empty.block);
      }};
  const bool has_original = originals_ && traits.has_original;
  if (has_original) {
    KILN_TRY(originals_->prepare(original[0]));
    works.push_back(
        [&](std::size_t i) { return originals_->run(original[i % places.sets], stream_); });
  }
  if (!before.empty()) {
    KILN_TRY(prepare_ours(before[0]));
    works.push_back([&](std::size_t i) -> Result<void> {
      KILN_TRY(run_ours(before[i % places.sets]));
      return run_ours(own[i % places.sets]);
    });
  }
  const CudaClock::Plan plan{pieces_of(measured.min_bytes), settings_.samples};
  KILN_TRY_ASSIGN(const std::vector<double> times,
                  clock_->graphs_us(stream_, plan, settings_.budget_us, works));
  measured.own_us = times[0];
  measured.original_grid_us = times[1];
  measured.empty_us = times[2];
  if (has_original) measured.original_us = times[3];
  if (!before.empty()) measured.with_step_before_us = times.back();
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
  const Places places = places_of(operands);
  KILN_TRY(fill_inputs(operands, places, subject.kind));
  const Addresses addresses = addresses_of(places, 0);
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
  for (std::size_t at = 0; at < results[0].size(); at += width) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, results[0].data() + at, width);
    std::memcpy(&b, results[1].data() + at, width);
    count += differs(operands.output.dtype, a, b);
  }
  return std::optional<std::size_t>(count);
}

}  // namespace kiln::bench
