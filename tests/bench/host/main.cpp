// kiln_host_bench: compares the host device with plain code, on this machine.
//
// Prints, for `host` and `host:wave64`: the time of affine_f32 over 2^24 contiguous elements as a
// multiple of that of a plain loop on as many threads, and the time of a barrier for each thread of
// a block of 256. The best of many runs counts, since other work can only make a run slower. Exit:
// 0, or 1 if a result was wrong or a device could not run.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "kiln/ops.hpp"
#include "kiln/runtime.hpp"
#include "tests/bench/host/plain_loop.hpp"

namespace {

using namespace kiln;

constexpr int kRuns = 50;
constexpr std::size_t kElements = std::size_t{1} << 24;
constexpr float kMul = 1.5F, kAdd = 0.25F;

constexpr std::uint32_t kBlocks = 64, kThreads = 256;  // takes a few ms: rarely interrupted
constexpr std::uint32_t kBarriers = 9;                 // of block_sum, for 256 threads

// Returns the nanoseconds of the fastest of kRuns calls, or the error of one of them.
template <typename Call>
Result<double> fastest(Call call) {
  double best = INFINITY;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    KILN_TRY(call());
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

Error wrong(const std::string& kernel) {
  return Error{ErrorCode::kInternal, "a result of " + kernel + " is wrong", {}, {}};
}

Result<void> measure_affine(const Device& device) {
  std::vector<float> input(kElements), output(kElements);
  for (std::size_t i = 0; i < kElements; ++i) input[i] = static_cast<float>(i % 4096);
  KILN_TRY_ASSIGN(const Buffer in, device.upload(input));
  KILN_TRY_ASSIGN(const Buffer out, device.allocate(kElements * sizeof(float)));

  const unsigned threads = device.info().multiprocessors;
  KILN_TRY_ASSIGN(const double plain, fastest([&]() -> Result<void> {
                    bench::plain_affine(input.data(), output.data(), kElements, kMul, kAdd,
                                        threads);
                    return {};
                  }));

  const ops::Launcher launcher(device);
  ops::Affine affine;
  affine.dtype = ops::DType::kF32;
  affine.layout = {{kElements}, {1}};
  affine.inp = in.data();
  affine.out = out.data();
  affine.mul = ops::Scalar::from(ops::DType::kF32, kMul);
  affine.add = ops::Scalar::from(ops::DType::kF32, kAdd);
  KILN_TRY_ASSIGN(const double ours, fastest([&]() -> Result<void> {
                    KILN_TRY(launcher.launch(affine));
                    return device.synchronize();
                  }));
  KILN_TRY_ASSIGN(const std::vector<float> computed, device.download<float>(out));
  if (computed != output) return wrong("affine_f32");

  std::printf(
      "%-12s affine_f32, 2^24 elements   %6.2f ms, plain loop %6.2f ms: %.2f times (3 at most)\n",
      device.info().id.c_str(), ours * 1e-6, plain * 1e-6, ours / plain);
  return {};
}

Result<void> measure_barrier(const Device& device, const char* image_path) {
  std::ifstream file(image_path, std::ios::binary);
  const std::vector<char> image(std::istreambuf_iterator<char>(file), {});
  KILN_TRY_ASSIGN(const Function block_sum,
                  device.get_or_load_func_raw("block_sum", image.data(), image.size()));
  KILN_TRY_ASSIGN(const Buffer out, device.allocate(kBlocks * sizeof(std::uint32_t)));
  void* const address = out.data();
  const void* const arguments[] = {&address};
  KILN_TRY_ASSIGN(const double took, fastest([&]() -> Result<void> {
                    KILN_TRY(block_sum.launch_raw({{kBlocks}, {kThreads}}, arguments, 1));
                    return device.synchronize();
                  }));
  KILN_TRY_ASSIGN(const std::vector<std::uint32_t> sums, device.download<std::uint32_t>(out));
  for (const std::uint32_t sum : sums) {
    if (sum != kThreads * (kThreads - 1) / 2) return wrong("block_sum");
  }

  const double waits = double{kBlocks} * kThreads * kBarriers;
  std::printf("%-12s block_sum, 256 threads      %6.1f ns a thread and barrier (100 at most)\n",
              device.info().id.c_str(), took * device.info().multiprocessors / waits);
  return {};
}

Result<void> measure(const Runtime& runtime, const char* id, const char* block_sum_image) {
  KILN_TRY_ASSIGN(const Device device, runtime.device(id));
  KILN_TRY(measure_affine(device));
  return measure_barrier(device, block_sum_image);
}

}  // namespace

int main() {
  const auto runtime = Runtime::open();
  int exit = 0;
  for (const auto& [id, image] :
       {std::pair{"host", KILN_BLOCK_SUM_32}, {"host:wave64", KILN_BLOCK_SUM_64}}) {
    const Result<void> measured =
        runtime ? measure(*runtime, id, image) : Result<void>(runtime.error());
    if (measured) continue;
    std::fputs(render(measured.error(), Color::kNo, "kiln_host_bench").c_str(), stderr);
    exit = 1;
  }
  return exit;
}
