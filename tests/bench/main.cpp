// kiln_bench: compares kiln's kernels with a copy, the original kernels and PyTorch, on an NVIDIA
// GPU.
//
// Has the command line and the order of the measurements. Exit: 0; with --judge, 1 if a case fails;
// 2 for a usage error; 3 for a missing device, or a file that cannot be read or written.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "kiln/ops/kernels.hpp"
#include "kiln/runtime.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/list.hpp"
#include "tests/bench/recorded.hpp"
#include "tests/bench/report.hpp"
#include "tests/bench/shapes.hpp"
#include "tests/kernels/suite.hpp"

namespace {

using namespace kiln;
using namespace kiln::bench;

constexpr const char* kUsage = R"(usage: kiln_bench [options]
Measures our kernels in both geometries beside the original kernels, an empty grid and a copy of as
many bytes: about ten minutes.
  --original DIR     the originals' cubins, DIR/<module>.cubin.zst
  --torch FILE       PyTorch's times, from torch_times.py
  --quick            a short list, within a minute
  --case PATTERN     only the cases whose names match; '*' stands for any letters; may be repeated
  --shape DIMS       not the list, but kernels at this shape, like 1000x77; may be repeated
  --view VIEW        of --shape: contiguous, transposed, permuted, narrowed, broadcast
  --windows T,K,S,P  of --shape, for convolutions and pools: output channels, size of a
                     window, stride and padding, like 64,3,1,1
  --kind KIND        only with this kind of data: uniform (that of --shape), normal, negative, special
  --target T         our images of this target, like compute_80, in place of the device's best
  --device ID        cuda:0, cuda:1, ...   (default: KILN_DEVICE, else the first)
  --cached           operands stay in the L2 cache; only cases of up to 16 MiB
  --samples N        of each measurement, at most; the median counts (default 31)
  --seconds N        begins no case later, and says how many are left
  --judge            measure doubtful cases three times, and exit with 1 when one fails its rule
  --json FILE        writes all times
  --list FILE        writes the cases for torch_times.py instead, and measures nothing
for example: kiln_bench --original original_sm90 --quick --case 'ugelu_* 2^*'
             kiln_bench --original original_sm90 --case 'softmax_*' --shape 1000x77 --shape 3x50257
)";

struct Options {
  std::string device, target, originals, torch, json, list;
  std::vector<std::string> patterns, shapes;
  std::string view = "contiguous";  // of the shapes
  std::string windows;              // of the shapes; empty: each family's own
  std::string kind;                 // empty: all of the list's, uniform for shapes
  std::size_t samples = 31;
  double seconds = 0;  // 0: as long as it takes
  bool quick = false, judge = false, cached = false;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::string*> texts = {
      {"--device", &options.device},      {"--target", &options.target},
      {"--original", &options.originals}, {"--torch", &options.torch},
      {"--json", &options.json},          {"--list", &options.list},
      {"--view", &options.view},          {"--kind", &options.kind},
      {"--windows", &options.windows}};
  const std::map<std::string, bool*> flags = {
      {"--quick", &options.quick}, {"--cached", &options.cached}, {"--judge", &options.judge}};
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (const auto flag = flags.find(option); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (const auto text = texts.find(option); value != nullptr && text != texts.end()) {
      *text->second = value;
    } else if (value != nullptr && option == "--case") {
      options.patterns.emplace_back(value);
    } else if (value != nullptr && option == "--shape") {
      options.shapes.emplace_back(value);
    } else if (value != nullptr && option == "--samples" && std::atoi(value) > 0) {
      options.samples = static_cast<std::size_t>(std::atoi(value));
    } else if (value != nullptr && option == "--seconds" && std::atof(value) > 0) {
      options.seconds = std::atof(value);
    } else {
      const bool help = option == "--help" || option == "-h";
      if (!help) std::fprintf(stderr, "kiln_bench: error: bad argument '%s'\n", option.c_str());
      std::fputs(kUsage, help ? stdout : stderr);
      return std::nullopt;
    }
    ++i;
  }
  return options;
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::kNotFound, "cannot read '" + path + "'", {}, {}};
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

