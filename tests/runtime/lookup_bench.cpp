// Measures how long it takes to get a loaded kernel, by its constant and by name, compared with the
// usual map behind a read lock. Runs on the driver of KILN_TEST_DRIVER, by default the fake CUDA
// driver; a look-up makes no driver call.
//
// usage: runtime_lookup_bench          prints nanoseconds for a call, the best of five runs
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "subject.hpp"
#include "test_modules.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

constexpr int kCalls = 5'000'000;

template <typename Call>
double nanoseconds(Call call) {
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    std::size_t found = 0;
    for (int i = 0; i < kCalls; ++i) found += call();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (found != kCalls) return -1;
    best = std::min(best, took.count() / kCalls);
  }
  return best;
}

}  // namespace

int main() {
  const Result<Runtime> runtime = Runtime::open(options_for(subject()));
  const Result<Device> device = runtime->default_device();
  if (!device || !device->load(kArithmetic)) return 1;

  std::shared_mutex mutex;
  std::unordered_map<std::string, Function> functions;
  functions["scale_add"] = *device->get_or_load_func("scale_add", kArithmetic);

  const double typed = nanoseconds([&] { return device->function(kScaleAdd).has_value(); });
  const double named =
      nanoseconds([&] { return device->get_or_load_func("scale_add", kArithmetic).has_value(); });
  const double locked = nanoseconds([&] {
    const std::shared_lock lock(mutex);
    const auto found = functions.find("scale_add");
    return found != functions.end() && static_cast<bool>(found->second);
  });
  std::printf(
      "typed constant      %6.1f ns\nby name             %6.1f ns\nread lock and map   %6.1f ns\n"
      "read lock and map / typed constant  %.1f\n",
      typed, named, locked, locked / typed);
  return typed > 0 ? 0 : 1;
}
