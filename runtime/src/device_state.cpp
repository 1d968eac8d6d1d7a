#include "runtime/src/device_state.hpp"

#include <utility>

#include "base/diagnostic.hpp"
#include "runtime/src/stream_state.hpp"

namespace kiln::runtime {

DeviceState::DeviceState(std::shared_ptr<Driver> driver, Backend backend, int ordinal,
                         DeviceTraits traits, LoadOptions options)
    : driver_(std::move(driver)),
      target_(traits.target),
      options_(std::move(options)),
      has_pool_(traits.has_pool),
      memory_(*driver_, ordinal, has_pool_ && options_.uses_pools) {
  info_.id = std::move(traits.id);
  info_.backend = backend;
  info_.ordinal = ordinal;
  info_.name = std::move(traits.name);
  info_.target = to_string(traits.target);
  info_.driver = driver_->version();
  info_.max_ptx_isa = traits.max_ptx_isa;
  info_.wave_width = traits.wave_width;
  info_.multiprocessors = traits.multiprocessors;
  info_.max_threads_per_block = traits.max_threads_per_block;
  info_.max_shared_bytes = traits.max_shared_bytes;
  info_.memory_bytes = traits.memory_bytes;
}

DeviceState::DeviceState(const DeviceState& device, std::shared_ptr<Driver> driver)
    : driver_(std::move(driver)),
      info_(device.info_),
      target_(device.target_),
      options_(device.options_),
      has_pool_(device.has_pool_),
      memory_(*driver_, info_.ordinal, has_pool_ && options_.uses_pools) {}

Error empty_stream() {
  return Error{
      ErrorCode::kInvalidInput, "an empty stream: make it by Device::create_stream()", {}, {}}
      .note("it was default-constructed or moved from")
      .hint("StreamRef() names the default stream");
}

Result<NativeStream> DeviceState::native_stream(StreamRef stream) {
  if (stream.is_empty()) return empty_stream();
  if (stream.state_ != nullptr && !is(*stream.state_->device)) {
    return Error{ErrorCode::kInvalidInput,
                 "the stream is of " + stream.state_->device->info_.id + ", the work is for " + info_.id,
                 {},
                 {}};
  }
  memory_.observe(stream);
  return stream.native();
}

std::string DeviceState::identity() const {
  return info_.id + " (" + info_.name + ", " + info_.target + ")";
}

Error DeviceState::failed(std::string_view doing, Error cause) const {
  cause.message =
      "failed " + std::string(doing) + " on " + identity() + ": " + std::move(cause.message);
  return cause;
}

}  // namespace kiln::runtime
