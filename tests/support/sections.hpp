// Test inputs with several files in one text:
//
//   free text: what the case is about
//   --- targets.json
//   {...}
//   --- expected
//   kiln: error: ...
//
// A section extends to the next "--- " line.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace kiln::testing {

using Sections = std::vector<std::pair<std::string, std::string>>;  // name, text

inline Sections read_sections(const std::filesystem::path& path) {
  std::ifstream stream(path);
  Sections sections;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("--- ")) {
      sections.emplace_back(std::string(trim(line.substr(4))), "");
    } else if (!sections.empty()) {
      sections.back().second += line + "\n";
    }
  }
  return sections;
}

// Returns the text of a section, or `otherwise` if there is no such section.
inline std::string section(const Sections& sections, std::string_view name,
                           std::string otherwise = {}) {
  for (const auto& [found, text] : sections) {
    if (found == name) return text;
  }
  return otherwise;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Returns the files of a folder with that extension, sorted.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                                   std::string_view extension) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace kiln::testing
