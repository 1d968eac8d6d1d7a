// Errors while loading and launching: the message, and what remains afterwards.
#include <malloc.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "formats/zstd.hpp"
#include "subject.hpp"
#include "test_modules.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

Device open_device(OpenOptions options) {
  Result<Runtime> runtime = Runtime::open(std::move(options));
  REQUIRE(runtime);
  Result<Device> device = runtime->default_device();
  REQUIRE(device);
  return *device;
}

const LaunchConfig kConfig{{1}, {64}};

// Returns the image of `arithmetic` that the first device of a backend uses.
const ImageEntry& image_for(Backend backend) {
  return kArithmeticImages[backend == Backend::kCuda ? 2 : 1];
}

// Copies in, launches on a stream, measures the time, and copies back, like a typical program.
Result<void> use_everything(const Runtime& runtime) {
  KILN_TRY_ASSIGN(const Device device, runtime.device(0));
  KILN_TRY_ASSIGN(const Buffer in, device.upload(std::vector<float>(64, 1.0F)));
  KILN_TRY_ASSIGN(const Buffer out, device.allocate(in.size()));
  KILN_TRY_ASSIGN(const Stream stream, device.create_stream());
  KILN_TRY_ASSIGN(const Event start, device.create_event());
  KILN_TRY_ASSIGN(const Event stop, device.create_event());
  KILN_TRY(device.load(kPair));
  KILN_TRY_ASSIGN(const auto scale_add, device.function(kScaleAdd));
  KILN_TRY(start.record(stream));
  KILN_TRY(device.fill(out.data(), 0, out.size(), stream));
  KILN_TRY(scale_add.launch({{1}, {64}, 60 * 1024, stream}, std::uint64_t{64}, in.data(),
                            out.data(), 2.0F, 1.0F));
  KILN_TRY(stop.record(stream));
  KILN_TRY(stop.synchronize());
  KILN_TRY(stop.milliseconds_since(start));
  KILN_TRY(stream.synchronize());
  KILN_TRY_ASSIGN(const auto pinned, device.allocate_pinned<float>(16));
  KILN_TRY_ASSIGN(const auto ordered, device.upload_async(pinned, stream));
  KILN_TRY(device.copy_to_host_async(pinned, ordered, stream));
  KILN_TRY(device.copy_on_device(in.data(), out.data(), out.size()));
  KILN_TRY(device.synchronize());
  KILN_TRY_ASSIGN(const Symbol gain, device.symbol("gain", kArithmetic));
  KILN_TRY(device.copy_to_device(gain.data, "gain", 4));
  KILN_TRY(device.unload(kPair));
  const ImageEntry& image = image_for(device.info().backend);
  KILN_TRY_ASSIGN(const Function raw,
                  device.get_or_load_func_raw("nothing", image.data, image.size));
  KILN_TRY(raw.launch(kConfig));
  KILN_TRY_ASSIGN(const auto results, device.download<float>(in));
  if (results[0] != 3.0F) return Error{ErrorCode::kInternal, "wrong result", {}, {}};
  if (device.info().backend != Backend::kCuda) return {};
  // The handle of the first device's own context in the fake driver.
  KILN_TRY_ASSIGN(const Device inside, device.in_context(reinterpret_cast<void*>(1)));
  KILN_TRY_ASSIGN(const auto nothing, inside.function(kNothing));
  return nothing.launch(kConfig);
}

// Returns the whole error as one text.
std::string whole(const Error& error) { return render(error); }

bool contains_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

// A fake driver with one device, whose calls fail one after the other.
class Faults {
 public:
  explicit Faults(const std::string& name) : subject_(subject_named(name)) {}

