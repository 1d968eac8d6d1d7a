// A shared library of a user that contains the runtime.
#include "kiln/runtime.hpp"

extern "C" __attribute__((visibility("default"))) int user_counts_devices() {
  const kiln::Result<kiln::Runtime> runtime = kiln::Runtime::open();
  return runtime ? static_cast<int>(runtime->devices().size()) : -1;
}
