// The results of probing tools, stored per user with the status of all files that each result
// depends on.
//
// Kept in <cache folder>/tools as sealed text (tools/system/sealed_text.hpp):
//
//   { key " " the probe as JSON "\n" }    only the entries that are asked for are parsed
//
// A memory that is cut short, changed or of another format counts as empty: every tool is probed
// again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/engine/probe_tool.hpp"

namespace kiln::tools {

class ToolMemory {
 public:
  // With an empty path nothing is known and nothing is kept.
  explicit ToolMemory(Files& files, std::filesystem::path path);

  // Returns what was learned under `key` if no file or folder that it depends on has changed since.
  std::optional<Probe> recall(const std::string& key) const;
  void remember(const std::string& key, Probe probe);
  // Writes the file if anything was remembered since it was read. A failure is ignored: the tools
  // are then probed again next time.
  void save();

 private:
  Files& files_;
  std::filesystem::path path_;
  std::optional<FileStatus> look(const std::string& path) const;

  std::map<std::string, std::string, std::less<>> entries_;  // JSON by key
  // Cache of file status for recall(): tools share most of their libraries.
  mutable std::map<std::string, std::optional<FileStatus>, std::less<>> seen_;
  bool is_changed_ = false;
};

}  // namespace kiln::tools
