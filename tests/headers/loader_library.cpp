// A shared library with a loader. It defines KILN_IMPLEMENTATION after another header has included
// the amalgamated one. With USES_ALONE, it does not define it.
#include "loader_user.hpp"

#ifndef USES_ALONE
#define KILN_IMPLEMENTATION
#endif
#include <kernels_amalgamated.hpp>

extern "C" int ENTRY();

// Returns 0 if the loader works.
extern "C" int ENTRY() {
  kiln::OpenOptions options;
  options.default_device = "host";
  const kiln::Result<kiln::Runtime> runtime = kiln::Runtime::open(options);
  if (!runtime) return 1;
  const kiln::Result<kiln::Device> device = runtime->default_device();
  return device && User{&*device}.device->info().id == "host" ? 0 : 1;
}
