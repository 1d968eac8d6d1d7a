// The memory that launches of one stream work in, one after the other.
//
// It begins with counters, which are zero before a launch and after it. It grows with what is
// asked; an outgrown piece stays, as a captured graph, or a launch that still runs, may have its
// address.
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

  // The address of at least so many bytes. Allocates nothing for what was asked before.
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
