// Files in memory, with a clock that advances at every change, and with calls that fail on request.
//
// Passes the same contract suite as the real files
// (tests/unit/tools/system/files_contract_test.cpp).
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "tests/support/faults.hpp"
#include "tools/system/files.hpp"

namespace kiln::testing {

class FakeFiles final : public tools::Files {
 public:
  mutable Faults reads;  // read, list
  Faults writes;         // write, rename, make_directories, remove_all, touch
  std::map<std::string, tools::PathKind> special_files;  // paths that are neither files nor folders
  std::map<std::string, std::string> untrusted;          // folders, with the reason
  std::set<std::string> recent_links;           // files behind links that were created just now
  std::map<std::string, std::string> links;     // files that count as links, with what they say
  std::vector<std::string> links_to_elsewhere;  // folders that link to outside of every root
  // Changes within a tick have the same time; touch() begins the next tick.
  std::int64_t tick_length = 1;

  tools::PathKind kind(const std::filesystem::path& path) const override {
    const std::lock_guard lock(mutex_);
    if (const auto found = special_files.find(key(path)); found != special_files.end()) {
      return found->second;
    }
    const auto found = nodes_.find(key(path));
    if (found == nodes_.end()) return tools::PathKind::kNone;
    return found->second.is_folder ? tools::PathKind::kFolder : tools::PathKind::kFile;
  }

  std::filesystem::path link_target(const std::filesystem::path& path) const override {
    const auto found = links.find(key(path));
    return found == links.end() ? "" : found->second;
  }

  bool leads_outside(const std::filesystem::path&, const std::filesystem::path& path) const override {
    return std::any_of(links_to_elsewhere.begin(), links_to_elsewhere.end(),
                       [&](const std::string& link) { return key(path).starts_with(link + "/"); });
  }

  bool path_redirected_since(const std::filesystem::path& path, std::int64_t) const override {
    return recent_links.contains(key(path));
  }

  std::string why_untrusted(const std::filesystem::path& folder) const override {
    const auto found = untrusted.find(key(folder));
    return found == untrusted.end() ? "" : found->second;
  }

  Result<std::filesystem::path> make_unique_folder(const std::filesystem::path& parent) override {
    const std::lock_guard lock(mutex_);
    if (writes.strike()) return fault("make folder", parent);
    const std::string folder = key(parent / ("unique-" + std::to_string(++unique_folders_)));
    if (auto made = make_folders(folder); !made) return made.error();
    return std::filesystem::path(folder);
  }

  Result<std::string> read(const std::filesystem::path& path) const override {
    const std::lock_guard lock(mutex_);
    if (reads.strike()) return fault("read", path);
    const auto found = nodes_.find(key(path));
    if (found == nodes_.end()) {
      return error("read", path, ErrorCode::kInvalidInput, "No such file or directory");
    }
    ++read_counts_[key(path)];
    if (found->second.is_folder) {
      return error("read", path, ErrorCode::kEnvironment, "Is a directory");
    }
    return found->second.bytes;
  }

  Result<Digest> digest(const std::filesystem::path& path) const override {
    const Result<std::string> bytes = read(path);
    if (!bytes) return bytes.error();
    return sha256(*bytes);
  }

  Result<void> write(const std::filesystem::path& path, std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    if (writes.strike()) return fault("write", path);
    return put(path, bytes);
  }

  std::optional<tools::FileStatus> status(const std::string& path) const override {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(key(path));
    if (found == nodes_.end()) return std::nullopt;
    const Node& node = found->second;
    return tools::FileStatus{.device = 1,
                             .inode = node.inode,
                             .size = node.bytes.size(),
                             .modified_ns = node.modified,
                             .changed_ns = node.changed};
  }

  Result<void> touch(const std::filesystem::path& path) override {
    const std::lock_guard lock(mutex_);
    if (writes.strike()) return fault("touch", path);
    const auto found = nodes_.find(key(path));
    if (found == nodes_.end()) {
      return error("touch", path, ErrorCode::kEnvironment, "No such file or directory");
    }
    clock_ += tick_length;
    found->second.modified = found->second.changed = tick();
    return {};
  }

  Result<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    const std::lock_guard lock(mutex_);
    if (writes.strike()) return fault("rename", from);
    const std::string source = key(from), target = key(to);
    const auto found = nodes_.find(source);
    if (found == nodes_.end() || !nodes_.contains(parent(target))) {
      return error("rename", from, ErrorCode::kEnvironment, "No such file or directory");
    }
    const auto replaced = nodes_.find(target);
    if (replaced != nodes_.end()) {
      if (replaced->second.is_folder != found->second.is_folder) {
        return error("rename", from, ErrorCode::kEnvironment,
                     replaced->second.is_folder ? "Is a directory" : "Not a directory");
      }
      if (replaced->second.is_folder && has_children(target)) {
        return error("rename", from, ErrorCode::kEnvironment, "Directory not empty");
      }
      nodes_.erase(replaced);
    }
    std::vector<std::pair<std::string, Node>> moved;
    for (auto node = nodes_.begin(); node != nodes_.end();) {
      if (node->first == source || node->first.starts_with(source + "/")) {
        moved.emplace_back(target + node->first.substr(source.size()), std::move(node->second));
        node = nodes_.erase(node);
      } else {
        ++node;
      }
    }
    for (auto& [path, node] : moved) nodes_[path] = std::move(node);
    nodes_[target].changed = tick();
    return {};
  }

