#include "layout_store.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/diagnostic.hpp"

namespace kiln::ops {

Result<void> LayoutStore::prepare(const LayoutBlock& content) {
  const std::lock_guard<std::mutex> lock(mutex_);
  KILN_TRY_ASSIGN(Entry* const entry, find_or_make(content));
  if (!entry->is_prepared) ++prepared_;
  entry->is_prepared = true;
  return {};
}

Result<LayoutStore::Entry*> LayoutStore::find_or_make(const LayoutBlock& content) {
  auto found = entries_.find(content);
  if (found == entries_.end()) {
    if (entries_.size() - prepared_ >= kMaxShapes) KILN_TRY(forget_old());
    std::vector<std::size_t> values(content.begin(), content.end());
    KILN_TRY_ASSIGN(Buffer block, device_.upload(values));
    found = entries_.emplace(std::move(values), Entry{std::move(block), 0, false}).first;
  }
  found->second.last_use = ++uses_;
  return &found->second;
}

Result<void> LayoutStore::forget_old() {
  std::vector<std::uint64_t> uses;
  for (const auto& [content, entry] : entries_) {
    if (!entry.is_prepared) uses.push_back(entry.last_use);
  }
  const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
  std::nth_element(uses.begin(), middle, uses.end());
  KILN_TRY(device_.synchronize());  // kernels may still read the blocks to be removed
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const bool goes = !entry->second.is_prepared && entry->second.last_use < *middle;
    entry = goes ? entries_.erase(entry) : std::next(entry);
  }
  return {};
}

}  // namespace kiln::ops
