#include "runtime/src/device_memory.hpp"

#include <utility>

#include "base/diagnostic.hpp"

namespace kiln::runtime {

DeviceMemory::~DeviceMemory() { free_kept(); }

Result<DeviceMemory::Piece> DeviceMemory::allocate(std::size_t bytes, NativeStream stream) {
  if (!uses_pool_) {
    KILN_TRY_ASSIGN(void* const address, driver_.allocate(ordinal_, bytes));
    return Piece{address, stream, false};
  }
  KILN_TRY_ASSIGN(const bool captured, driver_.is_capturing(ordinal_, stream));
  if (captured && stream != nullptr) {
    return Error{ErrorCode::kInvalidInput, "the stream is being captured into a graph", {}, {}}
        .hint("allocate before the capture, and keep the buffer as long as the graph");
  }
  if (!captured) free_kept();
  // The default stream takes no work while another stream is captured, so plain memory is used.
  if (stream == nullptr && (captured || has_unordered_)) {
    KILN_TRY_ASSIGN(void* const address, driver_.allocate(ordinal_, bytes));
    return Piece{address, nullptr, false};
  }
  KILN_TRY_ASSIGN(void* const address, driver_.allocate_in_order(ordinal_, bytes, stream));
  return Piece{address, stream, true};
}

void DeviceMemory::give_back(const Piece& piece) {
  if (uses_pool_ && is_capturing(piece.stream)) {
    const std::lock_guard lock(mutex_);
    // The stream may be gone by the time the memory is freed. The default stream waits for all
    // earlier work.
    kept_.push_back({piece.address, nullptr, piece.is_pooled});
    return;
  }
  free_now(piece);
}

bool DeviceMemory::is_capturing(NativeStream stream) {
  const Result<bool> captured = driver_.is_capturing(ordinal_, stream);
  return captured && *captured;
}

void DeviceMemory::free_now(const Piece& piece) {
  if (!piece.is_pooled) {
    (void)driver_.free(ordinal_, piece.address);
    return;
  }
  if (piece.stream == nullptr && has_unordered_) (void)driver_.synchronize(ordinal_);
  (void)driver_.free_in_order(ordinal_, piece.address, piece.stream);
}

void DeviceMemory::free_kept() {
  std::vector<Piece> pieces;
  {
    const std::lock_guard lock(mutex_);
    if (kept_.empty() || is_capturing(nullptr)) return;
    pieces = std::exchange(kept_, {});
  }
  for (const Piece& piece : pieces) free_now(piece);
}

void DeviceMemory::look_at(NativeStream stream) {
  if (is_capturing(stream)) return;  // querying its flags would end the capture
  const Result<bool> waits = driver_.waits_for_default(ordinal_, stream);
  if (!waits || *waits) return;
  has_unordered_ = true;
  // Waits until memory that was allocated earlier, in the default stream's order, is ready for this
  // stream, too.
  if (!is_capturing(nullptr)) (void)driver_.synchronize_stream(ordinal_, nullptr);
}

}  // namespace kiln::runtime
