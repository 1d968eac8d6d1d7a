#include "runtime/src/device_memory.hpp"

#include <utility>

#include "base/diagnostic.hpp"
#include "runtime/src/release_quietly.hpp"

namespace kiln::runtime {
namespace {

Error captured_stream() {
  return Error{ErrorCode::kInvalidInput, "the stream is being captured into a graph", {}, {}}.hint(
      "allocate before the capture, and keep the buffer as long as the graph");
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  release_quietly([&] { free_deferred(); });
}

Result<DeviceMemory::Handle> DeviceMemory::allocate(std::size_t bytes, NativeStream stream) {
  Handle handle(1);  // first, so that it cannot fail once there is memory to own
  KILN_TRY_ASSIGN(handle.front(), allocate_for(bytes, stream));
  return handle;
}

Result<DeviceMemory::Allocation> DeviceMemory::allocate_for(std::size_t bytes,
                                                            NativeStream stream) {
  if (!uses_pool_) return allocate_plain(bytes);
  KILN_TRY_ASSIGN(const bool is_captured, driver_.is_capturing(ordinal_, stream));
  if (is_captured && stream != nullptr) return captured_stream();
  if (!is_captured) free_deferred();
  // The order of the default stream is of use if it takes work, and if all streams wait for it.
  const bool has_order = stream != nullptr || (!is_captured && !has_non_blocking_);
  return has_order ? allocate_pooled(bytes, stream) : allocate_plain(bytes);
}

Result<DeviceMemory::Allocation> DeviceMemory::allocate_plain(std::size_t bytes) {
  KILN_TRY_ASSIGN(void* const address, driver_.allocate(ordinal_, bytes));
  return Allocation{address, false, nullptr};
}

Result<DeviceMemory::Allocation> DeviceMemory::allocate_pooled(std::size_t bytes,
                                                               NativeStream stream) {
  KILN_TRY_ASSIGN(void* const address, driver_.allocate_async(ordinal_, bytes, stream));
  return Allocation{address, true, stream};
}

void DeviceMemory::free(Handle handle) {
  if (handle.empty()) return;
  Allocation& allocation = handle.front();
  if (!allocation.is_pooled || !is_capturing(allocation.stream)) return free_now(allocation);
  // It will be freed in the default stream's order, because its own stream may be gone by then.
  allocation.stream = nullptr;
  const std::lock_guard lock(mutex_);
  deferred_.splice(deferred_.end(), handle);
}

void DeviceMemory::free_now(const Allocation& allocation) {
  if (!allocation.is_pooled) {
    (void)driver_.free(ordinal_, allocation.address);
    return;
  }
  if (allocation.stream == nullptr && has_non_blocking_) (void)wait();
  (void)driver_.free_async(ordinal_, allocation.address, allocation.stream);
}

void DeviceMemory::free_deferred() {
  Handle allocations;
  {
    const std::lock_guard lock(mutex_);
    if (deferred_.empty() || is_capturing(nullptr)) return;
    allocations.swap(deferred_);
  }
  for (const Allocation& allocation : allocations) free_now(allocation);
}

Result<void> DeviceMemory::wait() {
  // The driver's own wait for a device would end a capture. Freeing plain memory waits as well. On an
  // H200 (CUDA 13), this takes 3 us, or 58 us if there is no other plain memory.
  const Result<void*> plain = driver_.allocate(ordinal_, 1);
  return plain ? driver_.free(ordinal_, *plain) : driver_.synchronize(ordinal_);
}

bool DeviceMemory::is_capturing(NativeStream stream) {
  const Result<bool> captured = driver_.is_capturing(ordinal_, stream);
  return captured && *captured;
}

bool DeviceMemory::waits_for_default(NativeStream stream) {
  // To ask for the flags of a captured stream would end the capture. But the default stream knows
  // of the captures of streams that wait for it.
  if (is_capturing(stream)) return is_capturing(nullptr);
  const Result<bool> waits = driver_.waits_for_default(ordinal_, stream);
  return !waits || *waits;
}

void DeviceMemory::inspect(NativeStream stream) {
  if (waits_for_default(stream)) return;
  has_non_blocking_ = true;
  // Memory that was allocated earlier, in the default stream's order, has to be ready for this
  // stream, too.
  if (uses_pool_) (void)wait();
}

}  // namespace kiln::runtime
