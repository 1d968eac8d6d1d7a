// The files that a tool reported to have read: neutral paths with digests, sorted by path. A list
// is immutable, and steps that read the same files may share it.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.hpp"

namespace kiln::tools {

class Dependencies {
 public:
  using List = std::vector<std::pair<std::string, Digest>>;

  Dependencies() : Dependencies(List()) {}
  Dependencies(List list) : list_(std::make_shared<const List>(std::move(list))) {}
  Dependencies(std::initializer_list<List::value_type> list) : Dependencies(List(list)) {}

  const List& list() const { return *list_; }
  List::const_iterator begin() const { return list_->begin(); }
  List::const_iterator end() const { return list_->end(); }
  bool empty() const { return list_->empty(); }
  std::size_t size() const { return list_->size(); }
  friend bool operator==(const Dependencies& a, const Dependencies& b) { return a.list() == b.list(); }
  // Identifies the shared list: copies have the same id.
  const void* id() const { return list_.get(); }

 private:
  std::shared_ptr<const List> list_;
};

}  // namespace kiln::tools
