#include "subject.hpp"

#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>

#include "test_modules.hpp"
#ifdef KILN_RUNTIME_TEST_KERNELS
#include <runtime_test_kernels.hpp>
#endif

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

Subject subject_named(const std::string& name) {
  if (name == "cuda") return {name, Backend::kCuda, {}, nullptr};
  if (name == "hip") return {name, Backend::kHip, {}, nullptr};
  if (name == "host") return {name, Backend::kHost, {}, nullptr};
  if (name == "emulator") return {name, Backend::kEmulator, {}, nullptr};
  Subject fake{name, Backend::kCuda, {}, nullptr};
  if (name == "fake_cuda") fake.library = KILN_FAKE_CUDA;
  if (name == "fake_cuda_11") fake.library = KILN_FAKE_CUDA_11;
  if (name == "fake_hip") fake.library = KILN_FAKE_HIP;
  if (name == "fake_hip_5") fake.library = KILN_FAKE_HIP_5;
  if (fake.library.empty()) {
    std::fprintf(stderr, "no driver is called '%s'\n", name.c_str());
    std::abort();
  }
  if (name.starts_with("fake_hip")) fake.backend = Backend::kHip;
  fake.machine = &machine_of(fake.library);
  return fake;
}

const Subject& subject() {
  static const Subject chosen = [] {
    const char* name = std::getenv("KILN_TEST_DRIVER");
    return subject_named(name != nullptr ? name : "fake_cuda");
  }();
  return chosen;
}

OpenOptions options_for(const Subject& subject) {
  OpenOptions options;
  options.backends = {subject.backend};
  const bool is_hip = subject.backend == Backend::kHip;
  if (subject.machine != nullptr) {
    subject.machine->reset(is_hip ? hip_script() : cuda_script());
    (is_hip ? options.hip_library : options.cuda_library) = subject.library;
  }
  return options;
}

Runtime open_subject() {
  Result<Runtime> runtime = Runtime::open(options_for(subject()));
  REQUIRE(runtime);
  if (runtime->devices().empty()) {
    std::string why = "no " + subject().name + " device";
    for (const std::string& reason : runtime->backends().front().reasons) why += "; " + reason;
    SKIP(why);
  }
  return std::move(*runtime);
}

const TestModules& modules() {
  static const TestModules written{kArithmetic, kPair,        kNothing,
                                   kScaleAdd,   kPairNothing, kPairScaleAdd};
#ifdef KILN_RUNTIME_TEST_KERNELS
  namespace k = runtime_test_kernels;
  constexpr auto untyped = [](const auto& kernel) { return ScaleAdd{kernel.module, kernel.index}; };
  static const TestModules built{k::modules::arithmetic, k::modules::pair, k::arithmetic::nothing,
                                 untyped(k::arithmetic::scale_add), k::pair::nothing, untyped(k::pair::scale_add)};
  if (subject().machine == nullptr && subject().backend != Backend::kCuda) return built;
#endif
  return written;
}

void* vendor_function(const Runtime& runtime, const char* name) {
  void* library = dlopen(runtime.backends().front().library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  void* function = dlsym(library, name);
  REQUIRE(function != nullptr);
  return function;
}

}  // namespace kiln::testing
