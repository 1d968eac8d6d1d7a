// Streams order the work of a device; events mark points in it.
//
// Work without a stream goes to the device's default stream. That stream waits for the device's
// other streams and makes them wait for it, except streams of the caller's that were made without
// this order (CU_STREAM_NON_BLOCKING, hipStreamNonBlocking). Work on different streams may overlap.
//
// Ownership: a Stream and an Event own the driver's object and keep their device open. A StreamRef
// owns nothing; launches and copies take it. A Stream or an Event that is default-constructed or
// moved from is empty. Every use of an empty one is an error, kInvalidInput.
// Thread-safety: several threads may use one stream; their work runs in the order of their calls.
// No thread may move or destroy an object while another uses it.
#pragma once

#include <memory>

#include "result.hpp"

namespace kiln {

namespace runtime {
class DeviceState;
struct StreamState;
}  // namespace runtime

// Names a stream to run on: a Stream, the default stream (`{}`), or a stream that the caller made
// with the vendor's own library. A plain value; the stream must outlive its use.
class StreamRef {
 public:
  StreamRef() = default;  // the default stream
  // Names a cudaStream_t, CUstream or hipStream_t of the device that the work is for.
  static StreamRef from_native(void* stream) { return StreamRef(stream, nullptr, false); }
  void* native() const { return native_; }  // null: the default stream, or an empty Stream
  // True for a stream that the caller made, as opposed to Device::create_stream().
  bool is_callers() const { return native_ != nullptr && state_ == nullptr; }
  // True if it was made from an empty Stream, which no work can be put on.
  bool is_empty() const { return is_empty_; }

 private:
  friend class Stream;
  friend class runtime::DeviceState;
  StreamRef(void* native, const runtime::StreamState* state, bool is_empty)
      : native_(native), state_(state), is_empty_(is_empty) {}
  void* native_ = nullptr;
  const runtime::StreamState* state_ = nullptr;  // null unless kiln made the stream
  bool is_empty_ = false;
};

// Made by Device::create_stream(). An empty Stream is not the default stream, which `StreamRef()`
// names. The destructor does not wait for the stream's work. Buffers that were allocated on the
// stream keep it open.
class Stream {
 public:
  Stream() = default;  // empty
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  operator StreamRef() const { return StreamRef(native_, state_.get(), state_ == nullptr); }
  explicit operator bool() const { return state_ != nullptr; }  // false if empty
  void* native() const { return native_; }  // a CUstream or hipStream_t; null if empty
  // Waits until all work given to the stream is done, and returns the errors of that work. Errors:
  // kInvalidInput (an empty Stream), kDriver.
  Result<void> synchronize() const;

 private:
  friend class Device;
  Stream(std::shared_ptr<runtime::StreamState> state, void* native);
  std::shared_ptr<runtime::StreamState> state_;
  void* native_ = nullptr;
};

// A mark in a stream's work, made by Device::create_event(). Notes the time at which the stream
// reaches it. Errors of all members: kInvalidInput (an empty event or stream, or one of another
// device), kDriver.
class Event {
 public:
  Event() = default;  // empty
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  explicit operator bool() const { return device_ != nullptr; }  // false if empty
  // Puts the mark at the present end of the stream's work. Recording again moves the mark.
  Result<void> record(StreamRef stream = {}) const;
  // Waits until the stream has reached the mark.
  Result<void> synchronize() const;
  // Returns the milliseconds from `start` to this mark. Both marks must belong to one device and
  // have been reached.
  Result<float> milliseconds_since(const Event& start) const;

 private:
  friend class Device;
  Event(std::shared_ptr<runtime::DeviceState> device, void* native);
  std::shared_ptr<runtime::DeviceState> device_;
  void* native_ = nullptr;
};

}  // namespace kiln
