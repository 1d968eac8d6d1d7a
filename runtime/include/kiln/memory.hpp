// Device memory that frees itself.
//
// Ownership: a Buffer owns its bytes and keeps their device open, so buffers, devices and the runtime
// may be destroyed in any order. Freeing waits for the work that the device has in hand.
// Thread-safety: as a plain pointer: reading members is safe, moving or destroying needs care.
#pragma once

#include <cstddef>
#include <memory>

#include "result.hpp"

namespace kiln {

namespace runtime {
class DeviceState;
}

// Made by Device::allocate(). Aligned to 256 bytes at least. Empty when default-made or moved from.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  // The address on the device: pass it to kernels, do not read it on the host.
  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t size() const { return size_; }  // bytes
  bool empty() const { return size_ == 0; }

 private:
  friend class Device;
  Buffer(std::shared_ptr<runtime::DeviceState> device, void* data, std::size_t size);
  std::shared_ptr<runtime::DeviceState> device_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kiln
