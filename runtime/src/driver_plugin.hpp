// The interface of drivers in separate libraries: libkiln_host, libkiln_emulator.
//
// The runtime opens such a library when one of its devices is asked for and calls its one C entry
// point. It owns the returned Driver until it calls `close`. The library stays open for the life of
// the process, so that the driver's code outlives every handle.
//
// Both sides must come from one release and one compiler. The version number below guards against
// mixing.
#pragma once

#include <cstdint>

#include "runtime/src/driver.hpp"

namespace kiln::runtime {

// Incremented with every change of driver.hpp or of the headers that it includes.
inline constexpr std::uint32_t kDriverPluginVersion = 8;

// Filled in by the entry point. On failure, `driver` stays null and `error` has the reason.
struct DriverPlugin {
  std::uint32_t version = kDriverPluginVersion;  // on entry, the runtime's version
  Driver* driver = nullptr;
  void (*close)(Driver*) = nullptr;
  char error[256] = {};  // NUL-terminated
};

// extern "C" KILN_PLUGIN_EXPORT void kiln_open_driver(kiln::runtime::DriverPlugin* plugin);
// A library first compares `plugin->version` with its own. If they differ, it returns without
// touching anything else, and the runtime reports the mismatch.
using OpenDriverEntry = void (*)(DriverPlugin*);
inline constexpr char kOpenDriverEntry[] = "kiln_open_driver";

}  // namespace kiln::runtime

#ifdef KILN_AMALGAMATED  // the host device is a part of the program, which calls its own
#define KILN_PLUGIN_EXPORT __attribute__((visibility("hidden")))
#else
#define KILN_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif
