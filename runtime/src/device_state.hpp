// One open device, shared by all objects that the runtime handed out for it.
//
// Owns the device's modules. Lives until the last Device, Function, Buffer, Stream, Event and
// Runtime that refers to it is gone. Then its modules are unloaded. The driver is closed with its
// last device.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/device.hpp"
#include "runtime/src/device_memory.hpp"
#include "runtime/src/driver.hpp"
#include "runtime/src/kept_files.hpp"
#include "runtime/src/module_cache.hpp"
#include "runtime/src/source_compiler.hpp"

namespace kiln::runtime {

using Trace = std::function<void(std::string_view line)>;  // empty: no tracing

// Options of the program and the environment that apply to every device.
struct LoadOptions {
  Trace trace;
  std::vector<std::string> image_folders;  // the folders of KILN_IMAGE_PATH
  std::shared_ptr<SourceCompiler> compiler;
  std::string emulator_library;  // for messages that list the emulated devices
  bool uses_pools = true;  // whether memory may come from drivers' pools
};

class DeviceState {
 public:
  DeviceState(std::shared_ptr<Driver> driver, Backend backend, int ordinal, DeviceTraits traits,
              LoadOptions options);
  // The same device with another driver and its own modules.
  DeviceState(const DeviceState& device, std::shared_ptr<Driver> driver);

  Driver& driver() const { return *driver_; }
  int ordinal() const { return info_.ordinal; }
  const DeviceInfo& info() const { return info_; }
  const TargetId& target() const { return target_; }
  const LoadOptions& options() const { return options_; }
  ModuleCache& modules() { return modules_; }
  DeviceMemory& memory() { return memory_; }
  // True if both are the same device, possibly with different drivers.
  bool is(const DeviceState& other) const { return this == &other || info_.id == other.info_.id; }

  // Called before work is put on a stream. Errors: kInvalidInput for a Stream that is empty, or of
  // another device.
  Result<NativeStream> native_stream(StreamRef stream);

  // The catalog files that stay open as long as the device.
  KeptFiles& files() { return files_; }

  // Note how the device was chosen. Messages mention it if it was chosen only because nothing named
  // a device and there is no GPU.
  void mark_as_fallback() { is_fallback_ = true; }
  void mark_as_named() { is_named_ = true; }
  bool is_fallback() const { return is_fallback_ && !is_named_; }

  // Returns the device's name for messages: "cuda:0 (NVIDIA H200, sm_90)".
  std::string identity() const;
  // Returns the error "failed <doing> on <identity>: <the driver's message>" with the notes and
  // code of `cause`.
  Error failed(std::string_view doing, Error cause) const;
  // Writes a line to the trace. `make_line` is called only if tracing is on.
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
  std::atomic<bool> is_fallback_ = false, is_named_ = false;
  KeptFiles files_;
  DeviceMemory memory_;
  ModuleCache modules_{*this};  // last, so that modules are unloaded before the driver is released
};

}  // namespace kiln::runtime
