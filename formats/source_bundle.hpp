// Everything that a unit is compiled from, as one text: its source, the headers that it reaches,
// and the options that affect them. `kiln build --embed-source` writes it, and the runtime compiles
// it.
//
//   bundle  = "kiln source 1\n" line* file*
//   line    = "define " text "\n" | "include " path "\n"
//           | ("flag " | "amd_flag " | "nvidia_flag " | "host_flag ") text "\n"
//   file    = "file " size " " path "\n", then `size` bytes and "\n"
//
// If an option or a path contains a newline, the first line is "kiln source 2\n". In all options
// and paths, "\n" then stands for a newline and "\\" for a backslash.
//
// Paths are relative, use '/' and do not leave the folder. The first file is the one to compile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"

namespace kiln {

struct SourceBundle {
  struct File {
    std::string path;
    std::string text;
  };
  std::vector<std::string> defines;              // "NAME" or "NAME=VALUE"
  std::vector<std::string> include_directories;  // relative to the same folder as the files
  std::vector<std::string> flags;                // for every compiler; then each vendor's own
  std::vector<std::string> amd_flags, nvidia_flags, host_flags;
  std::vector<File> files;  // at least one
};

// Options must hold no newline.
std::string write_source_bundle(const SourceBundle& bundle);

// Errors: kInvalidInput for a text of another format and for paths that leave the folder.
Result<SourceBundle> read_source_bundle(std::string_view text);

}  // namespace kiln
