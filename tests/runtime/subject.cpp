#include "subject.hpp"

#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>

namespace kiln::testing {

fake::Machine& machine_of(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* entry = handle != nullptr ? dlsym(handle, "kiln_fake_machine") : nullptr;
  if (entry == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  return *reinterpret_cast<fake::Machine* (*)()>(entry)();
}

fake::Script cuda_script() {
  fake::Script script;
  script.devices = {{.name = "Fake H200", .arch = "90"}, {.name = "Fake A100", .arch = "80"}};
  script.version = 12080;
  return script;
}
fake::Script hip_script() {
  fake::Script script;
  script.devices = {{.name = "Fake MI210", .arch = "gfx90a:sramecc+:xnack-", .wave_width = 64},
                    {.name = "Fake RX 7900", .arch = "gfx1100"}};
  script.version = 60443483;
  script.uses_image_in_place = true;
  return script;
}

fake::Machine& fake_cuda() { return machine_of(KILN_FAKE_CUDA); }
fake::Machine& fake_hip() { return machine_of(KILN_FAKE_HIP); }

OpenOptions fake_cuda_options(fake::Script script) {
  fake_cuda().reset(std::move(script));
  OpenOptions options;
  options.backends = {Backend::kCuda};
  options.cuda_library = KILN_FAKE_CUDA;
  return options;
}
OpenOptions fake_hip_options(fake::Script script) {
  fake_hip().reset(std::move(script));
  OpenOptions options;
  options.backends = {Backend::kHip};
  options.hip_library = KILN_FAKE_HIP;
  return options;
}

const Subject& subject() {
  static const Subject chosen = [] {
    const char* name = std::getenv("KILN_TEST_DRIVER");
    Subject result;
    result.name = name != nullptr ? name : "fake_cuda";
    if (result.name == "fake_cuda") result.machine = &fake_cuda();
    if (result.name == "fake_hip") result.machine = &fake_hip();
    result.symbol_prefix = result.name == "fake_hip" || result.name == "hip" ? "hip" : "cu";
    return result;
  }();
  return chosen;
}

Runtime open_subject() {
  OpenOptions options;
  if (subject().name == "fake_cuda") {
    options = fake_cuda_options();
  } else if (subject().name == "fake_hip") {
    options = fake_hip_options();
  } else if (subject().name == "cuda") {
    options.backends = {Backend::kCuda};
  } else if (subject().name == "hip") {
    options.backends = {Backend::kHip};
  } else if (subject().name == "host") {
    options.backends = {Backend::kHost};
  } else {
    FAIL("KILN_TEST_DRIVER names no driver: " << subject().name);
  }
  Result<Runtime> runtime = Runtime::open(options);
  REQUIRE(runtime);
  if (runtime->devices().empty()) {
    std::string why = "no " + subject().name + " device";
    for (const std::string& reason : runtime->backends().front().reasons) why += "; " + reason;
    SKIP(why);
  }
  return std::move(*runtime);
}

}  // namespace kiln::testing