Result<void> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (file << text) return {};
  return Error{ErrorCode::kInvalidInput, "cannot write '" + path + "'", {}, {}};
}

// Returns all kernels of this build that the benchmark can launch, and prints those that it cannot.
std::vector<std::string> known_kernels() {
  std::vector<std::string> names;
  for (const ModuleEntry* module : ops::catalog().modules) {
    for (const KernelEntry& kernel : module->kernels) {
      const std::string name(kernel.name);
      const auto traits = traits_of(name);
      if (traits && traits->is_planned) {
        names.push_back(name);
      } else {
        std::printf("not measured, of no family: %s\n", name.c_str());
      }
    }
  }
  return names;
}

// Returns the full list and the recorded cases that it lacks.
std::vector<BenchCase> listed_cases(const std::vector<std::string>& kernels,
                                    const Recording& recorded) {
  std::vector<BenchCase> all = full_list(kernels);
  std::set<std::string> names;
  for (const BenchCase& each : all) names.insert(each.name());
  const std::set<std::string> built(kernels.begin(), kernels.end());
  for (const RecordedCase& each : recorded.cases) {
    if (built.count(each.subject.kernel) == 0) continue;
    if (names.insert(each.subject.name()).second) all.push_back(each.subject);
  }
  return all;
}

Result<std::vector<BenchCase>> shaped_cases(const std::vector<std::string>& kernels,
                                            const Options& options) {
  KILN_TRY_ASSIGN(const View view, parse_view(options.view));
  KILN_TRY_ASSIGN(const DataKind kind, parse_kind(options.kind.empty() ? "uniform" : options.kind));
  Windows windows;
  if (!options.windows.empty()) {
    KILN_TRY_ASSIGN(windows, parse_windows(options.windows));
  }
  std::vector<BenchCase> all;
  for (const std::string& shape : options.shapes) {
    KILN_TRY_ASSIGN(const ops::Extents dims, parse_dims(shape));
    for (BenchCase& each : cases_of_shape(kernels, dims, view, kind)) {
      each.windows = windows;
      all.push_back(std::move(each));
    }
  }
  return all;
}

Result<std::vector<BenchCase>> chosen_cases(const Options& options, const Recording& recorded) {
  const std::vector<std::string> kernels = known_kernels();
  std::vector<BenchCase> all;
  if (!options.shapes.empty()) {
    KILN_TRY_ASSIGN(all, shaped_cases(kernels, options));
  } else {
    all = options.quick ? quick_list(kernels) : listed_cases(kernels, recorded);
  }
  if (!options.kind.empty()) {
    KILN_TRY_ASSIGN(const DataKind kind, parse_kind(options.kind));
    std::erase_if(all, [&](const BenchCase& each) { return each.kind != kind; });
  }
  if (options.cached) {
    std::vector<BenchCase> cached;
    for (BenchCase& each : all) {
      KILN_TRY_ASSIGN(const bool fits, Bench::fits_cache(each));
      if (fits) cached.push_back(std::move(each));
    }
    all = std::move(cached);
  }
  if (options.patterns.empty()) return all;
  std::vector<BenchCase> chosen;
  for (BenchCase& each : all) {
    for (const std::string& pattern : options.patterns) {
      if (!conformance::matches(pattern, each.name())) continue;
      chosen.push_back(std::move(each));
      break;
    }
  }
  return chosen;
}

// Returns the name of the ABI's product of the same matrix and vectors as a product under kiln's
// own name.
std::string same_product(const std::string& name) {
  for (const std::string_view prefix : {"half_matrix_", "fused_matrix_"}) {
    if (name.starts_with(prefix)) return "mul_mat_" + name.substr(prefix.size());
  }
  return name;
}

