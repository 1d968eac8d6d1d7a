// kiln.h when memory runs out: for every N, the Nth allocation and all later ones fail, and each
// call returns an error and never ends the program. Exits with 0 if that is so, and with 77 if the
// library has an operator new of its own.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>

#include "kiln/kiln.h"
#include "tests/fake_drivers/fake_machine.hpp"
#include "tests/support/ending_memory.hpp"

namespace {

// No driver takes part in these, because a driver in this process would also run out of memory.
kiln_error* open_runtime(kiln_runtime** runtime) { return kiln_runtime_open("cuda:0", runtime); }
kiln_error* name_no_device(kiln_runtime** runtime) { return kiln_runtime_open("a name that no device has", runtime); }
kiln_error* open_no_catalog(kiln_runtime**) {
  kiln_catalog* catalog = nullptr;
  return kiln_catalog_open("a file that is not there.kiln", &catalog);
}
kiln_error* give_nothing(kiln_runtime**) { return kiln_runtime_open(nullptr, nullptr); }

// True if every call except the last, which has enough memory, returns that error.
bool tells(kiln_error* (*call)(kiln_runtime**), const char* name) {
  for (long allowed = 0; allowed < 1000; ++allowed) {
    kiln_runtime* runtime = nullptr;
    kiln::testing::end_memory_after(allowed);
    kiln_error* const error = call(&runtime);
    kiln::testing::end_memory_never();
    const bool is_told = kiln_error_get_code(error) == KILN_ENVIRONMENT &&
                         std::strcmp(kiln_error_get_text(error), "out of memory") == 0;
    kiln_error_free(error);
    kiln_runtime_free(runtime);
    if (!kiln::testing::has_memory_ended()) return allowed > 0;
    if (!is_told) return std::printf("failed: %s with %ld allocations\n", name, allowed), false;
  }
  return false;
}

// What a program makes, and frees in the end.
struct Everything {
  kiln_runtime* runtime = nullptr;
  kiln_device* device = nullptr;
  kiln_stream* stream = nullptr;
  kiln_buffer *buffer = nullptr, *ordered = nullptr;
  kiln_pinned* pinned = nullptr;
  kiln_function* function = nullptr;

  bool make() {
    constexpr char kImage[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing()\n{ ret; }\n";
    kiln_error* const error = first_error({
        [&] { return kiln_runtime_open("cuda:0", &runtime); },
        [&] { return kiln_device_open(runtime, nullptr, &device); },
        [&] { return kiln_stream_create(device, &stream); },
        [&] { return kiln_buffer_allocate(device, 64, &buffer); },
        [&] { return kiln_buffer_allocate_on(device, 64, stream, &ordered); },
        [&] { return kiln_pinned_allocate(device, 64, &pinned); },
        [&] { return kiln_function_load(device, "nothing", kImage, sizeof kImage, &function); },
    });
    if (error != nullptr) std::printf("failed: %s\n", kiln_error_get_text(error));
    return error == nullptr;
  }
  void free() {
    kiln_function_free(function);
    kiln_pinned_free(pinned);
    kiln_buffer_free(ordered);
    kiln_buffer_free(buffer);
    kiln_stream_free(stream);
    kiln_device_free(device);
    kiln_runtime_free(runtime);
  }

 private:
  static kiln_error* first_error(std::initializer_list<std::function<kiln_error*()>> calls) {
    for (const auto& call : calls) {
      if (kiln_error* const error = call()) return error;
    }
    return nullptr;
  }
};

kiln::fake::Machine& machine() {
  void* const handle = dlopen(std::getenv("KILN_CUDA_LIBRARY"), RTLD_NOW);
  return *reinterpret_cast<kiln::fake::Machine* (*)()>(dlsym(handle, "kiln_fake_machine"))();
}

// Frees with no memory for what the runtime says of it: the trace's lines and, if the driver fails,
// the errors. Ends the program if an exception leaves a destructor.
bool frees(bool driver_fails) {
  for (long allowed = 0; allowed < 1000; ++allowed) {
    // The fake driver counts its calls. The first call of each kind takes memory.
    Everything first;
    if (!first.make()) return false;
    first.free();
    Everything everything;
    if (!everything.make()) return false;
    if (driver_fails) machine().fail_from(1, kiln::fake::kInvalidValue);
    kiln::testing::end_memory_after(allowed);
    everything.free();
    kiln::testing::end_memory_never();
    machine().reset(kiln::fake::Script(machine().script()));
    if (!kiln::testing::has_memory_ended()) return allowed > 0;
  }
  return false;
}

// Some compilers link the C++ library into each shared library. The memory of such a library does not
// end with this program's.
bool library_takes_our_memory() {
  kiln::testing::end_memory_after(0);
  kiln_runtime* runtime = nullptr;
  kiln_error* const error = open_runtime(&runtime);
  kiln::testing::end_memory_never();
  kiln_error_free(error);
  kiln_runtime_free(runtime);
  return kiln::testing::has_memory_ended();
}

}  // namespace

int main() {
  if (!library_takes_our_memory()) {
    std::puts("skipped: libkiln_runtime.so has an operator new of its own");
    return 77;
  }
  const bool all = tells(open_runtime, "open_runtime") && tells(name_no_device, "name_no_device") &&
                   tells(open_no_catalog, "open_no_catalog") &&
                   tells(give_nothing, "give_nothing") && frees(false) && frees(true);
  return all ? 0 : 1;
}
