// The public handles of memory, and the memory functions of Device.
#include <cstdint>
#include <utility>

#include "base/diagnostic.hpp"
#include "kiln/device.hpp"
#include "runtime/src/device_state.hpp"
#include "runtime/src/module_slot.hpp"
#include "runtime/src/release_quietly.hpp"
#include "runtime/src/stream_state.hpp"

namespace kiln {

namespace runtime {

// Owned by a Buffer.
struct DeviceBlock {
  std::shared_ptr<DeviceState> device;
  std::shared_ptr<StreamState> stream;  // null: the default stream, or the caller's own
  DeviceMemory::Handle memory;

  ~DeviceBlock() {
    release_quietly([&] { device->memory().free(std::move(memory)); });
  }
};

// Owned by a PinnedBuffer.
struct PinnedBlock {
  std::shared_ptr<DeviceState> device;
  void* address = nullptr;

  ~PinnedBlock() {
    release_quietly([&] { return device->driver().free_pinned(device->ordinal(), address); });
  }
};

}  // namespace runtime

using runtime::CopyDirection;
using runtime::CopyRequest;
using runtime::DeviceBlock;
using runtime::DeviceMemory;
using runtime::DeviceState;
using runtime::PinnedBlock;
using runtime::StreamState;
using runtime::Wait;

namespace {

std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

Result<void> check_addressable(const DeviceState& device, std::size_t bytes) {
  if (bytes <= static_cast<std::size_t>(PTRDIFF_MAX)) return {};
  return device.failed("allocating memory",
                       Error{ErrorCode::kInvalidInput, "more bytes than an address can count", {}, {}});
}

Result<std::shared_ptr<DeviceBlock>> make_block(const std::shared_ptr<DeviceState>& device,
                                                std::size_t bytes, StreamRef stream,
                                                std::shared_ptr<StreamState> owner) {
  KILN_TRY(check_addressable(*device, bytes));
  KILN_TRY_ASSIGN(const runtime::NativeStream native, device->native_stream(stream));
  std::shared_ptr<DeviceBlock> block(new DeviceBlock{device, std::move(owner), {}});
  Result<DeviceMemory::Handle> memory = device->memory().allocate(bytes, native);
  if (!memory) return device->failed("allocating " + bytes_text(bytes), std::move(memory).error());
  block->memory = *std::move(memory);
  return block;
}

Result<void> copy(DeviceState& device, std::string_view where, CopyDirection direction,
                  void* target, const void* source, std::size_t bytes, const StreamRef* stream) {
  if (bytes == 0) return {};
  CopyRequest request{direction, target, source, bytes, nullptr, Wait::kYes};
  Result<void> copied;
  if (stream != nullptr) {
    KILN_TRY_ASSIGN(request.stream, device.native_stream(*stream));
    request.wait = Wait::kNo;
  } else {
    copied = device.memory().wait_for_non_blocking();
  }
  if (copied) copied = device.driver().copy(device.ordinal(), request);
  if (copied) return copied;
  return device.failed("copying " + bytes_text(bytes) + std::string(where),
                       std::move(copied).error());
}

constexpr std::string_view kToDevice = " to the device", kToHost = " to the host",
                           kOnDevice = " on the device", kCopies = "copy is", kFills = "fill is";

// The error "the buffer lies on cuda:1, ..." if the buffer is on another device.
Result<void> check_device(const DeviceState& device, const DeviceBlock* block, std::string_view work) {
  if (block == nullptr || device.is(*block->device)) return {};
  Error error{ErrorCode::kInvalidInput,
              "the buffer lies on " + block->device->info().id + ", the " + std::string(work) + " on " + device.info().id,
              {},
              {}};
  return error.hint("for memory that devices share, give its address, data()");
}

Result<void> check_room(const DeviceState& device, std::string_view where, std::size_t bytes,
                        const Buffer& buffer) {
  if (bytes <= buffer.size()) return {};
  return device
      .failed(
          "copying " + bytes_text(bytes) + std::string(where),
          Error{ErrorCode::kInvalidInput, "the buffer has " + bytes_text(buffer.size()), {}, {}})
      .hint("copy a part of the range, or allocate a larger buffer");
}

}  // namespace

// --- Buffer ------------------------------------------------------------------------------

Buffer::Buffer(std::shared_ptr<DeviceBlock> block, void* data, std::size_t size)
    : block_(std::move(block)), data_(data), size_(size) {}
Buffer::Buffer(Buffer&& other) noexcept
    : block_(std::move(other.block_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer moved(std::move(other));
  std::swap(block_, moved.block_);
  std::swap(data_, moved.data_);
  std::swap(size_, moved.size_);
  return *this;
}
Buffer::~Buffer() = default;

namespace detail {

PinnedBytes::PinnedBytes(std::shared_ptr<PinnedBlock> block, void* data, std::size_t size)
    : block_(std::move(block)), data_(data), size_(size) {}
PinnedBytes::PinnedBytes(PinnedBytes&& other) noexcept
    : block_(std::move(other.block_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}
PinnedBytes& PinnedBytes::operator=(PinnedBytes&& other) noexcept {
  PinnedBytes moved(std::move(other));
  std::swap(block_, moved.block_);
  std::swap(data_, moved.data_);
  std::swap(size_, moved.size_);
  return *this;
}
PinnedBytes::~PinnedBytes() = default;

}  // namespace detail

// --- Function ----------------------------------------------------------------------------

Result<void> Function::check_devices(const Buffer* const* buffers, std::size_t count) const {
  if (slot_ == nullptr) return {};  // the launch reports it
  const DeviceState& device = slot_->module->device();
  for (std::size_t i = 0; i < count; ++i) {
    const Buffer* const buffer = buffers[i];
    Result<void> checked =
        check_device(device, buffer == nullptr ? nullptr : buffer->block_.get(), "kernel runs");
    if (checked) continue;
    Error error = std::move(checked).error();
    error.message = slot_->identity() + ": argument " + std::to_string(i + 1) + ": " + error.message;
    return error;
  }
  return {};
}

// --- Device ------------------------------------------------------------------------------

Result<Buffer> Device::allocate(std::size_t bytes) const { return allocate(bytes, StreamRef()); }

Result<Buffer> Device::allocate(std::size_t bytes, StreamRef stream) const {
  if (bytes == 0) return Buffer();
  KILN_TRY_ASSIGN(auto block, make_block(state_, bytes, stream, nullptr));
  void* const address = block->memory.front().address;
  return Buffer(std::move(block), address, bytes);
}

Result<Buffer> Device::allocate(std::size_t bytes, const Stream& stream) const {
  if (bytes == 0) return Buffer();
  KILN_TRY_ASSIGN(auto block, make_block(state_, bytes, stream, stream.state_));
  void* const address = block->memory.front().address;
  return Buffer(std::move(block), address, bytes);
}

Result<detail::PinnedBytes> Device::allocate_pinned_bytes(std::size_t bytes) const {
  if (bytes == 0) return detail::PinnedBytes();
  KILN_TRY(check_addressable(*state_, bytes));
  Result<void*> memory = state_->driver().allocate_pinned(state_->ordinal(), bytes);
  if (!memory) {
    return state_->failed("allocating " + bytes_text(bytes) + " of pinned memory",
                          std::move(memory).error());
  }
  std::shared_ptr<PinnedBlock> block(new PinnedBlock{state_, *memory});
  return detail::PinnedBytes(std::move(block), *memory, bytes);
}

Result<void> Device::copy_to_device(void* target, const void* source, std::size_t bytes) const {
  return copy(*state_, kToDevice, CopyDirection::kToDevice, target, source, bytes, nullptr);
}
Result<void> Device::copy_to_host(void* target, const void* source, std::size_t bytes) const {
  return copy(*state_, kToHost, CopyDirection::kToHost, target, source, bytes, nullptr);
}
Result<void> Device::copy_to_device_async(void* target, const void* source, std::size_t bytes,
                                          StreamRef stream) const {
  return copy(*state_, kToDevice, CopyDirection::kToDevice, target, source, bytes, &stream);
}
Result<void> Device::copy_to_host_async(void* target, const void* source, std::size_t bytes,
                                        StreamRef stream) const {
  return copy(*state_, kToHost, CopyDirection::kToHost, target, source, bytes, &stream);
}
Result<void> Device::copy_on_device(void* target, const void* source, std::size_t bytes,
                                    StreamRef stream) const {
  return copy(*state_, kOnDevice, CopyDirection::kOnDevice, target, source, bytes, &stream);
}
Result<void> Device::copy_on_device(const Buffer& target, const Buffer& source,
                                    StreamRef stream) const {
  KILN_TRY(check_device(*state_, target.block_.get(), kCopies));
  KILN_TRY(check_device(*state_, source.block_.get(), kCopies));
  KILN_TRY(check_room(*state_, kOnDevice, source.size(), target));
  return copy_on_device(target.data(), source.data(), source.size(), stream);
}

Result<void> Device::copy_in(const Buffer& target, const void* source, std::size_t bytes,
                             const StreamRef* stream) const {
  KILN_TRY(check_device(*state_, target.block_.get(), kCopies));
  KILN_TRY(check_room(*state_, kToDevice, bytes, target));
  return copy(*state_, kToDevice, CopyDirection::kToDevice, target.data(), source, bytes, stream);
}
Result<void> Device::copy_out(void* target, std::size_t bytes, const Buffer& source,
                              const StreamRef* stream) const {
  KILN_TRY(check_device(*state_, source.block_.get(), kCopies));
  KILN_TRY(check_room(*state_, kToHost, bytes, source));
  return copy(*state_, kToHost, CopyDirection::kToHost, target, source.data(), bytes, stream);
}

Result<void> Device::fill(void* target, std::uint8_t value, std::size_t bytes,
                          StreamRef stream) const {
  if (bytes == 0) return {};
  KILN_TRY_ASSIGN(const runtime::NativeStream native, state_->native_stream(stream));
  Result<void> filled = state_->driver().fill(state_->ordinal(), target, value, bytes, native);
  if (filled) return filled;
  return state_->failed("filling " + bytes_text(bytes), std::move(filled).error());
}
Result<void> Device::fill(const Buffer& target, std::uint8_t value, StreamRef stream) const {
  KILN_TRY(check_device(*state_, target.block_.get(), kFills));
  return fill(target.data(), value, target.size(), stream);
}

}  // namespace kiln
