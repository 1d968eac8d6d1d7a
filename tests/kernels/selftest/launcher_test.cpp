// Launcher over a fake driver: what it checks, what it passes, what it remembers.
#include "kiln/ops/launcher.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "kiln/ops/kernels.hpp"
#include "subject.hpp"
#include "test_modules.hpp"

namespace kiln::ops {
namespace {

constexpr const ModuleEntry* kModules[] = {&testing::kArithmetic};
constexpr Catalog kCatalog{"test", "", {}, {}, {kModules}};

}  // namespace

// In place of the catalog of our own kernels.
const Catalog& catalog() { return kCatalog; }

namespace {

using testing::fake_cuda;

struct Bench {
  Runtime runtime = *Runtime::open(testing::fake_cuda_options());
  Device device = *runtime.default_device();
  Launcher launcher{device};
  Buffer out = *device.allocate(64);

  // scale_add over two floats that the layout block holds: out = block * scale + shift.
  Launch over_layout(float first, float second) const {
    Launch launch;
    launch.module = "arithmetic";
    launch.kernel = "scale_add";
    launch.arguments = {Argument::of(std::uint64_t{2}), Argument::null(), Argument::of(out.data()),
                        Argument::of(10.0f), Argument::of(1.0f)};
    const float floats[] = {first, second};
    launch.layout.resize(1);
    std::memcpy(launch.layout.data(), floats, sizeof floats);
    launch.layout_argument = 1;
    launch.block.x = 32;
    return launch;
  }
  std::vector<float> result() const { return *device.download<float>(out); }
};

TEST_CASE("Launcher puts the layout block into device memory and passes its address") {
  const Bench bench;
  const Launch launch = bench.over_layout(3, 5);
  REQUIRE(bench.launcher.run(launch));
  CHECK(bench.result()[0] == 31);
  CHECK(bench.result()[1] == 51);
}

TEST_CASE("Launcher keeps one layout block for each content") {
  const Bench bench;
  REQUIRE(bench.launcher.run(bench.over_layout(3, 5)));
  const std::size_t allocations = fake_cuda().live().allocations;
  REQUIRE(bench.launcher.run(bench.over_layout(3, 5)));
  CHECK(fake_cuda().live().allocations == allocations);
  REQUIRE(bench.launcher.run(bench.over_layout(4, 5)));
  CHECK(fake_cuda().live().allocations == allocations + 1);
  CHECK(bench.result()[0] == 41);
  REQUIRE(bench.launcher.run(bench.over_layout(3, 5)));
  CHECK(fake_cuda().live().allocations == allocations + 1);
  CHECK(bench.result()[0] == 31);
}

TEST_CASE("Launcher prepares a launch, which then asks nothing but the launch of the driver") {
  const Bench bench;
  const Launch launch = bench.over_layout(3, 5);
  REQUIRE(bench.launcher.prepare(launch));
  CHECK(fake_cuda().calls("cuLaunchKernel") == 0);
  const std::vector<std::string> allowed = {"cuCtxGetCurrent", "cuCtxSetCurrent", "cuLaunchKernel"};
  int before = fake_cuda().all_calls();
  for (const std::string& call : allowed) before -= fake_cuda().calls(call);
  REQUIRE(bench.launcher.run(launch));
  int after = fake_cuda().all_calls();
  for (const std::string& call : allowed) after -= fake_cuda().calls(call);
  CHECK(after == before);
  CHECK(bench.result()[1] == 51);
}

TEST_CASE("Launcher refuses arguments that are not the kernel's") {
  const Bench bench;
  Launch launch = bench.over_layout(3, 5);
  launch.arguments[3] = Argument::of(10.0);  // a double
  const auto refused = bench.launcher.run(launch);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kInvalidInput);
  CHECK(refused.error().message ==
        "the arguments of 'arithmetic.scale_add<<<1, 32>>>' are not those of the kernel");
  CHECK(refused.error().notes.at(0).text == "given: 8, 8, 8, 8, 4 bytes");
  CHECK(refused.error().notes.at(1).text == "taken: 8, 8, 8, 4, 4 bytes");
  launch.arguments.pop_back();
  CHECK_FALSE(bench.launcher.run(launch));
}

TEST_CASE("Launcher says what this build does not have") {
  const Bench bench;
  Launch launch = bench.over_layout(3, 5);
  launch.module = "sorting";
  const auto no_module = bench.launcher.run(launch);
  REQUIRE_FALSE(no_module);
  CHECK(no_module.error().code == ErrorCode::kNotFound);
  CHECK(no_module.error().message == "this build has no module 'sorting'");
  launch.module = "arithmetic";
  launch.kernel = "scale_ad";
  const auto no_kernel = bench.launcher.run(launch);
  REQUIRE_FALSE(no_kernel);
  CHECK(no_kernel.error().code == ErrorCode::kNotFound);
}

TEST_CASE("Launcher passes on what the driver refuses") {
  const Bench bench;
  REQUIRE(bench.launcher.run(bench.over_layout(3, 5)));
  fake_cuda().fail("cuMemAlloc_v2", 1, fake::kOutOfMemory);
  const auto refused = bench.launcher.run(bench.over_layout(6, 5));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kDriver);
  // Not remembered: the next launch of the same shape works.
  CHECK(bench.launcher.run(bench.over_layout(6, 5)));
  CHECK(bench.result()[0] == 61);
}

}  // namespace
}  // namespace kiln::ops
