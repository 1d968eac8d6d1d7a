// kiln_bench: our kernels against a copy, the original kernels and PyTorch, on an NVIDIA GPU.
//
// Owns the command line, the order of the measurements, and the table. Exit: 0, or with --judge 1
// when a case fails or the run is void; 2 usage; 3 no such device.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "kiln/ops/launcher.hpp"
#include "kiln/runtime.hpp"
#include "tests/bench/cuda_clock.hpp"
#include "tests/bench/judge.hpp"
#include "tests/bench/recorded.hpp"
#include "tests/kernels/suite.hpp"
#include "tests/kernels/values.hpp"

namespace {

using namespace kiln;
using namespace kiln::bench;

constexpr const char* kUsage = R"(usage: kiln_bench [options]
Measures our kernels in both geometries beside a copy of as many bytes, the original kernels and
PyTorch (recorded on an NVIDIA H200).
  --device ID      cuda:0, cuda:1, ...   (default: KILN_DEVICE, else the first)
  --case PATTERN   only the cases whose names match; '*' stands for any letters
  --samples N      of each measurement; the median counts (default 31)
  --judge          exit with 1 when a case fails its rule
for example: kiln_bench --case '*transpose*'
)";

struct Options {
  std::string device;
  std::string pattern = "*";
  std::size_t samples = 31;
  bool judge = false;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--judge") {
      options.judge = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    if (value != nullptr && option == "--device") {
      options.device = value;
    } else if (value != nullptr && option == "--case") {
      options.pattern = value;
    } else if (value != nullptr && option == "--samples" && std::atoi(value) > 0) {
      options.samples = static_cast<std::size_t>(std::atoi(value));
    } else {
      const bool help = option == "--help" || option == "-h";
      if (!help) std::fprintf(stderr, "kiln_bench: error: bad argument '%s'\n", option.c_str());
      std::fputs(kUsage, help ? stdout : stderr);
      return std::nullopt;
    }
  }
  return options;
}

constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kGibibyte = std::size_t{1} << 30;
constexpr std::size_t kBeyondCache = 256 * kMebibyte;  // several times the L2 cache

// Everything that measuring a case needs. Buffers are shared by the cases and cut into sets.
class Bench {
 public:
  static Result<Bench> open(const Device& device, std::size_t samples) {
    KILN_TRY_ASSIGN(CudaClock clock, CudaClock::open(device.info().ordinal));
    KILN_TRY_ASSIGN(Stream stream, device.create_stream());
    Bench bench(device, std::move(clock), std::move(stream), samples);
    // Two sets of the largest case, each side.
    KILN_TRY_ASSIGN(bench.inp_, device.allocate(2 * kGibibyte));
    KILN_TRY_ASSIGN(bench.out_, device.allocate(2 * kGibibyte));
    return bench;
  }

  // Microseconds of the fastest copy that reads and writes `bytes` in all.
  Result<double> copy_us(double bytes) {
    const std::size_t half = static_cast<std::size_t>(bytes / 2) / 16 * 16;
    if (const auto known = copies_.find(half); known != copies_.end()) return known->second;
    const std::size_t sets = sets_of(half, half);
    const CudaClock::Plan plan{pieces_of(bytes, sets), samples_};
    const auto source = [&, sets](std::size_t i) { return inp_.as<char>() + i % sets * half; };
    const auto target = [&, sets](std::size_t i) { return out_.as<char>() + i % sets * half; };
    // A copy as a node of a graph is slower than one on a stream, so that is not the yardstick.
    KILN_TRY_ASSIGN(const double by_engine, clock_.stream_us(stream_, plan, [&](std::size_t i) {
      return clock_.copy(stream_, target(i), source(i), half);
    }));
    KILN_TRY_ASSIGN(const double by_kernel, clock_.graph_us(stream_, plan, [&](std::size_t i) {
      return clock_.copy_by_kernel(stream_, target(i), source(i), half);
    }));
    return copies_[half] = std::min(by_engine, by_kernel);
  }

