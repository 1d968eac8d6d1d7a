// What goes wrong while loading and launching: the message, and what is left afterwards.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "formats/zstd.hpp"
#include "subject.hpp"
#include "test_modules.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

struct Fake {
  std::string name;
  fake::Machine& machine;
  OpenOptions (*options)(fake::Script);
  fake::Script script;
};
Fake fake_named(const std::string& name) {
  if (name == "cuda") return {name, fake_cuda(), fake_cuda_options, cuda_script()};
  return {name, fake_hip(), fake_hip_options, hip_script()};
}

Device open_device(OpenOptions options) {
  Result<Runtime> runtime = Runtime::open(std::move(options));
  REQUIRE(runtime);
  Result<Device> device = runtime->default_device();
  REQUIRE(device);
  return *device;
}

const LaunchConfig kConfig{{1}, {64}};

// Copies in, launches on a stream, times it, and copies back: what a program does.
Result<void> use_everything(const OpenOptions& options) {
  KILN_TRY_ASSIGN(const Runtime runtime, Runtime::open(options));
  KILN_TRY_ASSIGN(const Device device, runtime.default_device());
  KILN_TRY_ASSIGN(const Buffer in, device.upload(std::vector<float>(64, 1.0F)));
  KILN_TRY_ASSIGN(const Buffer out, device.allocate(in.size()));
  KILN_TRY_ASSIGN(const Stream stream, device.create_stream());
  KILN_TRY_ASSIGN(const Event start, device.create_event());
  KILN_TRY_ASSIGN(const Event stop, device.create_event());
  KILN_TRY(device.preload(kPair));
  KILN_TRY_ASSIGN(const auto scale_add, device.function(kScaleAdd));
  KILN_TRY(start.record(stream));
  KILN_TRY(device.fill(out.data(), 0, out.size(), stream));
  KILN_TRY(scale_add.launch({{1}, {64}, 60 * 1024, stream}, std::uint64_t{64}, in.data(),
                            out.data(), 2.0F, 1.0F));
  KILN_TRY(stop.record(stream));
  KILN_TRY(stop.synchronize());
  KILN_TRY(stop.milliseconds_since(start));
  KILN_TRY(stream.synchronize());
  KILN_TRY(device.copy_on_device(in.data(), out.data(), out.size()));
  KILN_TRY(device.synchronize());
  KILN_TRY(device.unload(kPair));
  KILN_TRY_ASSIGN(const auto results, device.download<float>(in));
  if (results[0] != 3.0F) return Error{ErrorCode::kInternal, "wrong result", {}, {}};
  return {};
}

// Everything that an error says, in one text.
std::string whole(const Error& error) { return render(error); }

bool contains_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("A failed call of any kind is named, and leaves nothing behind") {
  Fake fake = fake_named(GENERATE("cuda", "hip"));
  fake.script.devices.resize(1);
  OpenOptions options = fake.options(fake.script);
  {
    const Result<void> fine = use_everything(options);
    if (!fine) FAIL(fine.error().message);
  }
  const int calls = fake.machine.all_calls();
  REQUIRE(calls > 50);
  for (int nth = 1; nth <= calls; ++nth) {
    options = fake.options(fake.script);
    options.default_device = fake.name + ":0";
    fake.machine.fail_any(nth, fake::kInvalidValue);
    const Result<void> outcome = use_everything(options);
    const std::string call = fake.machine.failed_call();
    CAPTURE(nth, call);
    if (!outcome) {
      // "cuMemAlloc_v2" is told as "cuMemAlloc".
      const std::string name = call.substr(0, std::min(call.find("_v2"), call.find("R0600")));
      CAPTURE(whole(outcome.error()));
      CHECK(whole(outcome.error()).find(name) != std::string::npos);
    }
    // What a failed release left is the driver's, and giving back is where nobody is left to tell.
    const bool gives_back = contains_any(
        call, {"Free", "Destroy", "Unload", "Release", "CtxSetCurrent", "CtxGetCurrent",
               "SetDevice", "hipGetDevice", "CtxSynchronize", "DeviceSynchronize"});
    if (gives_back) continue;
    CHECK_FALSE(outcome);
    CHECK(fake.machine.live() == fake::Machine::Live{0, 0, 0, 0, 0});
  }
}

TEST_CASE("A failed load is told, and tried again by the next caller") {
  const Device device = open_device(fake_cuda_options());
  fake_cuda().fail("cuModuleLoadDataEx", 1, fake::kOutOfMemory);
  const auto failed = device.function(kNothing);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message ==
        "failed loading module 'arithmetic' (compute_80) on cuda:0 (Fake H200, sm_90): "
        "cuModuleLoadDataEx: CUDA_ERROR_OUT_OF_MEMORY: out of memory");
  CHECK(device.function(kNothing));
}

TEST_CASE("The driver's compiler log is part of the error") {
  fake::Script script = cuda_script();
  script.jit_fails = true;
  script.jit_log =
      "ptxas application ptx input, line 9; fatal   : Parsing error\nptxas fatal : stop\n";
  const Device device = open_device(fake_cuda_options(script));
  const auto failed = device.function(kNothing);
  REQUIRE_FALSE(failed);
  CHECK(
      whole(failed.error()) ==
      "kiln: error: failed loading module 'arithmetic' (compute_80) on cuda:0 (Fake H200, sm_90): "
      "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed\n"
      "note: the driver's PTX compiler: ptxas application ptx input, line 9; fatal   : Parsing "
      "error\n"
      "note: the driver's PTX compiler: ptxas fatal : stop\n");
}

