// Memory of a device, and page-locked memory of the program for asynchronous copies.
//
// Ownership: a Buffer and a PinnedBuffer own their bytes and keep their device open, so buffers,
// devices, streams and the runtime may be destroyed in any order.
// Order: a Buffer's memory is freed in the order of the stream that it was allocated on, or of the
// default stream: after all work that the stream was given before. The program does not wait for
// it. Work on another stream that uses the memory must be done, or waited for, before the buffer is
// destroyed. docs/RUNTIME.md, "Memory", has the details.
// Thread-safety: like a plain pointer. Several threads may read the members, but no thread may move
// or destroy the object while another uses it.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "parameter_types.hpp"
#include "result.hpp"

namespace kiln {

class Device;
class Buffer;
namespace detail {
template <>
struct Passed<Buffer>;
}
namespace runtime {
struct DeviceBlock;
struct PinnedBlock;
}  // namespace runtime

// Bytes on a device. Made by Device::allocate(), aligned to at least 256 bytes. Empty if
// default-constructed, moved from, or allocated with zero bytes: its address is then null, which is
// what a kernel receives, and copies of any bytes to or from it are errors.
class Buffer {
 public:
  Buffer() = default;  // empty
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  // The address on the device, or null. The host must not read it. A kernel takes this address or
  // the buffer.
  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t size() const { return size_; }  // bytes
  std::size_t size_bytes() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  friend class Device;
  friend class Function;
  friend struct detail::Passed<Buffer>;
  Buffer(std::shared_ptr<runtime::DeviceBlock> block, void* data, std::size_t size);
  std::shared_ptr<runtime::DeviceBlock> block_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// A Buffer that holds values of one type, made by Device::allocate<T>() and Device::upload(). Move
// it into a Buffer to drop the type.
template <typename T>
class TypedBuffer : public Buffer {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "device memory holds plain bytes");

 public:
  using value_type = T;

  TypedBuffer() = default;
  T* data() const { return this->template as<T>(); }
  std::size_t count() const { return size_bytes() / sizeof(T); }  // values
  std::size_t size() const = delete;  // ambiguous: use count() for values, size_bytes() for bytes

 private:
  friend class Device;
  explicit TypedBuffer(Buffer&& buffer) : Buffer(std::move(buffer)) {}
};

namespace detail {

// A kernel receives the address of a buffer.
template <>
struct Passed<Buffer> {
  using type = void*;
  static const void* address(const Buffer& buffer) { return &buffer.data_; }
  static const Buffer* buffer(const Buffer& buffer) { return &buffer; }
};
template <typename T>
struct Passed<TypedBuffer<T>> : Passed<Buffer> {
  using type = T*;
};

// Page-locked bytes.
class PinnedBytes {
 public:
  PinnedBytes() = default;
  PinnedBytes(PinnedBytes&& other) noexcept;
  PinnedBytes& operator=(PinnedBytes&& other) noexcept;
  ~PinnedBytes();

  void* data() const { return data_; }
  std::size_t size() const { return size_; }  // bytes

 private:
  friend class kiln::Device;
  PinnedBytes(std::shared_ptr<runtime::PinnedBlock> block, void* data, std::size_t size);
  std::shared_ptr<runtime::PinnedBlock> block_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace detail

// Page-locked memory of the program, made by Device::allocate_pinned(). An asynchronous copy from
// or to it runs while the program and kernels run; a copy of other memory may make the program
// wait. Use it like an array, but not while a copy from or to it is under way, and destroy it only
// after that copy. Page-locked memory is scarce, since the system cannot move it. Empty, without
// values, if default-constructed or moved from.
template <typename T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "device memory holds plain bytes");

 public:
  using value_type = T;

  PinnedBuffer() = default;
  T* data() const { return static_cast<T*>(bytes_.data()); }
  std::size_t size() const { return bytes_.size() / sizeof(T); }  // values, as for a container
  std::size_t size_bytes() const { return bytes_.size(); }
  bool empty() const { return size() == 0; }
  T* begin() const { return data(); }
  T* end() const { return data() + size(); }
  T& operator[](std::size_t i) const { return data()[i]; }  // not checked

 private:
  friend class Device;
  explicit PinnedBuffer(detail::PinnedBytes bytes) : bytes_(std::move(bytes)) {}
  detail::PinnedBytes bytes_;
};

}  // namespace kiln
