// The seam for drivers that live in libraries of their own: libkiln_host, libkiln_emulator.
//
// The runtime opens such a library when one of its devices is asked for, calls its one C entry
// point, and owns the Driver that it gets until it calls `close`. The library stays open for the
// life of the process, so that a driver's code outlives every handle.
//
// Both sides are built from one release with one compiler: the number below guards against mixing.
#pragma once

#include <cstdint>

#include "runtime/src/driver.hpp"

namespace kiln::runtime {

// Grows with every change of driver.hpp, and of the headers that it includes.
inline constexpr std::uint32_t kDriverPluginVersion = 8;

// What the entry point fills in. `driver` stays null on failure, with the reason in `error`.
struct DriverPlugin {
  std::uint32_t version = kDriverPluginVersion;  // of the runtime, on entry
  Driver* driver = nullptr;
  void (*close)(Driver*) = nullptr;
  char error[256] = {};  // NUL-terminated
};

// extern "C" KILN_PLUGIN_EXPORT void kiln_open_driver(kiln::runtime::DriverPlugin* plugin);
// A library checks `plugin->version` first and touches nothing else of it when it differs from its
// own: it returns, and the runtime reports the mismatch.
using OpenDriverEntry = void (*)(DriverPlugin*);
inline constexpr char kOpenDriverEntry[] = "kiln_open_driver";

}  // namespace kiln::runtime

#define KILN_PLUGIN_EXPORT __attribute__((visibility("default")))