  fake::Machine& machine() const { return *subject_.machine; }
  Runtime open() const {
    const OpenOptions options = options_for(subject_);
    machine().script().devices.resize(1);
    return *Runtime::open(options);
  }
  // Returns the number of calls of a run without faults.
  int count_calls() const {
    const Result<void> fine = use_everything(open());
    if (!fine) FAIL(fine.error().message);
    CHECK(machine().live() == kNothingLeft);
    return machine().all_calls();
  }
  // "cuMemcpyHtoDAsync_v2" is reported as "cuMemcpyHtoDAsync".
  std::string failed_call() const {
    const std::string call = machine().failed_call();
    return call.substr(0, std::min(call.find("_v2"), call.find("R0600")));
  }

  static constexpr fake::Machine::Live kNothingLeft{0, 0, 0, 0, 0, 0};

 private:
  Subject subject_;
};

constexpr auto kFakes = {"fake_cuda", "fake_cuda_11", "fake_hip", "fake_hip_5"};

}  // namespace

TEST_CASE("A failed call of any kind is named, and leaves nothing behind") {
  const Faults faults(GENERATE(values(kFakes)));
  const int calls = faults.count_calls();
  REQUIRE(calls > 50);
  for (int nth = 1; nth <= calls; ++nth) {
    Result<void> outcome;
    {
      const Runtime runtime = faults.open();
      faults.machine().fail_any(nth, fake::kInvalidValue);
      outcome = use_everything(runtime);
      if (!runtime.backends()[0].reasons.empty()) {
        outcome = runtime.default_device().error();  // the error has the reasons
      }
    }
    const std::string call = faults.failed_call();
    CAPTURE(nth, call);
    if (!outcome) {
      CAPTURE(whole(outcome.error()));
      CHECK(whole(outcome.error()).find(call) != std::string::npos);
    }
    // Memory that a failed release left behind belongs to the driver, and releases cannot report
    // errors. A release first asks for captures.
    const bool gives_back =
        contains_any(call, {"Free", "Destroy", "Unload", "Release", "CtxSetCurrent",
                            "CtxGetCurrent", "SetDevice", "hipGetDevice", "CtxSynchronize",
                            "DeviceSynchronize", "StreamIsCapturing"});
    if (gives_back) continue;
    // It is called for one parameter after the other until it fails; a release of HIP without pools
    // may not know the attribute; and memory is allocated in whatever mode the thread has.
    const bool may_fail = call == "cuFuncGetParamInfo" || call == "hipDeviceGetAttribute" ||
                          call.ends_with("ThreadExchangeStreamCaptureMode");
    if (!may_fail) CHECK_FALSE(outcome);
    CHECK(faults.machine().live() == Faults::kNothingLeft);
  }
}

TEST_CASE("After a failed call of any kind the same device goes on") {
  const Faults faults(GENERATE(values(kFakes)));
  const int calls = faults.count_calls();
  for (int nth = 1; nth <= calls; ++nth) {
    const Runtime runtime = faults.open();
    REQUIRE(runtime.devices().size() == 1);
    faults.machine().fail_any(nth, fake::kInvalidValue);
    (void)use_everything(runtime);
    faults.machine().fail_any(0, fake::kSuccess);
    const Result<void> again = use_everything(runtime);
    CAPTURE(nth, faults.failed_call());
    if (!again) FAIL(whole(again.error()));
  }
}