// Times that come from outside of this run.
class ReferenceTimes {
 public:
  static Result<ReferenceTimes> load(const Options& options, const Recording& recorded,
                                     const std::string& gpu) {
    ReferenceTimes times;
    if (!options.torch.empty()) {
      KILN_TRY_ASSIGN(const std::string text, read_text(options.torch));
      KILN_TRY_ASSIGN(times.torch_, parse_torch_times(text));
    }
    if (gpu != recorded.gpu) return times;
    times.ggml_ = recorded.ggml_us;
    for (const RecordedCase& each : recorded.cases) {
      const std::string name = each.subject.name();
      if (options.originals.empty()) times.original_[name] = each.original_us;
      if (options.torch.empty() && each.torch_us) times.torch_[name] = *each.torch_us;
    }
    return times;
  }

  void add_to(Measurement& measured) const {
    const std::string name = measured.subject.name();
    if (const auto found = torch_.find(name); found != torch_.end())
      measured.torch_us = found->second;
    if (const auto found = original_.find(name); found != original_.end())
      measured.original_us = found->second;
    if (const auto found = ggml_.find(same_product(name)); found != ggml_.end()) {
      measured.ggml_us = found->second;
    }
  }

 private:
  std::map<std::string, double> torch_, original_, ggml_;
};

// True if the verdict could change in another run.
bool is_doubtful(const Measurement& measured) {
  Measurement slower = measured;
  slower.own_us *= 1.02;
  slower.original_grid_us *= 1.02;
  return !judge(slower).empty();
}

