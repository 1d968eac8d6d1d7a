// What probing the tools told, remembered per user under the file status of all it depends on.
//
// Kept in <cache folder>/tools, sealed text (tools/system/sealed_text.hpp):
//
//   { key " " what was told, as JSON "\n" }    of which only what is asked for is read
//
// A memory that is cut short, changed or of another format is an empty one: everything is probed
// again, nothing breaks.
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
  // An empty path is none: nothing is known, and nothing is kept.
  explicit ToolMemory(Files& files, std::filesystem::path path);

  // What was learned under `key`, if no file or folder that it depends on has changed since.
  std::optional<Probe> recall(const std::string& key) const;
  void remember(const std::string& key, Probe probe);
  // Writes the file, if anything was remembered since it was read. A failure is no error: the tools
  // are probed again next time.
  void save();

 private:
  Files& files_;
  std::filesystem::path path_;
  std::optional<FileStatus> look(const std::string& path) const;

  std::map<std::string, std::string, std::less<>> entries_;  // JSON by key
  // What recall() saw: most of the libraries are those of several tools.
  mutable std::map<std::string, std::optional<FileStatus>, std::less<>> seen_;
  bool is_changed_ = false;
};

}  // namespace kiln::tools
