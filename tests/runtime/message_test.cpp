// The messages for a user when no image fits, or when a launch does not fit its kernel:
// tests/golden/messages/*.txt, checked in review.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "subject.hpp"
#include "test_modules.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

// A module for the targets of kiln's own manifest, with PTX from a new toolkit.
constexpr unsigned char kBytes[] = "bytes that no driver sees";
constexpr ImageEntry kImages[] = {
    stored("compute_80", ImageFormat::kPtx, kBytes, 0, 90),
    stored("gfx1030", ImageFormat::kHsaco, kBytes),
    stored("gfx1100", ImageFormat::kHsaco, kBytes),
    stored("gfx90a:xnack+", ImageFormat::kHsaco, kBytes),
    stored("sm_80", ImageFormat::kCubin, kBytes),
};
constexpr ModuleEntry kUnary{"unary", 0, 1, {kArithmeticKernels}, {kImages}};

OpenOptions nvidia(const std::string& name, const std::string& capability, int cuda) {
  fake::Script script = cuda_script();
  script.devices = {{.name = name, .arch = capability}};
  script.version = cuda;
  return fake_cuda_options(script);
}
OpenOptions amd(const std::string& name, const std::string& processor) {
  fake::Script script = hip_script();
  script.devices = {{.name = name, .arch = processor}};
  return fake_hip_options(script);
}

Device open_device(const OpenOptions& options) {
  const Result<Runtime> runtime = Runtime::open(options);
  REQUIRE(runtime);
  Result<Device> device = runtime->default_device();
  REQUIRE(device);
  return *device;
}

std::string error_of(const Result<Function>& loaded) {
  REQUIRE_FALSE(loaded);
  return render(loaded.error());
}

std::string load_raw(const OpenOptions& options, const std::string& image) {
  return error_of(open_device(options).get_or_load_func_raw("scale", image.data(), image.size()));
}

}  // namespace

TEST_CASE("The error says what to do on an AMD device that no image is for") {
  const Device device = open_device(amd("Radeon 780M", "gfx1103"));
  check_golden("messages/gfx1103.txt", error_of(device.get_or_load_func("nothing", kUnary)));
}

TEST_CASE("The error says what to do on an NVIDIA device that is older than every image") {
  const Device device = open_device(nvidia("Tesla V100", "70", 13000));
  check_golden("messages/sm_70.txt", error_of(device.get_or_load_func("nothing", kUnary)));
}

TEST_CASE("The error says what to do with a driver that is too old for the PTX") {
  const Device device = open_device(nvidia("NVIDIA H200", "90", 12040));
  check_golden("messages/old_driver.txt", error_of(device.get_or_load_func("nothing", kUnary)));
  CHECK(fake_cuda().calls("cuModuleLoadDataEx") == 0);
}

TEST_CASE("The error says what to do with an image that is cut short") {
  const OpenOptions options = nvidia("NVIDIA H200", "90", 12080);
  std::string cubin = make_cubin();
  cubin.resize(cubin.size() / 2);
  std::string text = load_raw(options, cubin);
  text += load_raw(options, make_ptx().substr(0, make_ptx().size() / 2));

  ImageEntry damaged = stored("sm_90", ImageFormat::kCubin, kBytes);
  damaged.stored_size -= 5;
  const ModuleEntry module{"unary", 0, 1, {kArithmeticKernels}, {&damaged, 1}};
  text += error_of(open_device(options).get_or_load_func("nothing", module));
  check_golden("messages/cut_short.txt", text);
  CHECK(fake_cuda().calls("cuModuleLoadDataEx") == 0);

  std::string hsaco = make_hsaco();
  for (std::size_t size = 64; size < hsaco.size(); ++size) {
    const std::string part = hsaco.substr(0, size);
    CHECK_FALSE(open_device(amd("Fake MI210", "gfx90a:sramecc+:xnack-"))
                    .get_or_load_func_raw("scale", part.data(), part.size()));
    CHECK(fake_hip().calls("hipLibraryLoadData") == 0);
  }
}

TEST_CASE("The error says what to do with an image of another architecture") {
  const OpenOptions options = nvidia("NVIDIA H200", "90", 12080);
  std::string text = load_raw(options, make_cubin());
  text += load_raw(options, make_hsaco());
  text += load_raw(options, ".version 9.0\n.target sm_90\n.address_size 64\n");
  text += load_raw(options,
                   make_fatbin({{.payload = make_cubin()}, {.capability = 86, .payload = "x"}}));
  const OpenOptions mi210 = amd("Fake MI210", "gfx90a:sramecc+:xnack-");
  text += load_raw(mi210, make_hsaco({.flags = 0x73f}));
  text += load_raw(mi210, make_bundle({{"host-x86_64-unknown-linux-gnu-", ""},
                                       {"hipv4-amdgcn-amd-amdhsa--gfx1100", make_hsaco()}}));
  text += load_raw(nvidia("NVIDIA B300", "103", 13000),
                   make_cubin({.flags = 0x06006402, .compat = cubin_attribute(2, 0x09, 1)}));
  check_golden("messages/wrong_architecture.txt", text);
  CHECK(fake_cuda().calls("cuModuleLoadDataEx") == 0);
  CHECK(fake_hip().calls("hipLibraryLoadData") == 0);
}

TEST_CASE("The error says how a launch's arguments differ from what the driver knows") {
  const Device device = open_device(nvidia("NVIDIA H200", "90", 12080));
  const std::string image = "FAKE sm_90\n.entry scale_add\n.entry nothing\n";
  const Result<Function> function =
      device.get_or_load_func_raw("scale_add", image.data(), image.size());
  REQUIRE(function);
  const LaunchConfig config{{1}, {64}};
  const std::uint64_t count = 4;
  void* const pointer = nullptr;
  const auto text_of = [](const Result<void>& launched) {
    REQUIRE_FALSE(launched);
    return render(launched.error());
  };
  std::string text = text_of(function->launch(config, count, pointer, pointer, 2.0F));
  text += text_of(function->launch(config, count, pointer, pointer, 2.0F, 1.0F, 1.0F));
  text += text_of(function->launch(config, count, pointer, pointer, 2.0, 1.0F));
  check_golden("messages/arguments.txt", text);
}
