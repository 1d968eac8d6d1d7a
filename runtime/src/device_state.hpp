// One open device, shared by everything that the runtime gave out for it.
//
// Owns the device's modules. Lives until the last Device, Function, Buffer, Stream, Event and Runtime of it
// is gone; then its modules are unloaded, and its driver closed with its last device.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/device.hpp"
#include "runtime/src/catalog_file_state.hpp"
#include "runtime/src/device_memory.hpp"
#include "runtime/src/driver.hpp"
#include "runtime/src/module_cache.hpp"
#include "runtime/src/source_compiler.hpp"

namespace kiln::runtime {

using Trace = std::function<void(std::string_view line)>;  // empty: no tracing

// What the program and the environment ask of every device.
struct LoadOptions {
  Trace trace;
  std::vector<std::string> image_folders;  // of KILN_IMAGE_PATH
  std::shared_ptr<SourceCompiler> compiler;
  std::string emulator_library;  // for the messages that name its devices
  bool uses_pools = true;  // of drivers, for memory
};

class DeviceState {
 public:
  DeviceState(std::shared_ptr<Driver> driver, Backend backend, int ordinal, DeviceTraits traits,
              LoadOptions options);
  // The same device through another driver, with modules of its own.
  DeviceState(const DeviceState& device, std::shared_ptr<Driver> driver);

  Driver& driver() const { return *driver_; }
  int ordinal() const { return info_.ordinal; }
  const DeviceInfo& info() const { return info_; }
  const TargetId& target() const { return target_; }
  const LoadOptions& options() const { return options_; }
  ModuleCache& modules() { return modules_; }
  DeviceMemory& memory() { return memory_; }
  // Whether both are the same device, perhaps through drivers of their own.
  bool is(const DeviceState& other) const { return this == &other || info_.id == other.info_.id; }

  // For whoever puts work on it. Errors: kInvalidInput, for a Stream of another device.
  Result<NativeStream> take(StreamRef stream);

  // Keeps a catalog file open as long as the device, and holds its images to their digests.
  void keep(const std::shared_ptr<const CatalogFileState>& file);
  // Errors: kInvalidInput, for an image of such a file.
  Result<void> check_kept(const ImageEntry& image) const;

  // That it was chosen because nothing named a device and there is no GPU, for messages to say.
  void stands_in_for_gpu() { stands_in_for_gpu_ = true; }
  bool is_stand_in() const { return stands_in_for_gpu_; }

  // How messages show the device: "cuda:0 (NVIDIA H200, sm_90)".
  std::string identity() const;
  // "failed <doing> on <identity>: <the driver's message>", notes and code kept.
  Error failed(std::string_view doing, Error cause) const;
  // One line for a person who asked why; `make_line` runs only when someone did.
  template <typename MakeLine>
  void trace(MakeLine make_line) const {
    if (options_.trace) options_.trace(info_.id + ": " + make_line());
  }

 private:
  std::shared_ptr<Driver> driver_;
  DeviceInfo info_;
  TargetId target_;
  LoadOptions options_;
  bool has_pool_;
  std::atomic<bool> stands_in_for_gpu_ = false;
  mutable std::mutex kept_mutex_;
  std::vector<std::shared_ptr<const CatalogFileState>> kept_;  // guarded by kept_mutex_
  DeviceMemory memory_;
  ModuleCache modules_{*this};  // last: its modules are unloaded while the driver is there
};

}  // namespace kiln::runtime