TEST_CASE("A launch's failure tells the kernel, the device and the shape") {
  const Device device = open_device(fake_hip_options());
  const auto nothing = device.function(kNothing);
  REQUIRE(nothing);
  fake_hip().fail("hipModuleLaunchKernel", 1, fake::kLaunchFailed);
  const Result<void> failed = nothing->launch(kConfig);
  REQUIRE_FALSE(failed);
  CHECK(
      whole(failed.error()) ==
      "kiln: error: failed launching kernel 'nothing' of module 'arithmetic' on hip:0 (Fake MI210, "
      "gfx90a:sramecc+:xnack-): hipModuleLaunchKernel: hipErrorLaunchFailure: unspecified launch "
      "failure\n"
      "note: grid (1, 1, 1), block (64, 1, 1), 0 bytes of dynamic shared memory\n");
}

TEST_CASE("An allocation's failure tells its size") {
  const Device device = open_device(fake_cuda_options());
  const Result<Buffer> failed = device.allocate(std::size_t{2} << 30);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message ==
        "failed allocating 2147483648 bytes on cuda:0 (Fake H200, sm_90): cuMemAlloc: "
        "CUDA_ERROR_OUT_OF_MEMORY: out of memory");
}

TEST_CASE("A compressed image is loaded, and stays while the driver uses it in place") {
  const std::string_view text(reinterpret_cast<const char*>(kFakeGfx90a), sizeof kFakeGfx90a);
  const std::string frame = *zstd_compress(text);
  ImageEntry image = stored("gfx90a", ImageFormat::kHsaco, kFakeGfx90a);
  image.compression = Compression::kZstd;
  image.data = reinterpret_cast<const unsigned char*>(frame.data());
  image.stored_size = frame.size();
  const ModuleEntry module{"packed", 0, 1, {kArithmeticKernels}, {&image, 1}};
  {
    const Device device = open_device(fake_hip_options());
    const auto nothing = device.get_or_load_func("nothing", module);
    REQUIRE(nothing);
    CHECK(nothing->launch(kConfig));
  }

  const auto message = [&](std::size_t stored_size, std::size_t size) {
    const Device device = open_device(fake_hip_options());
    image.stored_size = stored_size;
    image.size = size;
    const auto failed = device.get_or_load_func("nothing", module);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == ErrorCode::kInvalidInput);
    CHECK(fake_hip().calls("hipModuleLoadData") == 0);
    return failed.error().message;
  };
  for (std::size_t size = 0; size < frame.size(); ++size) {
    CHECK(message(size, text.size())
              .find("failed loading module 'packed' (gfx90a) on hip:0 (Fake "
                    "MI210, gfx90a:sramecc+:xnack-): the stored image "
                    "'gfx90a' is damaged: bad zstd frame: ") == 0);
  }
  (void)message(frame.size(), text.size() - 1);
  CHECK(message(frame.size(), text.size() + 1).find("it holds 60 bytes, expected 61") !=
        std::string::npos);
}

TEST_CASE("An image that is not compressed is checked for its size") {
  ImageEntry image = stored("gfx90a", ImageFormat::kHsaco, kFakeGfx90a);
  image.size = 7;
  const ModuleEntry module{"short", 0, 1, {kArithmeticKernels}, {&image, 1}};
  const auto failed = open_device(fake_hip_options()).get_or_load_func("nothing", module);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("is damaged: it has 60 bytes, expected 7") !=
        std::string::npos);
}

TEST_CASE("Teardown is quiet after the driver's own end") {
  const Fake fake = fake_named(GENERATE("cuda", "hip"));
  const Device device = open_device(fake.options(fake.script));
  const Result<Buffer> buffer = device.allocate(64);
  const Result<Stream> stream = device.create_stream();
  REQUIRE(device.function(kNothing));
  fake.machine.end_driver();
  CHECK(device.unload(kArithmetic));
}

TEST_CASE("The caller's own choice of device is left as it was") {
  const Runtime runtime = *Runtime::open(fake_hip_options());
  const Result<Device> second = runtime.device("hip:1");
  REQUIRE(second);
  const int before = fake_hip().calls("hipSetDevice");
  REQUIRE(second->allocate(64));
  // There and back, for the allocation and for its release.
  CHECK(fake_hip().calls("hipSetDevice") == before + 4);
}

TEST_CASE("Device traces each load in a line") {
  std::vector<std::string> lines;
  OpenOptions options = fake_cuda_options();
  options.trace = [&](std::string_view line) { lines.emplace_back(line); };
  {
    const Device device = open_device(options);
    REQUIRE(device.function(kNothing));
    REQUIRE(device.function(kScaleAdd));
  }
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].find("cuda:0: module 'arithmetic': loaded compute_80 (PTX), ") == 0);
  CHECK(lines[2] == "cuda:0: module 'arithmetic': unloaded");
}
