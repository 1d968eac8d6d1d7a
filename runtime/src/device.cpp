// The public handles: Device, Buffer, Stream, Event, Function. Each forwards to the device's state
// and names what failed.
#include "kiln/device.hpp"

#include <span>
#include <utility>

#include "base/diagnostic.hpp"
#include "runtime/src/device_state.hpp"

namespace kiln {

using runtime::CopyDirection;
using runtime::CopyRequest;
using runtime::DeviceState;
using runtime::Wait;

namespace {

// Gives a handle's thing back to its driver. Whatever is wrong was told by the call that met it
// first.
template <typename Call>
void give_back(const std::shared_ptr<DeviceState>& device, Call call) {
  if (device != nullptr) (void)call(device->driver(), device->ordinal());
}

std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

Result<void> copy(const DeviceState& device, std::string_view where, const CopyRequest& request) {
  if (request.bytes == 0) return {};
  Result<void> copied = device.driver().copy(device.ordinal(), request);
  if (copied) return copied;
  return device.failed("copying " + bytes_text(request.bytes) + std::string(where),
                       std::move(copied).error());
}

}  // namespace

std::string_view to_string(Backend backend) {
  switch (backend) {
    case Backend::kCuda: return "cuda";
    case Backend::kHip: return "hip";
    case Backend::kHost: return "host";
    case Backend::kEmulator: return "emulated";
  }
  return "unknown";
}

// --- Device ------------------------------------------------------------------------------

const DeviceInfo& Device::info() const { return state_->info(); }

Result<Device> Device::in_context(void* native_context) const {
  auto driver = state_->driver().in_context(state_->ordinal(), native_context);
  if (!driver) {
    return state_->failed("using the caller's context", std::move(driver).error());
  }
  return Device(std::make_shared<DeviceState>(*state_, std::move(*driver)));
}

Result<void> Device::as_current(const std::function<Result<void>()>& call) const {
  return state_->driver().as_current(state_->ordinal(), call);
}

Result<Function> Device::get_or_load_func_raw(std::string_view name, const void* image,
                                              std::size_t image_bytes) const {
  const std::span bytes(static_cast<const std::byte*>(image), image_bytes);
  KILN_TRY_ASSIGN(runtime::KernelSlot* const slot,
                  state_->modules().find_or_add(bytes).load_named(name));
  return Function(slot);
}

Result<Symbol> Device::symbol(std::string_view name, const ModuleEntry& module) const {
  return state_->modules().find_or_add(module).find_symbol(std::string(name));
}

Result<void> Device::load(const ModuleEntry& module) const {
  return state_->modules().find_or_add(module).load_all();
}

Result<void> Device::load(const Catalog& catalog) const {
  for (const ModuleEntry* module : catalog.modules) KILN_TRY(load(*module));
  return {};
}

Result<void> Device::load(const CatalogFile& file) const {
  state_->keep(file.state_);
  return load(file.catalog());
}

Result<void> Device::unload(const ModuleEntry& module) const {
  runtime::ModuleSlot* slot = state_->modules().find(module);
  return slot != nullptr ? slot->unload() : Result<void>();
}

ModuleStatistics Device::statistics(const ModuleEntry& module) const {
  const runtime::ModuleSlot* slot = state_->modules().find(module);
  return slot != nullptr ? slot->statistics() : ModuleStatistics();
}

Result<Buffer> Device::allocate(std::size_t bytes) const {
  if (bytes == 0) return Buffer();
  Result<void*> memory = state_->driver().allocate(state_->ordinal(), bytes);
  if (!memory) {
    return state_->failed("allocating " + bytes_text(bytes), std::move(memory).error());
  }
  return Buffer(state_, *memory, bytes);
}

Result<void> Device::copy_to_device(void* target, const void* source, std::size_t bytes) const {
  return copy(*state_, " to the device",
              {CopyDirection::kToDevice, target, source, bytes, nullptr, Wait::kYes});
}
Result<void> Device::copy_to_host(void* target, const void* source, std::size_t bytes) const {
  return copy(*state_, " to the host",
              {CopyDirection::kToHost, target, source, bytes, nullptr, Wait::kYes});
}
Result<void> Device::copy_to_device_async(void* target, const void* source, std::size_t bytes,
                                          StreamRef stream) const {
  return copy(*state_, " to the device",
              {CopyDirection::kToDevice, target, source, bytes, stream.native(), Wait::kNo});
}
Result<void> Device::copy_to_host_async(void* target, const void* source, std::size_t bytes,
                                        StreamRef stream) const {
  return copy(*state_, " to the host",
              {CopyDirection::kToHost, target, source, bytes, stream.native(), Wait::kNo});
}
Result<void> Device::copy_on_device(void* target, const void* source, std::size_t bytes,
                                    StreamRef stream) const {
  return copy(*state_, " on the device",
              {CopyDirection::kOnDevice, target, source, bytes, stream.native(), Wait::kNo});
}

Result<void> Device::fill(void* target, std::uint8_t value, std::size_t bytes,
                          StreamRef stream) const {
  if (bytes == 0) return {};
  Result<void> filled =
      state_->driver().fill(state_->ordinal(), target, value, bytes, stream.native());
  if (filled) return filled;
  return state_->failed("filling " + bytes_text(bytes), std::move(filled).error());
}

Result<Stream> Device::create_stream() const {
  Result<void*> stream = state_->driver().create_stream(state_->ordinal());
  if (!stream) return state_->failed("creating a stream", std::move(stream).error());
  return Stream(state_, *stream);
}

Result<Event> Device::create_event() const {
  Result<void*> event = state_->driver().create_event(state_->ordinal());
  if (!event) return state_->failed("creating an event", std::move(event).error());
  return Event(state_, *event);
}

Result<void> Device::synchronize() const {
  Result<void> done = state_->driver().synchronize(state_->ordinal());
  if (done) return done;
  return state_->failed("waiting for the work", std::move(done).error());
}

// --- Buffer ------------------------------------------------------------------------------

Buffer::Buffer(std::shared_ptr<DeviceState> device, void* data, std::size_t size)
    : device_(std::move(device)), data_(data), size_(size) {}
Buffer::Buffer(Buffer&& other) noexcept
    : device_(std::move(other.device_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer moved(std::move(other));
  std::swap(device_, moved.device_);
  std::swap(data_, moved.data_);
  std::swap(size_, moved.size_);
  return *this;
}
Buffer::~Buffer() {
  if (data_ == nullptr) return;
  give_back(device_,
            [&](runtime::Driver& driver, int device) { return driver.free(device, data_); });
}

// --- Stream ------------------------------------------------------------------------------

Stream::Stream(std::shared_ptr<DeviceState> device, void* native)
    : device_(std::move(device)), native_(native) {}
Stream::Stream(Stream&& other) noexcept
    : device_(std::move(other.device_)), native_(std::exchange(other.native_, nullptr)) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  Stream moved(std::move(other));
  std::swap(device_, moved.device_);
  std::swap(native_, moved.native_);
  return *this;
}
Stream::~Stream() {
  give_back(device_, [&](runtime::Driver& driver, int device) {
    return driver.destroy_stream(device, native_);
  });
}

Result<void> Stream::synchronize() const {
  if (device_ == nullptr) {
    return Error{ErrorCode::kInvalidInput,
                 "a default-made stream belongs to no device: use Device::synchronize()",
                 {},
                 {}};
  }
  Result<void> done = device_->driver().synchronize_stream(device_->ordinal(), native_);
  if (done) return done;
  return device_->failed("waiting for a stream", std::move(done).error());
}

// --- Event -------------------------------------------------------------------------------

Event::Event(std::shared_ptr<DeviceState> device, void* native)
    : device_(std::move(device)), native_(native) {}
Event::Event(Event&& other) noexcept
    : device_(std::move(other.device_)), native_(std::exchange(other.native_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  Event moved(std::move(other));
  std::swap(device_, moved.device_);
  std::swap(native_, moved.native_);
  return *this;
}
Event::~Event() {
  give_back(device_, [&](runtime::Driver& driver, int device) {
    return driver.destroy_event(device, native_);
  });
}

namespace {

Error empty_event() {
  return Error{
      ErrorCode::kInvalidInput, "an empty event: make it by Device::create_event()", {}, {}};
}

}  // namespace

Result<void> Event::record(StreamRef stream) const {
  if (device_ == nullptr) return empty_event();
  Result<void> done = device_->driver().record_event(device_->ordinal(), native_, stream.native());
  if (done) return done;
  return device_->failed("recording an event", std::move(done).error());
}

Result<void> Event::synchronize() const {
  if (device_ == nullptr) return empty_event();
  Result<void> done = device_->driver().synchronize_event(device_->ordinal(), native_);
  if (done) return done;
  return device_->failed("waiting for an event", std::move(done).error());
}

Result<float> Event::milliseconds_since(const Event& start) const {
  if (device_ == nullptr || start.device_ == nullptr) return empty_event();
  if (device_ != start.device_) {
    return Error{
        ErrorCode::kInvalidInput,
        "events of two devices: " + start.device_->identity() + " and " + device_->identity(),
        {},
        {}};
  }
  Result<float> milliseconds =
      device_->driver().milliseconds_between(device_->ordinal(), start.native_, native_);
  if (milliseconds) return milliseconds;
  return device_->failed("timing two events", std::move(milliseconds).error());
}

// --- Function ----------------------------------------------------------------------------

namespace {

Error empty_function() {
  return Error{
      ErrorCode::kInvalidInput, "an empty function was launched: ask a device for one", {}, {}};
}

}  // namespace

Result<void> Function::launch_raw(const LaunchConfig& config, const void* const* addresses,
                                  std::size_t count) const {
  if (slot_ == nullptr) return empty_function();
  return slot_->launch(config, addresses, count);
}

Result<void> Function::launch_raw(const LaunchConfig& config, const void* const* addresses,
                                  const std::size_t* sizes, std::size_t count) const {
  if (slot_ == nullptr) return empty_function();
  KILN_TRY(slot_->check_sizes(sizes, count));
  return slot_->launch(config, addresses, count);
}

Result<void> Function::prepare() const {
  if (slot_ == nullptr) return empty_function();
  return slot_->prepare();
}

std::string_view Function::name() const {
  return slot_ != nullptr ? slot_->name : std::string_view();
}
const KernelEntry* Function::kernel() const { return slot_ != nullptr ? slot_->entry : nullptr; }

}  // namespace kiln
