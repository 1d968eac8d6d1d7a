// Loads kiln's own kernels, from the header that the build generates, on a real device
// (KILN_TEST_DRIVER). The conformance suite tests what they compute.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "kiln/ops/kernels.hpp"
#include "subject.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

Device open_device() {
  const Runtime runtime = open_subject();
  Result<Device> device = runtime.default_device();
  REQUIRE(device);
  return *device;
}

}  // namespace

TEST_CASE("Device loads every kernel of kiln's own modules, each unit once") {
  const Device device = open_device();
  for (const ModuleEntry* module : ops::catalog().modules) {
    CAPTURE(module->name);
    const Result<void> loaded = device.load(*module);
    if (!loaded) FAIL(loaded.error().message);
    const auto again = device.load(*module);
    CHECK(again);
    CHECK(device.statistics(*module).loads == module->unit_count);
    CHECK(device.unload(*module));
  }
}

TEST_CASE("Device launches a kernel of the generated header by its name") {
  const Device device = open_device();
  const ModuleEntry* affine = nullptr;
  for (const ModuleEntry* module : ops::catalog().modules) {
    if (module->name == "affine") affine = module;
  }
  REQUIRE(affine != nullptr);
  const std::vector<float> values = {0.0F, 1.0F, -2.5F, 1000.0F, 3.0F};
  const Result<Buffer> in = device.upload(values);
  const Result<Buffer> out = device.allocate(values.size() * sizeof(float));
  REQUIRE(in);
  REQUIRE(out);
  const Result<Function> function = device.get_or_load_func("affine_f32", *affine);
  if (!function) FAIL(function.error().message);
  const void* const contiguous = nullptr;
  const Result<void> launched = function->launch({{1}, {64}}, values.size(), std::size_t{1},
                                                 contiguous, in->data(), out->data(), 2.0F, 1.0F);
  if (!launched) FAIL(launched.error().message);
  const auto results = device.download<float>(*out);
  REQUIRE(results);
  CHECK(*results == std::vector<float>{1.0F, 3.0F, -4.0F, 2001.0F, 7.0F});
}
