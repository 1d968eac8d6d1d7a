// Owned by a Stream and by the buffers that were allocated on it.
#pragma once

#include <memory>
#include <utility>

#include "runtime/src/device_state.hpp"
#include "runtime/src/release_quietly.hpp"

namespace kiln::runtime {

struct StreamState {
  std::shared_ptr<DeviceState> device;
  NativeStream native = nullptr;

  explicit StreamState(std::shared_ptr<DeviceState> owner) : device(std::move(owner)) {}
  // Takes over a stream that the driver made.
  void own(NativeStream stream) {
    native = stream;  // first, so that it is destroyed if there is no memory to note it
    device->memory().kiln_streams().add(native);
  }
  ~StreamState() {
    if (native == nullptr) return;
    release_quietly([&] {
      device->memory().kiln_streams().remove(native);
      return device->driver().destroy_stream(device->ordinal(), native);
    });
  }
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;
};

// The error of every use of an empty Stream.
Error empty_stream();

}  // namespace kiln::runtime
