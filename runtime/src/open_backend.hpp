// From a backend's name to its driver: which libraries are tried, and why each did not do.
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
  BackendStatus status;            // `available` says whether `driver` is there
  std::shared_ptr<Driver> driver;  // null when it could not be opened
};

// Opens a backend's library and its driver. With a `library` path only that one is tried.
OpenedBackend open_backend(Backend backend, const std::string& library);

struct EmulatedDevice {
  std::string id;
  TargetId target;
};
// What the emulator offers; empty where its library is not there. For messages.
std::vector<EmulatedDevice> emulated_devices(const std::string& library);

// The backend of a device's name: "cuda:0", "hip", "host:wave64"; empty when there is none such.
std::optional<Backend> backend_of(std::string_view device_id);

}  // namespace kiln::runtime
