// Many threads that load, launch and unload at random. Meant for ThreadSanitizer, but also useful
// without.
//
// usage: runtime_stress [--seconds S] [--threads N] [--seed N]
//        3 seconds, 16 threads, a random seed, which it prints; KILN_TEST_DRIVER names the driver
// Exits with 0 if every result was right and nothing was left behind, with 4 without a device.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/diagnostic.hpp"
#include "formats/compatibility.hpp"
#include "subject.hpp"
#include "test_modules.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

struct Options {
  double seconds = 3;
  unsigned threads = 16;
  unsigned seed = std::random_device{}();
};

// The random work of one thread on the devices of a runtime.
class Worker {
 public:
  Worker(const Runtime& runtime, unsigned seed) : runtime_(runtime), random_(seed) {}

  Result<void> step() {
    KILN_TRY_ASSIGN(const Device device, runtime_.device(random_() % runtime_.devices().size()));
    const bool one_unit = random_() % 2 == 0;
    const ModuleEntry& module = one_unit ? modules().arithmetic : modules().pair;
    switch (random_() % 16) {
      case 0:
      case 1: return device.unload(module);
      case 2: return device.load(module);
      case 3: (void)device.statistics(module); return find_symbol(device, module);
      case 4: return launch_raw(device);
      case 5: return use_another_runtime();
      default: break;
    }
    if (random_() % 2 == 0) {
      KILN_TRY_ASSIGN(const Function function, device.get_or_load_func("scale_add", module));
      return launch(device, function);
    }
    KILN_TRY_ASSIGN(const auto function,
                    device.function(one_unit ? modules().scale_add : modules().pair_scale_add));
    return launch(device, function);
  }

  unsigned long launches() const { return launches_; }

 private:
  // Another thread may unload the module between any two calls, so kNotFound is right as well.
  Result<void> find_symbol(const Device& device, const ModuleEntry& module) {
    KILN_TRY_ASSIGN(const Symbol symbol, device.symbol("gain", module));
    if (symbol.size == 4) return {};
    return Error{ErrorCode::kInternal, "a variable of a wrong size", {}, {}};
  }

  // in[i] = i; out[i] = 3 * i + 1, on a stream or on the default one.
  Result<void> launch(const Device& device, const Function& function) {
    std::vector<float> values(64);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    KILN_TRY_ASSIGN(const Buffer buffer, device.upload(values));
    KILN_TRY_ASSIGN(const Stream stream, device.create_stream());
    Result<void> launched = function.launch({{1}, {64}, 0, stream}, std::uint64_t{64},
                                            buffer.data(), buffer.data(), 3.0F, 1.0F);
    if (!launched) {
      if (launched.error().code == ErrorCode::kNotFound) return {};
      return launched;
    }
    KILN_TRY(stream.synchronize());
    KILN_TRY_ASSIGN(const auto results, device.download<float>(buffer));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (results[i] == 3.0F * values[i] + 1.0F) continue;
      return Error{ErrorCode::kInternal,
                   "element " + std::to_string(i) + " is " + std::to_string(results[i]),
                   {},
                   {}};
    }
    ++launches_;
    return {};
  }

  Result<void> launch_raw(const Device& device) {
    const auto target = parse_target_id(device.info().target);
    for (const ImageEntry& image : modules().arithmetic.images) {
      if (!can_run(*parse_target_id(image.target), *target)) continue;
      KILN_TRY_ASSIGN(const Function function,
                      device.get_or_load_func_raw("scale_add", image.data, image.size));
      return launch(device, function);
    }
    return Error{ErrorCode::kNoImage, "no raw image for " + device.info().id, {}, {}};
  }

  // Opens the driver again and releases everything while other threads continue.
  Result<void> use_another_runtime() {
    OpenOptions options;
    options.backends = {subject().backend};
    options.cuda_library = options.hip_library = subject().library;
    KILN_TRY_ASSIGN(const Runtime runtime, Runtime::open(options));
    KILN_TRY_ASSIGN(const Device device, runtime.default_device());
    KILN_TRY_ASSIGN(const auto function, device.function(modules().scale_add));
    return launch(device, function);
  }

  const Runtime& runtime_;
  std::mt19937 random_;
  unsigned long launches_ = 0;
};

// Returns 0 if all was right, 4 without a device.
int run(const Options& options) {
  const Result<Runtime> runtime = Runtime::open(options_for(subject()));
  if (!runtime || runtime->devices().empty()) {
    std::printf("no %s device\n", subject().name.c_str());
    return 4;
  }
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  std::vector<std::string> errors(options.threads);
  std::vector<unsigned long> launches(options.threads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < options.threads; ++i) {
    threads.emplace_back([&, i] {
      Worker worker(*runtime, options.seed + i);
      while (errors[i].empty() && std::chrono::steady_clock::now() < end) {
        if (const Result<void> done = worker.step(); !done) errors[i] = render(done.error());
      }
      launches[i] = worker.launches();
    });
  }
  for (std::thread& thread : threads) thread.join();
  unsigned long all = 0;
  bool failed = false;
  for (unsigned i = 0; i < options.threads; ++i) {
    all += launches[i];
    if (errors[i].empty()) continue;
    std::printf("thread %u: %s", i, errors[i].c_str());
    failed = true;
  }
  std::printf("%s: %u threads, %.1f s, %lu launches checked\n", subject().name.c_str(),
              options.threads, options.seconds, all);
  return failed || all == 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = words[i];
    if (name == "--seconds") options.seconds = std::atof(words[i + 1]);
    if (name == "--threads") options.threads = static_cast<unsigned>(std::atoi(words[i + 1]));
    if (name == "--seed") options.seed = static_cast<unsigned>(std::atoi(words[i + 1]));
  }
  std::printf("seed %u\n", options.seed);
  const int status = run(options);
  if (status == 0 && subject().machine != nullptr &&
      !(subject().machine->live() == fake::Machine::Live{0, 0, 0, 0, 0, 0})) {
    std::printf("something was left behind\n");
    return 1;
  }
  return status;
}