TEST_CASE("A driver that fails from some call on is told of, and everything ends") {
  const Faults faults(GENERATE(values(kFakes)));
  const int calls = faults.count_calls();
  for (int nth = 1; nth <= calls; ++nth) {
    Result<void> outcome;
    {
      const Runtime runtime = faults.open();
      REQUIRE(runtime.devices().size() == 1);
      faults.machine().fail_from(nth, fake::kInvalidValue);
      outcome = use_everything(runtime);
    }
    if (outcome) continue;  // the failure was in teardown
    // The error names the first failed call, or the next one if the first restored the caller's
    // device.
    CAPTURE(nth, faults.failed_call(), whole(outcome.error()));
    CHECK(contains_any(whole(outcome.error()),
                       {": CUDA_ERROR_INVALID_VALUE: ", ": hipErrorInvalidValue: "}));
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
        "failed allocating 2147483648 bytes on cuda:0 (Fake H200, sm_90): cuMemAllocFromPoolAsync: "
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
    CHECK(fake_hip().calls("hipLibraryLoadData") == 0);
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

TEST_CASE("Teardown in any order leaves nothing, and is quiet after the driver's own end") {
  const Subject fake = subject_named(GENERATE(values(kFakes)));
  const bool driver_ends = GENERATE(false, true);
  std::vector<int> order = {0, 1, 2, 3, 4};
  do {
    auto runtime = std::make_unique<Runtime>(*Runtime::open(options_for(fake)));
    auto device = std::make_unique<Device>(*runtime->default_device());
    auto buffer = std::make_unique<Buffer>(*device->allocate(64));
    auto stream = std::make_unique<Stream>(*device->create_stream());
    auto ordered = std::make_unique<Buffer>(*device->allocate(64, *stream));
    auto pinned = std::make_unique<PinnedBuffer<float>>(*device->allocate_pinned<float>(16));
    auto event = std::make_unique<Event>(*device->create_event());
    auto nothing = std::make_unique<TypedFunction<>>(*device->function(kNothing));
    CHECK(nothing->launch({{1}, {64}, 0, *stream}));
    if (driver_ends) {
      fake.machine->end_driver();
      CHECK(device->unload(kArithmetic));
    }
    for (const int which : order) {
      if (which == 0) runtime.reset();
      if (which == 1) device.reset(), nothing.reset();
      if (which == 2) buffer.reset(), ordered.reset(), pinned.reset();
      if (which == 3) stream.reset();
      if (which == 4) event.reset();
    }
    if (!driver_ends) CHECK(fake.machine->live() == Faults::kNothingLeft);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("The caller's own choice of device is left as it was") {
  const Runtime runtime = *Runtime::open(fake_hip_options());
  const Result<Device> second = runtime.device("hip:1");
  REQUIRE(second);
  const int before = fake_hip().calls("hipSetDevice");
  REQUIRE(second->allocate(64));
  // Sets the device and restores it: for the allocation, for its release, and before each for the
  // question about captures.
  CHECK(fake_hip().calls("hipSetDevice") == before + 8);
}

TEST_CASE("A trace that throws does not end the program when a module is unloaded") {
  OpenOptions options = fake_cuda_options();
  options.trace = [&](std::string_view line) {
    if (line.ends_with(": unloaded")) throw 1;
  };
  {
    const Device device = open_device(options);
    REQUIRE(device.function(kNothing));
  }
  CHECK(fake_cuda().live() == Faults::kNothingLeft);
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

TEST_CASE("Names that an image lacks leave nothing behind") {
  const Result<Runtime> runtime = Runtime::open(fake_cuda_options());
  const Device device = runtime->default_device().value();
  const auto ask = [&](int number) {
    const std::string name = "missing_" + std::to_string(number) + std::string(1000, 'x');
    CHECK_FALSE(device.get_or_load_func_raw(name, kPtx, sizeof kPtx));
  };
  ask(0);
  const auto before = mallinfo2().uordblks;
  for (int number = 1; number <= 1000; ++number) ask(number);
  CHECK(mallinfo2().uordblks < before + 500'000);
}

TEST_CASE("A variable of a module without images is not found, and the error says why") {
  constexpr ModuleEntry kEmpty{"empty", 0, 0, {}, {}};
  const Result<Runtime> runtime = Runtime::open(fake_cuda_options());
  const Device device = runtime->default_device().value();
  const Result<Symbol> symbol = device.symbol("gain", kEmpty);
  REQUIRE_FALSE(symbol);
  CHECK(symbol.error().code == ErrorCode::kNotFound);
  CHECK(symbol.error().message ==
        "failed finding variable 'gain' of module 'empty' on cuda:0 (Fake H200, sm_90): the module "
        "has no image");
}
