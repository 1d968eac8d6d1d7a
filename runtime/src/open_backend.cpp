#include "runtime/src/open_backend.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "runtime/src/cuda_driver.hpp"
#include "runtime/src/driver_plugin.hpp"
#include "runtime/src/hip_driver.hpp"
#include "runtime/src/library.hpp"

#ifdef KILN_AMALGAMATED
// The host device is part of the program (generator/amalgamation.hpp).
extern "C" KILN_PLUGIN_EXPORT void kiln_open_driver(kiln::runtime::DriverPlugin* plugin);
#endif

namespace kiln::runtime {
namespace {

// Returns the paths at which a backend's library is searched, in order. Versioned names come first:
// the plain name exists only with development packages and may be a stub.
std::vector<std::string> candidates(Backend backend) {
  // A library that comes with kiln lies beside the program or the library that contains the
  // runtime.
  const auto ours = [](const std::string& name) {
    std::vector<std::string> paths;
    if (const std::string folder = own_folder(); !folder.empty()) {
      paths = {folder + "/" + name, folder + "/../lib/" + name};
    }
    paths.push_back(name);
    return paths;
  };
  switch (backend) {
    case Backend::kCuda: return {"libcuda.so.1", "libcuda.so"};
    case Backend::kHip:
      return {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so",
              "/opt/rocm/lib/libamdhip64.so"};
    case Backend::kHost: return ours("libkiln_host.so");
    case Backend::kEmulator: return ours("libkiln_emulator.so");
  }
  return {};
}

Result<std::shared_ptr<Driver>> open_plugin_driver(OpenDriverEntry entry, const std::string& path) {
  if (entry == nullptr) {
    return Error{ErrorCode::kUnavailable,
                 path + " is no library of kiln's devices: it has no '" + kOpenDriverEntry + "'",
                 {},
                 {}};
  }
  DriverPlugin plugin;
  entry(&plugin);
  if (plugin.driver == nullptr) {
    plugin.error[sizeof plugin.error - 1] = '\0';
    return Error{ErrorCode::kUnavailable,
                 plugin.error[0] != '\0'
                     ? std::string(plugin.error)
                     : path +
                           " is of another kiln than this runtime, which has driver "
                           "interface " +
                           std::to_string(kDriverPluginVersion),
                 {},
                 {}};
  }
  return std::shared_ptr<Driver>(plugin.driver, plugin.close);
}

Result<std::shared_ptr<Driver>> open_driver(Backend backend, const Library& library) {
  switch (backend) {
    case Backend::kCuda: {
      KILN_TRY_ASSIGN(std::unique_ptr<Driver> driver, open_cuda_driver(library));
      return std::shared_ptr<Driver>(std::move(driver));
    }
    case Backend::kHip: {
      KILN_TRY_ASSIGN(std::unique_ptr<Driver> driver, open_hip_driver(library));
      return std::shared_ptr<Driver>(std::move(driver));
    }
    case Backend::kHost:
    case Backend::kEmulator: break;
  }
  return open_plugin_driver(
      reinterpret_cast<OpenDriverEntry>(library.symbol(kOpenDriverEntry)), library.path());
}

// True if the backend needs no library.
bool is_part_of_program([[maybe_unused]] Backend backend, [[maybe_unused]] const std::string& path) {
#ifdef KILN_AMALGAMATED
  return backend == Backend::kHost && path.empty();
#else
  return false;
#endif
}

Result<std::shared_ptr<Driver>> open_part_of_program() {
#ifdef KILN_AMALGAMATED
  return open_plugin_driver(&kiln_open_driver, "this program");
#else
  return Error{ErrorCode::kInternal, "no driver is part of this program", {}, {}};
#endif
}

}  // namespace

OpenedBackend open_backend(Backend backend, const std::string& path) {
  OpenedBackend opened;
  opened.status.backend = backend;
  std::vector<std::string>& reasons = opened.status.reasons;
  const bool is_part = is_part_of_program(backend, path);
  Library library;
  if (!is_part) {
    library = Library::open(path.empty() ? candidates(backend) : std::vector{path}, reasons);
    if (!library) return opened;
  }
  reasons.clear();  // drops the reasons of paths that failed before
  opened.status.library = is_part ? "this program" : library.path();
  Result<std::shared_ptr<Driver>> driver =
      is_part ? open_part_of_program() : open_driver(backend, library);
  if (!driver) {
    reasons.push_back(std::move(driver).error().message);
    return opened;
  }
  opened.driver = *driver;
  opened.status.available = true;
  opened.status.version = opened.driver->version();
  return opened;
}

std::vector<EmulatedDevice> emulated_devices(const std::string& library) {
  std::vector<EmulatedDevice> found;
  const OpenedBackend opened = open_backend(Backend::kEmulator, library);
  if (opened.driver == nullptr) return found;
  const int count = opened.driver->count_devices().value_or(0);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Result<DeviceTraits> traits = opened.driver->identify(ordinal);
    if (traits) found.push_back({std::move(traits->id), std::move(traits->target)});
  }
  return found;
}

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<Backend> backend_of(std::string_view device_id) {
  const std::size_t colon = std::min(device_id.find(':'), device_id.size());
  for (const Backend backend :
       {Backend::kCuda, Backend::kHip, Backend::kHost, Backend::kEmulator}) {
    if (device_id.substr(0, colon) != to_string(backend)) continue;
    // The devices of the vendors' drivers have numbers.
    const bool has_numbers = backend == Backend::kCuda || backend == Backend::kHip;
    if (!has_numbers || colon == device_id.size() || is_number(device_id.substr(colon + 1)))
      return backend;
  }
  return std::nullopt;
}

}  // namespace kiln::runtime
