// The results of probing tools, stored per user with the status of all files that each result
// depends on.
//
// Kept in <cache folder>/tools as sealed text (tools/system/sealed_text.hpp):
//
//   { key " " the probe as JSON "\n" }    only the entries that are asked for are parsed
//
// A file that is cut short, changed or of another format counts as empty: every tool is probed
// again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/engine/probe_tool.hpp"

namespace kiln::tools {

class ProbeCache {
 public:
  // With an empty path, nothing is found and nothing is stored.
  explicit ProbeCache(Files& files, std::filesystem::path path);

  // Returns what was learned under `key` if no file or folder that it depends on has changed since.
  std::optional<Probe> find(const std::string& key) const;
  void store(const std::string& key, Probe probe);
  // Writes the file if anything was stored since it was read. A failure is ignored: the tools
  // are then probed again next time.
  void save();

 private:
  Files& files_;
  std::filesystem::path path_;
  std::optional<FileStatus> status_of(const std::string& path) const;

  std::map<std::string, std::string, std::less<>> entries_;  // JSON by key
  // by path, for find(): tools share most of their libraries
  mutable std::map<std::string, std::optional<FileStatus>, std::less<>> status_;
  bool is_changed_ = false;
};

}  // namespace kiln::tools