double median(double a, double b, double c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Takes each time relative to the original's time of the same run, which saw the same clocks.
Measurement median_of_three(const Measurement& a, const Measurement& b, const Measurement& c) {
  Measurement result = a;
  const auto relative = [&](double Measurement::*time) {
    const auto scaled = [&](const Measurement& each) {
      return each.*time * a.original_us.value_or(1) / each.original_us.value_or(1);
    };
    return median(scaled(a), scaled(b), scaled(c));
  };
  result.own_us = relative(&Measurement::own_us);
  result.original_grid_us = relative(&Measurement::original_grid_us);
  if (a.with_step_before_us) {
    result.with_step_before_us =
        median(*a.with_step_before_us, *b.with_step_before_us, *c.with_step_before_us);
  }
  result.empty_us = median(a.empty_us, b.empty_us, c.empty_us);
  return result;
}

// Compares the results. A wrong launch of the original would give a meaningless time.
Result<void> compare_results(Bench& bench, const BenchCase& subject) {
  if (subject.count() > 65536 || subject.kind != DataKind::kUniform) return {};
  KILN_TRY_ASSIGN(const std::optional<std::size_t> differing, bench.count_differing(subject));
  if (!differing || *differing * 100 <= subject.count()) return {};
  std::printf("  %s: %zu of %zu elements are not the original's\n", subject.name().c_str(),
              *differing, subject.count());
  return {};
}

Result<Measurement> measure(Bench& bench, const BenchCase& subject,
                            const ReferenceTimes& references, bool repeat_if_doubtful) {
  KILN_TRY(compare_results(bench, subject));
  Measurement runs[3];
  for (Measurement& run : runs) {
    KILN_TRY_ASSIGN(run, bench.measure(subject));
    references.add_to(run);
    if (!repeat_if_doubtful || !is_doubtful(runs[0])) return runs[0];
  }
  return median_of_three(runs[0], runs[1], runs[2]);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Session {
  std::vector<Measurement> measured;
  std::size_t failed = 0;
  std::size_t remaining = 0;    // cases that were not begun
  std::optional<Error> broken;  // a device that has failed fails every later case
};

// Measures the cases and prints a row for each.
Session measure_all(Bench& bench, const std::vector<BenchCase>& cases,
                    const ReferenceTimes& references, const Options& options,
                    const Stopwatch& stopwatch) {
  constexpr std::size_t kMaxErrors = 3;
  Session session;
  session.remaining = cases.size();
  std::size_t errors = 0;
  for (const BenchCase& each : cases) {
    if (options.seconds > 0 && stopwatch.seconds() > options.seconds) break;
    --session.remaining;
    const Result<Measurement> measured = measure(bench, each, references, options.judge);
    if (!measured) {
      std::printf("%-50s cannot be measured: %s\n", each.name().c_str(),
                  measured.error().message.c_str());
      ++session.failed;
      // A launch that cannot be planned says nothing about the device.
      if (measured.error().code != ErrorCode::kInvalidInput && ++errors == kMaxErrors) {
        session.broken = measured.error();
        break;
      }
      continue;
    }
    const std::vector<Failure> failures = judge(*measured);
    session.failed += !failures.empty();
    session.measured.push_back(*measured);
    std::fputs(table_row(*measured, failures).c_str(), stdout);
    std::fflush(stdout);
  }
  return session;
}

Result<Device> choose_device(const Options& options) {
  KILN_TRY_ASSIGN(const Runtime runtime, Runtime::open());
  KILN_TRY_ASSIGN(Device device, options.device.empty() ? runtime.default_device()
                                                        : runtime.device(options.device));
  if (device.info().backend == Backend::kCuda) return device;
  return Error{ErrorCode::kUnavailable,
               "'" + device.info().id + "' is no CUDA device: times are taken from CUDA graphs",
               {},
               {}};
}

// Returns the number of failures.
Result<std::size_t> run(const Options& options) {
  const Stopwatch stopwatch;
  KILN_TRY_ASSIGN(const Recording recorded, recording());
  KILN_TRY_ASSIGN(const std::vector<BenchCase> cases, chosen_cases(options, recorded));
  if (cases.empty()) {
    return Error{ErrorCode::kInvalidInput,
                 "no case matches --case" +
                     std::string(options.shapes.empty() ? "" : ", --shape and --view"),
                 {},
                 {}};
  }
  if (!options.list.empty()) {
    KILN_TRY(write_text(options.list, cases_as_json(cases)));
    return std::size_t{0};
  }

  KILN_TRY_ASSIGN(const Device device, choose_device(options));
  const DeviceInfo& gpu = device.info();
  KILN_TRY_ASSIGN(const ReferenceTimes references,
                  ReferenceTimes::load(options, recorded, gpu.name));
  Bench::Settings settings;
  settings.samples = options.samples;
  settings.originals = options.originals;
  settings.target = options.target;
  settings.is_cached = options.cached;
  KILN_TRY_ASSIGN(Bench bench, Bench::open(device, settings, cases));

  constexpr double kGibibyte = 1 << 30;
  KILN_TRY_ASSIGN(const double gibibyte_us, bench.copy_us(kGibibyte));
  RunInfo info{gpu.name,        gpu.target, gpu.driver, today(), kGibibyte / gibibyte_us * 1e6,
               options.samples, 0};
  std::printf("%s, %s, %s; copy rate at 1 GiB %.2f TB/s; %zu cases\n", gpu.name.c_str(),
              gpu.target.c_str(), gpu.driver.c_str(), info.copy_bytes_per_second / 1e12,
              cases.size());
  std::printf(
      "us of one launch; own, o.grid: times the original's speed; copy: of the copy rate\n\n%s",
      table_heading().c_str());
  if (gpu.name == recorded.gpu) {
    std::printf("ggml's times are recorded, not run: %s\n", recorded.ggml.c_str());
  }
  const Session session = measure_all(bench, cases, references, options, stopwatch);
  const Summary summary = summarize(session.measured);
  info.seconds = stopwatch.seconds();
  std::printf("\n%scases: %zu, failed: %zu; %.0f s\n",
              conclusion(session.measured, summary).c_str(), session.measured.size(),
              session.failed, info.seconds);
  if (session.remaining != 0) std::printf("not measured: %zu\n", session.remaining);
  if (!options.json.empty()) KILN_TRY(write_text(options.json, to_json(info, session.measured)));
  if (session.broken) return *session.broken;
  return session.failed + summary.failures.size();
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) return 2;
  const Result<std::size_t> failures = run(*options);
  if (!failures) {
    std::fputs(render(failures.error(), Color::kNo, "kiln_bench").c_str(), stderr);
    return 3;
  }
  return options->judge && *failures != 0 ? 1 : 0;
}