  Result<void> make_directories(const std::filesystem::path& path) override {
    const std::lock_guard lock(mutex_);
    if (writes.strike()) return fault("make folder", path);
    return make_folders(key(path));
  }

  Result<void> remove_all(const std::filesystem::path& path) override {
    const std::lock_guard lock(mutex_);
    if (writes.strike()) return fault("remove", path);
    const std::string target = key(path);
    std::erase_if(nodes_, [&](const auto& node) {
      return node.first == target || node.first.starts_with(target + "/");
    });
    return {};
  }

  Result<std::vector<std::string>> list(const std::filesystem::path& folder) const override {
    const std::lock_guard lock(mutex_);
    if (reads.strike()) return fault("list", folder);
    const std::string base = key(folder);
    const auto found = nodes_.find(base);
    if (found == nodes_.end()) {
      return error("list", folder, ErrorCode::kInvalidInput, "No such file or directory");
    }
    if (!found->second.is_folder) {
      return error("list", folder, ErrorCode::kEnvironment, "Not a directory");
    }
    std::vector<std::string> names;
    for (const auto& [path, node] : nodes_) {
      if (path != base && parent(path) == base) {
        names.push_back(path.substr(path.rfind('/') + 1));
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // For tests: returns every file below `folder` with its bytes, and how often a file was read.
  std::map<std::string, std::string> snapshot(const std::filesystem::path& folder) const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::string> result;
    for (const auto& [path, node] : nodes_) {
      if (!node.is_folder && path.starts_with(key(folder) + "/")) result[path] = node.bytes;
    }
    return result;
  }
  // Sets the modification time, like utimes(). The change time stays that of the clock.
  void set_modified(const std::filesystem::path& path, std::int64_t nanoseconds) {
    const std::lock_guard lock(mutex_);
    nodes_.at(key(path)).modified = nanoseconds;
  }
  unsigned read_count(const std::filesystem::path& path) const {
    const std::lock_guard lock(mutex_);
    const auto found = read_counts_.find(key(path));
    return found == read_counts_.end() ? 0 : found->second;
  }

 private:
  struct Node {
    bool is_folder = false;
    std::string bytes;
    std::uint64_t inode = 0;
    std::int64_t modified = 0, changed = 0;
  };

  // Avoids std::filesystem for a path that is already normal, because fuzz targets call this
  // millions of times.
  static std::string key(const std::filesystem::path& path) {
    const std::string& original = path.native();
    const bool is_normal = original.starts_with('/') && !original.ends_with('/') &&
                           original.find("//") == std::string::npos &&
                           original.find("/.") == std::string::npos;
    std::string text = is_normal ? original : path.lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
  }
  static std::string parent(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return "";
    return path.substr(0, std::max<std::size_t>(slash, 1));
  }
  static Error error(std::string_view verb, const std::filesystem::path& path, ErrorCode code,
                     std::string_view why) {
    return {code,
            "cannot " + std::string(verb) + " " + quote(path.string()) + ": " + std::string(why),
            {},
            {}};
  }
  static Error fault(std::string_view verb, const std::filesystem::path& path) {
    return error(verb, path, ErrorCode::kEnvironment, "No space left on device");
  }

  bool has_children(const std::string& folder) const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [&](const auto& node) { return node.first.starts_with(folder + "/"); });
  }

  Result<void> make_folders(const std::string& path) {
    if (path.empty() || path == "/" || path == ".") {
      nodes_[path].is_folder = true;
      return {};
    }
    const auto found = nodes_.find(path);
    if (found != nodes_.end()) {
      if (found->second.is_folder) return {};
      return error("make folder", path, ErrorCode::kEnvironment, "Not a directory");
    }
    if (auto made = make_folders(parent(path)); !made) return made;
    nodes_[path] = Node{.is_folder = true,
                        .bytes = {},
                        .inode = ++last_inode_,
                        .modified = tick(),
                        .changed = tick()};
    return {};
  }

  Result<void> put(const std::filesystem::path& path, std::string_view bytes) {
    const std::string target = key(path);
    if (auto made = make_folders(parent(target)); !made) return made;
    const auto found = nodes_.find(target);
    if (found != nodes_.end() && found->second.is_folder) {
      return error("write", path, ErrorCode::kEnvironment, "Is a directory");
    }
    const std::int64_t now = tick();
    nodes_[target] = Node{.is_folder = false,
                          .bytes = std::string(bytes),
                          .inode = ++last_inode_,
                          .modified = now,
                          .changed = now};
    // A write is a rename into the folder.
    Node& folder = nodes_[parent(target)];
    folder.modified = folder.changed = now;
    return {};
  }

  // Starts far in the past, so that no file counts as "changed just now".
  std::int64_t tick() {
    clock_ += 1'000'001;
    return clock_ - clock_ % tick_length;
  }

  mutable std::mutex mutex_;
  std::map<std::string, Node> nodes_;
  mutable std::map<std::string, unsigned> read_counts_;
  std::uint64_t last_inode_ = 0;
  unsigned unique_folders_ = 0;
  std::int64_t clock_ = 0;
};

}  // namespace kiln::testing
