// Opening: the libraries that are tried, the messages when they do not work, and the names of
// devices.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "formats/ptx_isa.hpp"
#include "runtime/src/hip_driver.hpp"
#include "subject.hpp"
#include "test_modules.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

// An environment variable for the duration of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

Runtime open(OpenOptions options) {
  Result<Runtime> runtime = Runtime::open(std::move(options));
  REQUIRE(runtime);
  return std::move(*runtime);
}

std::vector<std::string> ids(const Runtime& runtime) {
  std::vector<std::string> result;
  for (const DeviceInfo& device : runtime.devices()) result.push_back(device.id);
  return result;
}

OpenOptions both_fakes() {
  OpenOptions options = fake_cuda_options();
  options.backends = {Backend::kCuda, Backend::kHip};
  options.hip_library = fake_hip_options().hip_library;
  return options;
}

}  // namespace

TEST_CASE("Runtime lists the devices of all backends in order") {
  const Runtime runtime = open(both_fakes());
  CHECK(ids(runtime) == std::vector<std::string>{"cuda:0", "cuda:1", "hip:0", "hip:1"});
  const DeviceInfo& h200 = runtime.devices()[0];
  CHECK(h200.name == "Fake H200");
  CHECK(h200.target == "sm_90");
  CHECK(h200.driver == "CUDA 12.8");
  CHECK(h200.max_ptx_isa == 87);
  CHECK(h200.max_shared_bytes == 227 * 1024);
  const DeviceInfo& mi210 = runtime.devices()[2];
  CHECK(mi210.target == "gfx90a:sramecc+:xnack-");
  CHECK(mi210.driver == "HIP 6.4");
  CHECK(mi210.wave_width == 64);
  CHECK(runtime.backends()[0].library == KILN_FAKE_CUDA);
  CHECK(runtime.backends()[1].device_count == 2);
}

TEST_CASE("Runtime opens a backend only when one of its devices is asked for") {
  const Runtime runtime = open(both_fakes());
  CHECK(fake_cuda().all_calls() == 0);
  CHECK(runtime.device("hip:1")->info().name == "Fake RX 7900");
  CHECK(fake_cuda().all_calls() == 0);
  CHECK(runtime.device("cuda")->info().id == "cuda:0");
  CHECK(fake_cuda().calls("cuInit") == 1);
}

TEST_CASE("Runtime says what there is when a device is not there") {
  const Runtime runtime = open(both_fakes());
  const Result<Device> missing = runtime.device("cuda:2");
  REQUIRE_FALSE(missing);
  CHECK(render(missing.error()) ==
        "kiln: error: no device 'cuda:2' on this machine\n"
        "note: there is cuda:0 (Fake H200, sm_90)\n"
        "note: there is cuda:1 (Fake A100, sm_80)\n");
  const Result<Device> nonsense = runtime.device("gpu:0");
  REQUIRE_FALSE(nonsense);
  CHECK(nonsense.error().code == ErrorCode::kInvalidInput);
  CHECK(nonsense.error().message == "'gpu:0' names no device");
  for (const char* name : {"cuda:", "cuda:x", "cuda:-1", "cuda:1x", "hip:0:1"}) {
    INFO(name);
    CHECK(runtime.device(name).error().code == ErrorCode::kInvalidInput);
  }
  CHECK(runtime.device("wave64").error().notes.at(0).text == "did you mean 'host:wave64'?");
  CHECK(runtime.device("HOST").error().notes.at(0).text == "did you mean 'host'?");
  CHECK(runtime.device("WAVE64").error().notes.at(0).text == "did you mean 'host:wave64'?");
}

TEST_CASE("Runtime keeps the reason of each library that did not open") {
  OpenOptions options;
  options.backends = {Backend::kCuda, Backend::kHip};
  options.cuda_library = "/nowhere/libcuda.so.1";
  options.hip_library = "/nowhere/libamdhip64.so.6";
  const Runtime runtime = open(options);
  CHECK(runtime.devices().empty());
  const Result<Device> none = runtime.default_device();
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kUnavailable);
  CHECK(render(none.error()) ==
        "kiln: error: no device on this machine that kiln can run kernels on\n"
        "note: cuda: /nowhere/libcuda.so.1: cannot open shared object file: No such file or "
        "directory\n"
        "note: hip: /nowhere/libamdhip64.so.6: cannot open shared object file: No such file or "
        "directory\n"
        "hint: without a GPU: 'emulated:gfx1100' interprets the images of gfx1100 (so do gfx1030 and gfx90a theirs), 'host' "
        "runs those of host\n");
  CHECK(render(runtime.device("cuda:0").error()) ==
        "kiln: error: no device 'cuda:0' on this machine\n"
        "note: cuda: /nowhere/libcuda.so.1: cannot open shared object file: No such file or "
        "directory\n"
        "hint: without a GPU: 'emulated:gfx1100' interprets the images of gfx1100 (so do gfx1030 and gfx90a theirs), 'host' "
        "runs those of host\n");
}

