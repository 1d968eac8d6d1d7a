// How sources become a host image: the options that `kiln build` and the runtime give the compiler
// alike.
#pragma once

#include <string>
#include <vector>

namespace kiln {

// Before the sources. -O3, as only there g++ unrolls the loops over an item's lanes, which makes
// affine_f32 twice as fast. x86-64-v3 has the fused multiply-add and the half conversions that
// kernels are made of; a later option may name another level.
inline std::vector<std::string> host_compile_flags(bool wave64) {
  std::vector<std::string> flags = {"-x", "c++", "-O3", "-std=c++17"};
#if defined(__x86_64__)
  flags.push_back("-march=x86-64-v3");
#endif
  for (const char* flag :
       {wave64 ? "-DKILN_HOST_WAVE=64" : "-DKILN_HOST_WAVE=32", "-fPIC", "-fvisibility=hidden",
        "-fno-exceptions", "-fno-rtti", "-ffp-contract=off", "-fno-math-errno"}) {
    flags.push_back(flag);
  }
  return flags;
}

// After the sources: a shared object that needs libc, libm and libgcc_s alone.
inline std::vector<std::string> host_link_flags() {
  return {"-shared", "-nodefaultlibs", "-lm", "-lc", "-lgcc", "-lgcc_s", "-Wl,--build-id=none"};
}

}  // namespace kiln
