// Opens the driver of a backend: says which libraries are tried, and why each failed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/runtime.hpp"
#include "runtime/src/driver.hpp"

namespace kiln::runtime {

struct OpenedBackend {
  BackendStatus status;            // `available` says whether `driver` is set
  std::shared_ptr<Driver> driver;  // null if it could not be opened
};

// Opens a backend's library and its driver. If `library` is not empty, only that path is tried.
OpenedBackend open_backend(Backend backend, const std::string& library);

struct EmulatedDevice {
  std::string id;
  TargetId target;
};
// Returns the emulator's devices, for messages; empty if its library is missing.
std::vector<EmulatedDevice> emulated_devices(const std::string& library);

// Returns the backend in a device's name: "cuda:0", "hip", "host:wave64"; empty if there is none.
std::optional<Backend> backend_of(std::string_view device_id);

}  // namespace kiln::runtime
