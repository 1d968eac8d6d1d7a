#include "runtime/src/device_memory.hpp"

#include <utility>

#include "base/diagnostic.hpp"

namespace kiln::runtime {

DeviceMemory::~DeviceMemory() { free_deferred(); }

Result<DeviceMemory::Allocation> DeviceMemory::allocate(std::size_t bytes, NativeStream stream) {
  if (!uses_pool_) {
    KILN_TRY_ASSIGN(void* const address, driver_.allocate(ordinal_, bytes));
    return Allocation{address, stream, false};
  }
  KILN_TRY_ASSIGN(const bool captured, driver_.is_capturing(ordinal_, stream));
  if (captured && stream != nullptr) {
    return Error{ErrorCode::kInvalidInput, "the stream is being captured into a graph", {}, {}}
        .hint("allocate before the capture, and keep the buffer as long as the graph");
  }
  if (!captured) free_deferred();
  // The default stream takes no work while another stream is captured, so plain memory is used.
  if (stream == nullptr && (captured || has_non_blocking_)) {
    KILN_TRY_ASSIGN(void* const address, driver_.allocate(ordinal_, bytes));
    return Allocation{address, nullptr, false};
  }
  KILN_TRY_ASSIGN(void* const address, driver_.allocate_async(ordinal_, bytes, stream));
  return Allocation{address, stream, true};
}

void DeviceMemory::free(const Allocation& allocation) {
  if (uses_pool_ && is_capturing(allocation.stream)) {
    const std::lock_guard lock(mutex_);
    // The stream may be gone by the time the memory is freed. The default stream waits for all
    // earlier work.
    deferred_.push_back({allocation.address, nullptr, allocation.is_pooled});
    return;
  }
  free_now(allocation);
}

bool DeviceMemory::is_capturing(NativeStream stream) {
  const Result<bool> captured = driver_.is_capturing(ordinal_, stream);
  return captured && *captured;
}

void DeviceMemory::free_now(const Allocation& allocation) {
  if (!allocation.is_pooled) {
    (void)driver_.free(ordinal_, allocation.address);
    return;
  }
  if (allocation.stream == nullptr && has_non_blocking_) (void)driver_.synchronize(ordinal_);
  (void)driver_.free_async(ordinal_, allocation.address, allocation.stream);
}

void DeviceMemory::free_deferred() {
  std::vector<Allocation> allocations;
  {
    const std::lock_guard lock(mutex_);
    if (deferred_.empty() || is_capturing(nullptr)) return;
    allocations = std::exchange(deferred_, {});
  }
  for (const Allocation& allocation : allocations) free_now(allocation);
}

void DeviceMemory::inspect(NativeStream stream) {
  if (is_capturing(stream)) return;  // querying its flags would end the capture
  const Result<bool> waits = driver_.waits_for_default(ordinal_, stream);
  if (!waits || *waits) return;
  has_non_blocking_ = true;
  // Waits until memory that was allocated earlier, in the default stream's order, is ready for this
  // stream, too.
  if (!is_capturing(nullptr)) (void)driver_.synchronize_stream(ordinal_, nullptr);
}

}  // namespace kiln::runtime
