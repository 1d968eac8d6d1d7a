// The compiler options for host images. `kiln build` and the runtime use the same ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kiln {

// Options for this machine's kind of processor. x86-64-v3 has the fused multiply-add and the half
// conversions that kernels need. A later option may choose another level.
inline std::vector<std::string> host_processor_flags() {
#if defined(__x86_64__)
  return {"-march=x86-64-v3"};
#else
  return {};
#endif
}

// Options before the sources. g++ unrolls the loops over an item's lanes only with -O3, which makes
// affine_f32 twice as fast. Waves of 64 are for tests, which spend more time in the compiler than
// in kernels, and -O1 halves that time.
inline std::vector<std::string> host_compile_flags(bool wave64) {
  std::vector<std::string> flags = {"-x", "c++", wave64 ? "-O1" : "-O3", "-std=c++17"};
  for (std::string& flag : host_processor_flags()) flags.push_back(std::move(flag));
  for (const char* flag :
       {wave64 ? "-DKILN_HOST_WAVE=64" : "-DKILN_HOST_WAVE=32", "-fPIC", "-fvisibility=hidden",
        "-fno-exceptions", "-fno-rtti", "-ffp-contract=off", "-fno-math-errno",
        // Makes a frame that is larger than the guard page below a stack touch that page.
        "-fstack-clash-protection"}) {
    flags.push_back(flag);
  }
  return flags;
}

// Options after the sources: a shared object that needs only libc, libm and libgcc_s.
inline std::vector<std::string> host_link_flags() {
  // With -Bsymbolic, a kernel uses its own variables even if the program or its libraries use the
  // same names.
  return {"-shared", "-nodefaultlibs", "-lm", "-lc", "-lgcc", "-lgcc_s",
          "-Wl,--build-id=none", "-Wl,-Bsymbolic"};
}

}  // namespace kiln
