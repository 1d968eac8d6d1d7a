// The memory that the launches of one stream use, one after the other.
//
// It begins with counters, which are zero before and after each launch. It grows on demand.
// Outgrown memory is kept, because a captured graph or a running launch may still have its address.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "kernels/tuning/workspace.hpp"
#include "kiln/device.hpp"

namespace kiln::ops {

class Workspace {
 public:
  explicit Workspace(Device device) : device_(std::move(device)) {}

  // Returns the address of at least `bytes` bytes. Allocates nothing unless it needs to grow.
  Result<void*> of(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pieces_.empty() || pieces_.back().size() < bytes) {
      const std::size_t grown = pieces_.empty() ? 0 : 2 * pieces_.back().size();
      KILN_TRY_ASSIGN(
          Buffer piece,
          device_.allocate(std::max<std::size_t>({bytes, grown, tuning::kWorkspaceCounters})));
      const std::vector<std::byte> zeros(tuning::kWorkspaceCounters);
      KILN_TRY(device_.copy_to_device(piece.data(), zeros.data(), zeros.size()));
      pieces_.push_back(std::move(piece));
    }
    return pieces_.back().data();
  }

 private:
  Device device_;
  std::mutex mutex_;
  std::vector<Buffer> pieces_;
};

}  // namespace kiln::ops
