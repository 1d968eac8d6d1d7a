// Cuts an array into as many pieces as there are devices and works on all of them at once, with a
// thread for each. A module is loaded once per device, by the thread that needs it first.
#include <algorithm>
#include <cstdio>
#include <kiln/runtime.hpp>
#include <kiln_kernels.hpp>  // generated: see examples/CMakeLists.txt
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kCount = 1 << 20;

// Computes values[i] = values[i] * 2 + 1 for `count` values on one device.
kiln::Result<void> work(const kiln::Device& device, float* values, std::size_t count) {
  const auto affine = device.function(kiln_kernels::affine_f32);
  if (!affine) return affine.error();
  const auto stream = device.create_stream();
  if (!stream) return stream.error();

  // These run in the order of the stream; the last line waits for them.
  const kiln::ArrayView<float> piece(values, count);
  const auto buffer = device.upload_async(piece, *stream);
  if (!buffer) return buffer.error();
  const std::size_t* const contiguous = nullptr;
  const auto blocks = static_cast<std::uint32_t>((count + 255) / 256);
  auto done = affine->launch({{blocks}, {256}, 0, *stream}, count, std::size_t{1}, contiguous,
                             *buffer, *buffer, 2.0f, 1.0f);
  if (!done) return done;
  done = device.copy_to_host_async(values, buffer->data(), buffer->size_bytes(), *stream);
  if (!done) return done;
  return stream->synchronize();
}

}  // namespace

int main() {
  const auto runtime = kiln::Runtime::open();
  if (!runtime) return std::fprintf(stderr, "%s\n", runtime.error().text().c_str()), 1;
  std::vector<kiln::Device> devices;
  for (const kiln::DeviceInfo& info : runtime->devices()) {
    const auto device = runtime->device(info.id);
    if (device && device->function(kiln_kernels::affine_f32)) devices.push_back(*device);
  }
  if (devices.empty()) return std::fprintf(stderr, "no device that this build is for\n"), 1;

  std::vector<float> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i % 1000);
  std::vector<std::string> errors(devices.size());
  std::vector<std::thread> threads;
  const std::size_t piece = (kCount + devices.size() - 1) / devices.size();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::size_t first = std::min(i * piece, kCount), last = std::min(first + piece, kCount);
    threads.emplace_back([&, i, first, last] {
      const auto done = work(devices[i], values.data() + first, last - first);
      if (!done) errors[i] = done.error().text();
    });
  }
  for (std::thread& thread : threads) thread.join();

  bool right = true;
  for (std::size_t i = 0; i < kCount; ++i) {
    right = right && values[i] == static_cast<float>(i % 1000) * 2 + 1;
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto statistics = devices[i].statistics(kiln_kernels::modules::affine);
    std::printf("%s (%s): module loaded %d time(s), %d launch(es)%s%s\n",
                devices[i].info().id.c_str(), devices[i].info().name.c_str(),
                static_cast<int>(statistics.loads), static_cast<int>(statistics.launches),
                errors[i].empty() ? "" : ": ", errors[i].c_str());
  }
  std::printf("%zu elements on %zu device(s): %s\n", kCount, devices.size(),
              right ? "all as expected" : "WRONG");
  return right ? 0 : 1;
}
