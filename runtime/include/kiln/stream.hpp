// Streams order the work of a device; events mark points in it.
//
// Work without a stream goes to the device's default stream, which waits for the other streams of
// the device and makes them wait for it. Work on different streams may overlap.
//
// Ownership: a Stream and an Event own the driver's object and keep their device open. A StreamRef
// owns nothing: it is what a launch or a copy takes.
// Thread-safety: one stream may be used by several threads; the order of their work is the order of
// the calls. Moving or destroying an object while another thread uses it is a race.
#pragma once

#include <memory>

#include "result.hpp"

namespace kiln {

namespace runtime {
class DeviceState;
struct StreamState;
}  // namespace runtime

// A stream to run on: a Stream, the default stream (`{}`), or one that the caller made with the
// vendor's own library. A plain value; the stream must outlive its use.
class StreamRef {
 public:
  StreamRef() = default;  // the default stream
  // A cudaStream_t, CUstream or hipStream_t of the very device that it is used on.
  static StreamRef from_native(void* stream) { return StreamRef(stream, nullptr); }
  void* native() const { return native_; }
  // Not made by Device::create_stream().
  bool is_callers() const { return native_ != nullptr && state_ == nullptr; }

 private:
  friend class Stream;
  friend class runtime::DeviceState;
  StreamRef(void* native, const runtime::StreamState* state) : native_(native), state_(state) {}
  void* native_ = nullptr;
  const runtime::StreamState* state_ = nullptr;  // of kiln's streams
};

// Made by Device::create_stream(); one that was default-made or moved from is the default stream. Destroying it
// does not wait for its work; buffers that were allocated on it keep it open.
class Stream {
 public:
  Stream() = default;  // the default stream
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  operator StreamRef() const { return StreamRef(native_, state_.get()); }
  void* native() const { return native_; }
  // Waits until all work given to the stream is done. Errors of that work surface here.
  Result<void> synchronize() const;

 private:
  friend class Device;
  Stream(std::shared_ptr<runtime::StreamState> state, void* native);
  std::shared_ptr<runtime::StreamState> state_;
  void* native_ = nullptr;
};

// Made by Device::create_event(). Records when a stream gets to it.
class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  // Marks the present end of the stream's work; recording again moves the mark.
  Result<void> record(StreamRef stream = {}) const;
  // Waits until the stream has got to the mark.
  Result<void> synchronize() const;
  // Milliseconds from `start` to this mark. Both must be of one device, and have been reached.
  Result<float> milliseconds_since(const Event& start) const;

 private:
  friend class Device;
  Event(std::shared_ptr<runtime::DeviceState> device, void* native);
  std::shared_ptr<runtime::DeviceState> device_;
  void* native_ = nullptr;
};

}  // namespace kiln