TEST_CASE("Runtime tells a library that is not there from one that lacks another") {
  OpenOptions options;
  options.host_library = KILN_FAKE_NEEDING;
  CHECK(render(open(options).device("host").error()) ==
        "kiln: error: no device 'host' on this machine\n"
        "note: host: " KILN_FAKE_NEEDING
        " needs libnowhere.so.1: cannot open shared object file: No such file or directory\n"
        "hint: install what it needs, or name its folder in LD_LIBRARY_PATH\n");
  options.host_library = "/nowhere/libkiln_host.so";
  CHECK(render(open(options).device("host").error()) ==
        "kiln: error: no device 'host' on this machine\n"
        "note: host: /nowhere/libkiln_host.so: cannot open shared object file: No such file or directory\n"
        "hint: put libkiln_host.so beside the program, or say where it is: KILN_HOST_LIBRARY\n");
}

TEST_CASE("Runtime names the function that a driver lacks") {
  OpenOptions options;
  options.backends = {Backend::kCuda, Backend::kHip};
  options.cuda_library = KILN_FAKE_CUDA_LACKING;
  options.hip_library = KILN_FAKE_HIP_LACKING;
  const Runtime runtime = open(options);
  REQUIRE(runtime.backends().size() == 2);
  CHECK(runtime.backends()[0].reasons ==
        std::vector<std::string>{std::string(KILN_FAKE_CUDA_LACKING) +
                                 " has no 'cuLaunchKernel': the driver is too old"});
  CHECK(runtime.backends()[1].reasons ==
        std::vector<std::string>{std::string(KILN_FAKE_HIP_LACKING) +
                                 " has no 'hipMalloc': the driver is too old"});
}

TEST_CASE("Runtime takes a driver without a device as a machine without one") {
  const Runtime runtime = open(fake_cuda_options({}));
  CHECK(runtime.devices().empty());
  CHECK(runtime.backends()[0].reasons ==
        std::vector<std::string>{"cuInit: CUDA_ERROR_NO_DEVICE: no GPU is detected"});
}

TEST_CASE("Runtime leaves out a device that cannot say what it is, and lists the others") {
  OpenOptions options = fake_cuda_options();
  fake_cuda().fail("cuDeviceGetName", 1, fake::kInvalidValue);
  const Runtime runtime = open(options);
  CHECK(ids(runtime) == std::vector<std::string>{"cuda:1"});
  CHECK(runtime.backends()[0].reasons ==
        std::vector<std::string>{
            "device 0: cuDeviceGetName: CUDA_ERROR_INVALID_VALUE: invalid argument"});
}

TEST_CASE("Runtime reads the architecture from the properties of every HIP release") {
  machine_of(KILN_FAKE_HIP_5).reset(hip_script());
  OpenOptions options;
  options.backends = {Backend::kHip};
  options.hip_library = KILN_FAKE_HIP_5;
  const Runtime runtime = open(options);
  REQUIRE(runtime.devices().size() == 2);
  CHECK(runtime.devices()[0].target == "gfx90a:sramecc+:xnack-");
  CHECK(runtime.devices()[1].target == "gfx1100");

  using kiln::runtime::find_gcn_arch;
  const std::string name(256, '\0');
  CHECK(find_gcn_arch(name + std::string("gfx1030\0", 8)) == "gfx1030");
  CHECK(find_gcn_arch("gfx1100" + name).empty());  // a marketing name
  CHECK(find_gcn_arch(name + std::string("gfxgfx906:xnack-\0", 17)) == "gfx906:xnack-");
  CHECK(find_gcn_arch(name + "gfx1030").empty());  // without an end
  CHECK(find_gcn_arch("").empty());
}

TEST_CASE("Runtime knows the newest PTX of each driver") {
  using kiln::max_ptx_isa;
  CHECK(max_ptx_isa(11000) == 70);
  CHECK(max_ptx_isa(12040) == 84);
  CHECK(max_ptx_isa(12060) == 85);
  CHECK(max_ptx_isa(13000) == 90);
  CHECK(max_ptx_isa(10020) == 65);
  CHECK(max_ptx_isa(7050) == 0);
  CHECK_FALSE(max_ptx_isa(20000));
  using kiln::cuda_of_ptx_isa;
  CHECK(cuda_of_ptx_isa(90) == 13000);
  CHECK(cuda_of_ptx_isa(79) == 12000);
  CHECK(cuda_of_ptx_isa(200) == 0);
}

