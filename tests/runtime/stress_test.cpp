// Many threads that load, launch and unload at random: meant for ThreadSanitizer, useful without.
// KILN_STRESS_SECONDS sets how long (0.5 by default).
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "subject.hpp"
#include "test_modules.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

constexpr std::size_t kThreads = 16;

// One thread's random work. Returns what went wrong, or nothing.
std::string run(const Runtime& runtime, unsigned seed, std::chrono::steady_clock::time_point end) {
  std::mt19937 random(seed);
  const ModuleEntry* const modules[] = {&kArithmetic, &kPair};
  while (std::chrono::steady_clock::now() < end) {
    const Result<Device> device = runtime.device(random() % runtime.devices().size());
    if (!device) return device.error().message;
    const ModuleEntry& module = *modules[random() % 2];
    Result<void> outcome;
    switch (random() % 8) {
      case 0: outcome = device->unload(module); break;
      case 1: outcome = device->preload(module); break;
      case 2: {
        // Found, or unloaded by somebody before it was read: both are right.
        (void)device->statistics(module);
        if (const auto symbol = device->symbol("gain", module); !symbol)
          return symbol.error().message;
        break;
      }
      default: {
        const Result<Buffer> buffer = device->upload(std::vector<float>(16, 1.0F));
        if (!buffer) return buffer.error().message;
        const auto function = device->get_or_load_func("scale_add", module);
        if (!function) return function.error().message;
        outcome = function->launch({{1}, {16}}, std::uint64_t{16}, buffer->data(), buffer->data(),
                                   2.0F, 0.0F);
        // Somebody may have unloaded the module in between.
        if (!outcome && outcome.error().code == ErrorCode::kNotFound) outcome = {};
      }
    }
    if (!outcome) return outcome.error().message;
  }
  return {};
}

}  // namespace

TEST_CASE("Threads may load, launch and unload at random") {
  const char* variable = std::getenv("KILN_STRESS_SECONDS");
  const double seconds = variable != nullptr ? std::atof(variable) : 0.5;
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  {
    const Runtime runtime = open_subject();
    REQUIRE(!runtime.devices().empty());
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::microseconds(static_cast<long long>(seconds * 1e6));
    std::vector<std::string> errors(kThreads);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back(
          [&, i] { errors[i] = run(runtime, seed + static_cast<unsigned>(i), end); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& error : errors) CHECK(error.empty());
  }
  if (subject().machine != nullptr) {
    CHECK(subject().machine->live() == fake::Machine::Live{0, 0, 0, 0, 0});
  }
}
