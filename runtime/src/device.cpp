// The public handles Device, Stream, Event and Function. Each forwards to the device's state and
// names what failed. Memory is in memory.cpp.
#include "kiln/device.hpp"

#include <span>
#include <utility>

#include "base/diagnostic.hpp"
#include "runtime/src/device_state.hpp"
#include "runtime/src/release_quietly.hpp"
#include "runtime/src/stream_state.hpp"

namespace kiln {

using runtime::DeviceState;

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

Result<Function> Device::function(std::string_view name, const void* image,
                                  std::size_t image_bytes) const {
  if (image == nullptr || image_bytes == 0) {
    return Error{ErrorCode::kInvalidInput, "no image for kernel '" + std::string(name) + "': it has no bytes", {}, {}};
  }
  const std::span bytes(static_cast<const std::byte*>(image), image_bytes);
  KILN_TRY_ASSIGN(runtime::KernelSlot* const slot,
                  state_->modules().find_or_add(bytes).load_named(name));
  return Function({state_, slot});
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
  state_->files().add(file.state_);
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

Result<Stream> Device::create_stream() const {
  const auto owner = std::make_shared<runtime::StreamState>(state_);
  Result<void*> stream = state_->driver().create_stream(state_->ordinal());
  if (!stream) return state_->failed("creating a stream", std::move(stream).error());
  owner->own(*stream);
  return Stream(owner, *stream);
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

// --- Stream ------------------------------------------------------------------------------

Stream::Stream(std::shared_ptr<runtime::StreamState> state, void* native)
    : state_(std::move(state)), native_(native) {}
Stream::Stream(Stream&& other) noexcept
    : state_(std::move(other.state_)), native_(std::exchange(other.native_, nullptr)) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  Stream moved(std::move(other));
  std::swap(state_, moved.state_);
  std::swap(native_, moved.native_);
  return *this;
}
Stream::~Stream() = default;

Result<void> Stream::synchronize() const {
  if (state_ == nullptr) return runtime::empty_stream();
  const DeviceState& device = *state_->device;
  Result<void> done = device.driver().synchronize_stream(device.ordinal(), native_);
  if (done) return done;
  return device.failed("waiting for a stream", std::move(done).error());
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
  if (device_ == nullptr) return;
  runtime::release_quietly(
      [&] { return device_->driver().destroy_event(device_->ordinal(), native_); });
}

namespace {

Error empty_event() {
  return Error{
      ErrorCode::kInvalidInput, "an empty event: make it by Device::create_event()", {}, {}};
}

}  // namespace

Result<void> Event::record(StreamRef stream) const {
  if (device_ == nullptr) return empty_event();
  KILN_TRY_ASSIGN(const runtime::NativeStream native, device_->native_stream(stream));
  Result<void> done = device_->driver().record_event(device_->ordinal(), native_, native);
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

// Checks what every launch needs.
Result<void> check_launch(bool is_empty, const void* const* addresses, std::size_t count) {
  if (is_empty) return empty_function();
  for (std::size_t i = 0; i < count; ++i) {
    if (addresses != nullptr && addresses[i] != nullptr) continue;
    return Error{ErrorCode::kInvalidInput,
                 "argument " + std::to_string(i + 1) + " of a launch has no address",
                 {},
                 {}};
  }
  return {};
}

}  // namespace

Result<void> Function::launch_raw(const LaunchConfig& config, const void* const* addresses,
                                  std::size_t count) const {
  KILN_TRY(check_launch(slot_ == nullptr, addresses, count));
  return slot_->launch(config, addresses, count);
}

Result<void> Function::launch_raw(const LaunchConfig& config, const void* const* addresses,
                                  const std::size_t* sizes, std::size_t count) const {
  KILN_TRY(check_launch(slot_ == nullptr, addresses, count));
  KILN_TRY(slot_->check_sizes(sizes, count));
  return slot_->launch(config, addresses, count);
}

Result<void> Function::launch_raw(const LaunchConfig& config, const void* const* addresses,
                                  const Parameter* types, std::size_t count) const {
  KILN_TRY(check_launch(slot_ == nullptr, addresses, count));
  KILN_TRY(slot_->check_types(types, count));
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
