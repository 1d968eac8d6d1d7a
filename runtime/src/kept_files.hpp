// The catalog files that a device keeps open.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "base/diagnostic.hpp"
#include "runtime/src/catalog_file_state.hpp"

namespace kiln::runtime {

// Files are added and never removed, so readers follow the chain of nodes without a lock.
// Thread-safe.
class KeptFiles {
 public:
  void add(const std::shared_ptr<const CatalogFileState>& file) {
    if (has(*file)) return;
    const std::lock_guard lock(mutex_);
    if (has(*file)) return;
    newest_.store(&nodes_.emplace_back(Node{file, newest_.load()}));
  }

  // Checks an image against its digest if it is in one of the files. Errors: kInvalidInput.
  Result<void> check(const ImageEntry& image) const {
    for (const Node* node = newest_; node != nullptr; node = node->older) {
      KILN_TRY(node->file->check(image));
    }
    return {};
  }

 private:
  struct Node {
    std::shared_ptr<const CatalogFileState> file;
    const Node* older;
  };

  bool has(const CatalogFileState& file) const {
    for (const Node* node = newest_; node != nullptr; node = node->older) {
      if (node->file.get() == &file) return true;
    }
    return false;
  }

  std::mutex mutex_;        // held while a file is added
  std::deque<Node> nodes_;  // guarded by mutex_; a node never moves
  std::atomic<const Node*> newest_{nullptr};
};

}  // namespace kiln::runtime
