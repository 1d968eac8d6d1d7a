// Runs saxpy, a kernel of this project, on the first GPU of this machine, or says why it cannot.
#include <kiln/runtime.hpp>
#include <saxpy_kernels.hpp>  // generated: see CMakeLists.txt

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// The compiler knows the kernel's parameters, even on a machine without a GPU.
static_assert(saxpy_kernels::saxpy.kParameterCount == 4);
static_assert(saxpy_kernels::find("vectors")->find("saxpy") == 0);

namespace {

int fail(const kiln::Error& error) {
  std::fprintf(stderr, "saxpy: %s\n", error.text().c_str());
  return 1;
}

}  // namespace

int main() {
  const kiln::Catalog& catalog = saxpy_kernels::catalog();
  std::printf("saxpy is embedded for %zu targets\n", catalog.targets.size());

  auto runtime = kiln::Runtime::open();
  if (!runtime) return fail(runtime.error());
  auto device = runtime->default_device();
  if (!device || device->info().backend == kiln::Backend::kHost) {
    std::printf("no GPU on this machine, nothing was launched\n");
    return 0;
  }

  const std::uint32_t count = 100'000;
  auto x = device->upload(std::vector<float>(count, 2.0f));
  if (!x) return fail(x.error());
  auto y = device->upload(std::vector<float>(count, 1.0f));
  if (!y) return fail(y.error());
  auto saxpy = device->function(saxpy_kernels::saxpy);
  if (!saxpy) return fail(saxpy.error());
  const kiln::LaunchConfig config{{(count + 255) / 256}, {256}};
  if (auto launched = saxpy->launch(config, count, 3.0f, *x, *y); !launched) {
    return fail(launched.error());
  }
  auto result = device->download(*y);
  if (!result) return fail(result.error());
  for (const float value : *result) {
    if (value != 7.0f) return std::fprintf(stderr, "saxpy: got %f, expected 7\n", value), 1;
  }
  std::printf("saxpy on %s: %u elements, all as expected\n", device->info().name.c_str(), count);
  return 0;
}