TEST_CASE("A number that is no enumerator is refused, with those that are") {
  OpenOptions options = fake_cuda_options();
  options.backends.push_back(static_cast<Backend>(9));
  const Result<Runtime> refused = Runtime::open(options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kInvalidInput);
  CHECK(refused.error().message ==
        "OpenOptions::backends has 9, which is no backend: 0 is cuda, 1 is hip, 2 is host, "
        "3 is emulated");

  const Device device = *open(fake_cuda_options()).default_device();
  const auto load_error = [&](const ImageEntry& image) {
    const ModuleEntry module{"cast", 0, 1, kArithmetic.kernels, {&image, 1}};
    const Result<void> loaded = device.load(module);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == ErrorCode::kInvalidInput);
    return render(loaded.error());
  };
  static ImageEntry images[] = {kArithmetic.images[0], kArithmetic.images[0]};
  for (ImageEntry& image : images) image.target = "compute_80";
  images[0].format = static_cast<ImageFormat>(7);
  CHECK(load_error(images[0]).find("its format is 7, an ImageFormat is 0 to 4") !=
        std::string::npos);
  images[1].compression = static_cast<Compression>(7);
  CHECK(load_error(images[1]).find("its compression is 7, a Compression is 0 or 1") !=
        std::string::npos);

  const Function function = *device.get_or_load_func("scale_add", kArithmetic);
  const std::uint64_t value = 0;
  const void* const addresses[] = {&value, &value, &value, &value, &value};
  std::vector<Parameter> types(std::begin(kArithmetic.kernels[1].parameters),
                               std::end(kArithmetic.kernels[1].parameters));
  const auto launch_message = [&] {
    const auto launched = function.launch_raw({{1}, {1}}, addresses, types.data(), types.size());
    REQUIRE_FALSE(launched);
    CHECK(launched.error().code == ErrorCode::kInvalidInput);
    return launched.error().message;
  };
  types[0].element = static_cast<ElementType>(99);
  const std::string ranges = "; a ParameterKind is 0 to 2, an ElementType 0 to 15";
  CHECK(launch_message().ends_with("argument 1 has kind 1 and element type 99" + ranges));
  types[0].kind = static_cast<ParameterKind>(7);
  CHECK(launch_message().ends_with("argument 1 has kind 7 and element type 99" + ranges));
}

TEST_CASE("Runtime follows the environment where the program says nothing") {
  fake_cuda_options();
  fake_hip_options();
  const Variable cuda("KILN_CUDA_LIBRARY", KILN_FAKE_CUDA);
  const Variable hip("KILN_HIP_LIBRARY", KILN_FAKE_HIP);
  {
    const Variable device("KILN_DEVICE", "hip:1");
    CHECK(open({}).default_device()->info().id == "hip:1");
    OpenOptions options;
    options.default_device = "cuda:1";
    CHECK(open(options).default_device()->info().id == "cuda:1");
  }
  {
    const Variable pool("KILN_MEMORY_POOL", "0");
    const auto runtime = Runtime::open(fake_cuda_options());
    REQUIRE_FALSE(runtime);
    CHECK(runtime.error().message == "KILN_MEMORY_POOL is '0', not 'off' or 'on'");
  }
  {
    const Variable device("KILN_DEVICE", "gpu");
    const Result<Runtime> runtime = Runtime::open();
    REQUIRE_FALSE(runtime);
    CHECK(runtime.error().message == "'gpu' names no device (KILN_DEVICE)");
  }
  {
    const Variable device("KILN_DEVICE", "hots");
    const Variable emulator("KILN_EMULATOR_LIBRARY", "/nowhere");
    CHECK(render(Runtime::open().error()) ==
          "kiln: error: 'hots' names no device (KILN_DEVICE)\n"
          "hint: did you mean 'host'?\n"
          "hint: a device is named by its backend, and a number where there are several: "
          "'cuda', 'cuda:1', 'hip:0', 'host', 'host:wave64'\n");
  }
  CHECK(open({}).default_device()->info().id == "cuda:0");
}

TEST_CASE("Runtime opens a backend that is not listed when the default device is one of it") {
  OpenOptions options = both_fakes();
  options.backends = {Backend::kCuda};
  options.default_device = "hip";
  const Runtime runtime = open(options);
  CHECK(runtime.default_device()->info().id == "hip:0");
  CHECK(ids(runtime).size() == 4);
}

TEST_CASE("Runtime refuses a library that is no driver of kiln's") {
  OpenOptions options;
  options.backends = {Backend::kHost};
  options.host_library = KILN_FAKE_CUDA;
  const Runtime runtime = open(options);
  CHECK(runtime.backends()[0].reasons ==
        std::vector<std::string>{std::string(KILN_FAKE_CUDA) +
                                 " is no library of kiln's devices: it has no 'kiln_open_driver'"});
}

TEST_CASE("Runtime traces what it opens") {
  std::vector<std::string> lines;
  OpenOptions options = fake_cuda_options();
  options.trace = [&](std::string_view line) { lines.emplace_back(line); };
  CHECK(open(options).devices().size() == 2);
  CHECK(lines == std::vector<std::string>{std::string("cuda: opened ") + KILN_FAKE_CUDA +
                                          ", CUDA 12.8, devices: 2"});
}

TEST_CASE("An error mentions the choice of the host only until the program names it") {
  constexpr ModuleEntry kEmpty{"empty", 0, 1, {kArithmeticKernels}, {}};
  OpenOptions options;
  options.backends = {Backend::kHost};
  const Runtime runtime = open(options);
  if (runtime.devices().empty()) SKIP("no host device");
  const auto mentions_choice = [&](const Result<Device>& device) {
    const std::string text = render(device.value().get_or_load_func("nothing", kEmpty).error());
    return text.find("KILN_DEVICE names no device") != std::string::npos;
  };
  CHECK(mentions_choice(runtime.default_device()));
  CHECK_FALSE(mentions_choice(runtime.device("host")));
}
