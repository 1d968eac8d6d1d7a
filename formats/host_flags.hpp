// How sources become a host image: the options that `kiln build` and the runtime give the compiler
// alike.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kiln {

// What this machine's kind of processor wants. x86-64-v3 has the fused multiply-add and the half
// conversions that kernels are made of; a later option may name another level.
inline std::vector<std::string> host_processor_flags() {
#if defined(__x86_64__)
  return {"-march=x86-64-v3"};
#else
  return {};
#endif
}

// Before the sources. -O3, as only there g++ unrolls the loops over an item's lanes, which makes
// affine_f32 twice as fast. Waves of 64 are for tests, which wait for the compiler longer than for
// the kernels: -O1 takes half the time.
inline std::vector<std::string> host_compile_flags(bool wave64) {
  std::vector<std::string> flags = {"-x", "c++", wave64 ? "-O1" : "-O3", "-std=c++17"};
  for (std::string& flag : host_processor_flags()) flags.push_back(std::move(flag));
  for (const char* flag :
       {wave64 ? "-DKILN_HOST_WAVE=64" : "-DKILN_HOST_WAVE=32", "-fPIC", "-fvisibility=hidden",
        "-fno-exceptions", "-fno-rtti", "-ffp-contract=off", "-fno-math-errno",
        // A frame larger than the page below a stack touches it all the same.
        "-fstack-clash-protection"}) {
    flags.push_back(flag);
  }
  return flags;
}

// After the sources: a shared object that needs libc, libm and libgcc_s alone.
inline std::vector<std::string> host_link_flags() {
  // Symbolic: a kernel's variable is its own, whatever the program and its libraries call theirs.
  return {"-shared", "-nodefaultlibs", "-lm", "-lc", "-lgcc", "-lgcc_s",
          "-Wl,--build-id=none", "-Wl,-Bsymbolic"};
}

}  // namespace kiln
