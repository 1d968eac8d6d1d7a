// What loading kiln's own modules costs on an NVIDIA GPU, beside cuModuleLoadDataEx of the same
// bytes.
//
// usage: runtime_load_bench          a line a module: milliseconds, the best of twenty; then the
// sums
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "kiln/ops/kernels.hpp"
#include "kiln/runtime.hpp"
#include "runtime/src/cuda_symbols.hpp"
#include "runtime/src/library.hpp"
#include "runtime/src/select_image.hpp"
#include "runtime/src/unpack_image.hpp"

namespace {

using namespace kiln;

constexpr int kRuns = 20;

template <typename Call>
double milliseconds(Call call) {
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

// Loads and unloads one image with the driver alone, in the context that kiln uses too.
class Raw {
 public:
  explicit Raw(int ordinal) {
    std::vector<std::string> reasons;
    const std::vector<std::string> names = {"libcuda.so.1"};
    usable_ = cuda_.resolve(runtime::Library::open(names, reasons)).empty() &&
              cuda_.cuDevicePrimaryCtxRetain(&context_, ordinal) == runtime::cuda::kSuccess &&
              cuda_.cuCtxSetCurrent(context_) == runtime::cuda::kSuccess;
  }
  bool usable() const { return usable_; }
  double load(const void* image) {
    return milliseconds([&] {
      runtime::cuda::CUmodule module = nullptr;
      if (cuda_.cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr) ==
          runtime::cuda::kSuccess) {
        loaded_.push_back(module);
      }
    });
  }
  void unload_all() {
    for (const auto module : loaded_) cuda_.cuModuleUnload(module);
    loaded_.clear();
  }

 private:
  runtime::cuda::Symbols cuda_;
  runtime::cuda::CUcontext context_ = nullptr;
  std::vector<runtime::cuda::CUmodule> loaded_;
  bool usable_ = false;
};

// kiln's own way: choose, decompress, load. From the module's statistics, so that unloading between
// the runs is not counted.
double load_with_kiln(const Device& device, const ModuleEntry& module) {
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < kRuns; ++run) {
    const double before = device.statistics(module).load_milliseconds;
    for (std::uint16_t unit = 0; unit < module.unit_count; ++unit) {
      for (const KernelEntry& kernel : module.kernels) {
        if (kernel.unit != unit) continue;
        if (!device.get_or_load_func(kernel.name, module)) return -1;
        break;
      }
    }
    best = std::min(best, device.statistics(module).load_milliseconds - before);
    if (!device.unload(module)) return -1;
  }
  return best;
}

}  // namespace

int main() {
  const auto start = std::chrono::steady_clock::now();
  const Result<Runtime> opened = Runtime::open();
  const std::chrono::duration<double, std::micro> open_time =
      std::chrono::steady_clock::now() - start;
  const Result<Device> device = opened->device("cuda");
  if (!device) {
    std::printf("no NVIDIA GPU: %s\n", device.error().message.c_str());
    return 4;
  }
  Raw raw(device->info().ordinal);
  if (!raw.usable()) return 1;
  const runtime::DeviceTarget target{*parse_target_id(device->info().target),
                                     device->info().max_ptx_isa};
  std::printf("%s; Runtime::open %.1f us\n", device->info().name.c_str(), open_time.count());
  std::printf("%-12s %10s %10s %10s %10s\n", "module", "bytes", "kiln ms", "driver ms",
              "decode ms");
  double kiln_sum = 0, raw_sum = 0, decode_sum = 0;
  for (const ModuleEntry* module : ops::catalog().modules) {
    double driver = 0, decode = 0;
    std::size_t bytes = 0;
    for (std::uint16_t unit = 0; unit < module->unit_count; ++unit) {
      const auto selection = runtime::select_image(module->images, unit, target);
      if (selection.image == nullptr) return 1;
      const auto image = runtime::unpack_image(*selection.image);
      if (!image) return 1;
      bytes += image->bytes.size();
      decode += milliseconds([&] { (void)runtime::unpack_image(*selection.image); });
      driver += raw.load(image->bytes.data());
      raw.unload_all();
    }
    const double kiln = load_with_kiln(*device, *module);
    std::printf("%-12s %10zu %10.3f %10.3f %10.3f\n", std::string(module->name).c_str(), bytes,
                kiln, driver, decode);
    kiln_sum += kiln;
    raw_sum += driver;
    decode_sum += decode;
  }
  std::printf("%-12s %10s %10.3f %10.3f %10.3f   kiln / driver %.2f, without decoding %.2f\n",
              "all", "", kiln_sum, raw_sum, decode_sum, kiln_sum / raw_sum,
              (kiln_sum - decode_sum) / raw_sum);
  return 0;
}
