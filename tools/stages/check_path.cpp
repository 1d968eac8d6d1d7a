#include "tools/stages/check_path.hpp"

#include "base/text.hpp"

namespace kiln::tools {
namespace {

std::string why_not(std::string_view path, std::string_view refused) {
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return "it holds a control character";
    if (refused.find(c) != std::string_view::npos) {
      return "it holds " + quote(std::string(1, c)) +
             ", which compilers take for more than a letter";
    }
  }
  return {};
}

}  // namespace

std::string why_not_a_source_path(std::string_view path) {
  if (path.starts_with('-')) return "it starts with '-', which compilers take for an option";
  if (path.starts_with('@'))
    return "it starts with '@', which compilers take for a list of options";
  return why_not(path, "\"$\\`{}");
}

// The out folder contains TMPDIR, in which clang replaces each '%'.
std::string why_not_a_folder_path(std::string_view path) { return why_not(path, "\"$\\`{}%"); }

// nvcc splits the list of include directories at commas and does not accept an apostrophe.
std::string why_not_an_include_directory(std::string_view path) { return why_not(path, "\"$\\`{}%,'"); }

}  // namespace kiln::tools