  Result<Measurement> measure(const RecordedCase& recorded, ops::Geometry geometry) {
    KILN_TRY_ASSIGN(const Operands operands, operands_of(recorded));
    KILN_TRY(fill_inputs(operands.dtype));
    const std::size_t sets = sets_of(operands.inp_bytes, operands.out_bytes);
    const CudaClock::Plan plan_of{pieces_of(recorded.min_bytes, sets), samples_};
    std::vector<ops::Launch> launches;
    for (std::size_t i = 0; i < sets; ++i) {
      KILN_TRY_ASSIGN(ops::Launch launch, plan(recorded, inp_.as<char>() + i * operands.inp_bytes,
                                               out_.as<char>() + i * operands.out_bytes, geometry));
      launches.push_back(std::move(launch));
    }
    Measurement measured;
    measured.kernel = recorded.kernel;
    measured.geometry = geometry;
    measured.contiguous = operands.contiguous;
    measured.original_us = recorded.original_us;
    measured.torch_us = recorded.torch_us;
    KILN_TRY_ASSIGN(measured.us, clock_.graph_us(stream_, plan_of, [&](std::size_t i) {
      return launcher_.run(launches[i % sets]);
    }));
    KILN_TRY_ASSIGN(measured.empty_us, clock_.graph_us(stream_, plan_of, [&](std::size_t) {
      return clock_.launch_nothing(stream_, launches[0].grid, launches[0].block);
    }));
    KILN_TRY_ASSIGN(measured.copy_us, copy_us(recorded.min_bytes));
    return measured;
  }

 private:
  Bench(const Device& device, CudaClock clock, Stream stream, std::size_t samples)
      : device_(device),
        clock_(std::move(clock)),
        stream_(std::move(stream)),
        launcher_(device, stream_),
        samples_(samples) {}

  // Rotating over so many sets, no launch finds its operands in the cache.
  std::size_t sets_of(std::size_t inp_bytes, std::size_t out_bytes) const {
    const std::size_t largest = std::max({inp_bytes, out_bytes, std::size_t{1}});
    const std::size_t wanted = kBeyondCache / largest + 2;
    return std::max<std::size_t>(1, std::min(wanted, inp_.size() / largest));
  }

  // Enough work in a sample that starting it does not show: about 2 ms at full speed.
  static std::size_t pieces_of(double bytes, std::size_t sets) {
    const double one_us = bytes / 4e6;
    const std::size_t wanted = static_cast<std::size_t>(2000 / std::max(one_us, 2.0)) + 1;
    return std::max<std::size_t>(4, (wanted + sets - 1) / sets * sets);
  }

  // Values from 0 to 1 of this type, all over the input buffer.
  Result<void> fill_inputs(ops::DType dtype) {
    if (inputs_are_ == dtype) return {};
    conformance::Random random(1);
    std::vector<std::byte> values(16 * kMebibyte);
    const std::size_t width = size_of(dtype);
    for (std::size_t at = 0; at < values.size(); at += width) {
      const double value = random.uniform(0, is_float(dtype) ? 1 : 256);
      const std::uint64_t bits = ops::Scalar::from(dtype, value).bits;
      std::memcpy(values.data() + at, &bits, width);
    }
    KILN_TRY(device_.copy_to_device(inp_.data(), values.data(), values.size()));
    for (std::size_t filled = values.size(); filled < inp_.size(); filled *= 2) {
      KILN_TRY(device_.copy_on_device(inp_.as<char>() + filled, inp_.data(),
                                      std::min(filled, inp_.size() - filled)));
    }
    KILN_TRY(device_.synchronize());
    inputs_are_ = dtype;
    return {};
  }

  Device device_;
  CudaClock clock_;
  Stream stream_;
  ops::Launcher launcher_;
  std::size_t samples_;
  Buffer inp_, out_;
  std::optional<ops::DType> inputs_are_;
  std::map<std::size_t, double> copies_;
};

