// Runs one kernel, affine_f32, and checks its result. Uses the first GPU, or the processor if there
// is no GPU.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <kiln/runtime.hpp>
#include <kiln_kernels.hpp>  // generated: see CMakeLists.txt
#include <string>
#include <vector>

namespace {

void print(const kiln::Error& error) { std::fprintf(stderr, "first: %s\n", error.text().c_str()); }

// Returns the default device. If nothing was built for it, because its compiler was missing,
// returns the host, for which every machine can build.
kiln::Result<kiln::Device> choose_device(const kiln::Runtime& runtime) {
  auto device = runtime.default_device();
  if (!device) return device;
  const auto affine = device->function(kiln_kernels::affine_f32);
  if (affine || affine.error().code != kiln::ErrorCode::kNoImage) return device;
  print(affine.error());
  return runtime.device("host");
}

// Prints why the kernel ran on the host although nobody asked for that.
void print_why_no_gpu(const kiln::Runtime& runtime) {
  for (const kiln::BackendStatus& backend : runtime.backends()) {
    if (backend.available || backend.reasons.empty()) continue;
    std::printf("  no %s device: %s\n", std::string(kiln::to_string(backend.backend)).c_str(),
                backend.reasons.front().c_str());
  }
}

// Computes out[i] = in[i] * 2 + 1 on `device` and checks it.
kiln::Result<void> run_affine(const kiln::Device& device) {
  const std::size_t count = 1'000'000;
  std::vector<float> input(count);
  for (std::size_t i = 0; i < count; ++i) input[i] = static_cast<float>(i) * 0.25f;

  auto affine = device.function(kiln_kernels::affine_f32);
  if (!affine) return affine.error();
  auto in = device.upload(input);
  if (!in) return in.error();
  auto out = device.allocate<float>(count);
  if (!out) return out.error();

  // affine_f32(numel, num_dims, dims_and_strides, in, out, mul, add). Contiguous data needs no
  // strides. A wrong type or number of arguments does not compile.
  const std::size_t* const contiguous = nullptr;
  const kiln::LaunchConfig config{{static_cast<std::uint32_t>((count + 255) / 256)}, {256}};
  auto launched = affine->launch(config, count, std::size_t{1}, contiguous, *in, *out,
                                 2.0f, 1.0f);
  if (!launched) return launched;
  auto output = device.download(*out);
  if (!output) return output.error();

  for (std::size_t i = 0; i < count; ++i) {
    const float expected = std::fma(input[i], 2.0f, 1.0f);
    if ((*output)[i] != expected) {
      return kiln::Error{kiln::ErrorCode::kInternal,
                         "affine_f32 computed " + std::to_string((*output)[i]) + " at " +
                             std::to_string(i) + ", expected " + std::to_string(expected),
                         {},
                         {}};
    }
  }
  std::printf("affine_f32 on %s (%s): %zu elements, all as expected\n", device.info().name.c_str(),
              device.info().target.c_str(), count);
  return {};
}

}  // namespace

int main() {
  auto runtime = kiln::Runtime::open();
  if (!runtime) return print(runtime.error()), 1;
  auto device = choose_device(*runtime);
  if (!device) return print(device.error()), 1;
  if (auto done = run_affine(*device); !done) return print(done.error()), 1;
  if (device->info().backend == kiln::Backend::kHost) print_why_no_gpu(*runtime);
  return 0;
}
