// Owned by a Stream and by the buffers that were allocated on it.
#pragma once

#include <memory>

#include "runtime/src/device_state.hpp"
#include "runtime/src/release_quietly.hpp"

namespace kiln::runtime {

struct StreamState {
  std::shared_ptr<DeviceState> device;
  NativeStream native = nullptr;

  StreamState(std::shared_ptr<DeviceState> owner, NativeStream stream)
      : device(std::move(owner)), native(stream) {}
  ~StreamState() {
    release_quietly([&] { return device->driver().destroy_stream(device->ordinal(), native); });
  }
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;
};

// The error of every use of an empty Stream.
Error empty_stream();

}  // namespace kiln::runtime