// --- the table
// ------------------------------------------------------------------------------------

void print_heading() {
  std::printf("%-40s %-9s %9s %6s %9s %9s %9s  %s\n", "case", "geometry", "us", "copy", "empty us",
              "original", "PyTorch", "verdict");
}

// Ratios say how many times as fast as the other this is.
void print_row(const RecordedCase& recorded, const Measurement& measured,
               const Judgement& judgement) {
  char torch[16] = "-";
  if (measured.torch_us) {
    std::snprintf(torch, sizeof torch, "%.2fx", *measured.torch_us / measured.us);
  }
  static constexpr const char* kOutcomes[] = {"ok", "FAIL", "reported"};
  std::printf("%-40s %-9s %9.2f %5.1f%% %9.2f %8.2fx %9s  %s%s%s\n", recorded.name.c_str(),
              measured.geometry == ops::Geometry::kOwn ? "own" : "reference", measured.us,
              100 * measured.copy_us / measured.us, measured.empty_us,
              measured.original_us / measured.us, torch,
              kOutcomes[static_cast<std::size_t>(judgement.outcome)],
              judgement.reason.empty() ? "" : ": ", judgement.reason.c_str());
  std::fflush(stdout);
}

struct Totals {
  std::size_t judged = 0, failed = 0;
  bool is_void = false;
};

Result<Totals> run(const Options& options) {
  KILN_TRY_ASSIGN(const Recording recorded, recording());
  KILN_TRY_ASSIGN(const Runtime runtime, Runtime::open());
  KILN_TRY_ASSIGN(const Device device, options.device.empty() ? runtime.default_device()
                                                              : runtime.device(options.device));
  const DeviceInfo& info = device.info();
  if (info.backend != Backend::kCuda) {
    return Error{ErrorCode::kUnavailable,
                 "'" + info.id + "' is no CUDA device: times are taken from CUDA graphs",
                 {},
                 {}};
  }
  KILN_TRY_ASSIGN(Bench bench, Bench::open(device, options.samples));

  Totals totals;
  KILN_TRY_ASSIGN(const double gibibyte_us, bench.copy_us(static_cast<double>(kGibibyte)));
  const double copy_rate = static_cast<double>(kGibibyte) / gibibyte_us * 1e6;
  totals.is_void = copy_rate < kVoidBelowBytesPerSecond;
  std::printf("%s, %s, %s; copy rate at 1 GiB %.2f TB/s%s\n", info.name.c_str(),
              info.target.c_str(), info.driver.c_str(), copy_rate / 1e12,
              totals.is_void ? ": below 4.0, THIS RUN IS VOID" : "");
  std::printf("recorded on %s: %s; PyTorch %s\nhere: %s, %zu samples\n\n", recorded.gpu.c_str(),
              recorded.original.c_str(), recorded.torch.c_str(), recorded.how.c_str(),
              options.samples);
  print_heading();
  for (const RecordedCase& each : recorded.cases) {
    if (!conformance::matches(options.pattern, each.name)) continue;
    for (const ops::Geometry geometry : {ops::Geometry::kOwn, ops::Geometry::kReference}) {
      KILN_TRY_ASSIGN(const Measurement measured, bench.measure(each, geometry));
      const Judgement judgement = judge(measured);
      totals.judged += judgement.outcome != Outcome::kReported;
      totals.failed += judgement.outcome == Outcome::kFail;
      print_row(each, measured, judgement);
    }
  }
  std::printf("\njudged: %zu, failed: %zu%s\n", totals.judged, totals.failed,
              totals.is_void ? ", void" : "");
  return totals;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) return 2;
  const Result<Totals> totals = run(*options);
  if (!totals) {
    std::fputs(render(totals.error(), Color::kNo, "kiln_bench").c_str(), stderr);
    return 3;
  }
  return options->judge && (totals->failed != 0 || totals->is_void) ? 1 : 0;
}
