// Measures how long kiln's own modules take to load on an NVIDIA GPU, uncompressed and with zstd,
// compared with the driver's own calls on the same bytes. Also measures the time before a program
// requests a device.
//
// usage: runtime_load_bench
// Prints a line for each module: milliseconds, the best of fifty; then the sums and their limits.
// Exits with 0 if all are within limits, with 1 if not, and with 4 without an NVIDIA GPU.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
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

constexpr int kRounds = 50;
constexpr double kMaxOverDriver = 1.1;     // times cuModuleLoadDataEx, uncompressed images
constexpr double kMaxMicroseconds = 1000;  // for Runtime::open

template <typename Call>
double milliseconds(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

// Loads one image with the driver only, in the same context as kiln. Only loading is timed, not the
// unloading right after it.
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

  double load_module(const void* image) {
    runtime::cuda::CUmodule module = nullptr;
    const double took =
        milliseconds([&] { cuda_.cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr); });
    cuda_.cuModuleUnload(module);
    return took;
  }

 private:
  runtime::cuda::Symbols cuda_;
  runtime::cuda::CUcontext context_ = nullptr;
  bool usable_ = false;
};

// A module with the same kernels and one uncompressed image for each unit: the one that the device
// uses.
struct Uncompressed {
  std::vector<runtime::ImageBytes> bytes;
  std::vector<ImageEntry> packed;  // as stored in the program
  std::vector<ImageEntry> images;
  ModuleEntry entry;

  bool fill(const ModuleEntry& module, const runtime::DeviceTarget& target) {
    for (std::uint16_t unit = 0; unit < module.unit_count; ++unit) {
      const auto selection = runtime::select_image(module.images, unit, target);
      if (selection.image == nullptr) return false;
      auto image = runtime::unpack_image(*selection.image);
      if (!image) return false;
      packed.push_back(*selection.image);
      ImageEntry entry_of_unit = *selection.image;
      entry_of_unit.compression = Compression::kNone;
      entry_of_unit.data = reinterpret_cast<const unsigned char*>(image->bytes.data());
      entry_of_unit.stored_size = entry_of_unit.size;
      images.push_back(entry_of_unit);
      bytes.push_back(std::move(*image));
    }
    entry = module;
    entry.images = {images.data(), images.size()};
    return true;
  }
  double decode() const {
    return milliseconds([&] {
      for (const ImageEntry& image : packed) (void)runtime::unpack_image(image);
    });
  }
  std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& image : bytes) sum += image.bytes.size();
    return sum;
  }
};

// Loads with kiln: selects, decompresses, and loads. Timed by the statistics of the module, which
// exclude unloading.
double load_with_kiln(const Device& device, const ModuleEntry& module) {
  const double before = device.statistics(module).load_milliseconds;
  for (std::uint16_t unit = 0; unit < module.unit_count; ++unit) {
    for (const KernelEntry& kernel : module.kernels) {
      if (kernel.unit != unit) continue;
      if (!device.get_or_load_func(kernel.name, module)) return -1;
      break;
    }
  }
  const double took = device.statistics(module).load_milliseconds - before;
  return device.unload(module) ? took : -1;
}

// The best times of many rounds. In each round, every method has its turn.
struct Times {
  double plain = std::numeric_limits<double>::max();
  double zstd = plain, module = plain, decoder = plain;
};

Times measure(const Device& device, Raw& raw, const ModuleEntry& compressed,
              const Uncompressed& plain) {
  Times best;
  const auto keep = [](double& least, double took) { least = std::min(least, took); };
  for (int round = 0; round < kRounds; ++round) {
    keep(best.plain, load_with_kiln(device, plain.entry));
    double module = 0;
    for (const auto& image : plain.bytes) module += raw.load_module(image.bytes.data());
    keep(best.module, module);
    keep(best.zstd, load_with_kiln(device, compressed));
    keep(best.decoder, plain.decode());
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
  std::printf("%s, %s\n", device->info().name.c_str(), device->info().driver.c_str());
  std::printf("%-12s %10s | %10s %10s | %10s | %10s\n", "module", "bytes", "kiln", "zstd",
              "cuModule", "decoder");
  Times sum{0, 0, 0, 0};
  std::deque<Uncompressed> kept;  // the device identifies modules by their addresses
  for (const ModuleEntry* module : ops::catalog().modules) {
    Uncompressed& plain = kept.emplace_back();
    if (!plain.fill(*module, target)) return 1;
    const Times times = measure(*device, raw, *module, plain);
    if (times.plain < 0 || times.zstd < 0) return 1;
    std::printf("%-12s %10zu | %10.3f %10.3f | %10.3f | %10.3f\n",
                std::string(module->name).c_str(), plain.size(), times.plain, times.zstd,
                times.module, times.decoder);
    sum = {sum.plain + times.plain, sum.zstd + times.zstd, sum.module + times.module,
           sum.decoder + times.decoder};
  }
  std::printf("%-12s %10s | %10.3f %10.3f | %10.3f | %10.3f\n\n", "all", "", sum.plain, sum.zstd,
              sum.module, sum.decoder);
  const double ratio = sum.plain / sum.module;
  const bool in_bounds = ratio <= kMaxOverDriver && open_time.count() < kMaxMicroseconds;
  std::printf("stored uncompressed: %.3f times cuModuleLoadDataEx (at most %.1f)\n", ratio,
              kMaxOverDriver);
  std::printf("with zstd: %.3f ms more, the decoder alone takes %.3f ms\n", sum.zstd - sum.plain,
              sum.decoder);
  std::printf("Runtime::open: %.1f us (under %.0f)\n", open_time.count(), kMaxMicroseconds);
  return in_bounds ? 0 : 1;
}
