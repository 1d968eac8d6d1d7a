#include "formats/source_bundle.hpp"

#include <charconv>
#include <utility>

#include "formats/byte_reader.hpp"

namespace kiln {
namespace {

constexpr std::string_view kFirstLine = "kiln source 1";

struct OptionList {
  std::string_view label;
  std::vector<std::string> SourceBundle::*list;
};
constexpr OptionList kOptionLists[] = {
    {"define ", &SourceBundle::defines},
    {"include ", &SourceBundle::include_directories},
    {"flag ", &SourceBundle::flags},
    {"amd_flag ", &SourceBundle::amd_flags},
    {"nvidia_flag ", &SourceBundle::nvidia_flags},
    {"host_flag ", &SourceBundle::host_flags},
};

Error damaged(const std::string& what) { return malformed("damaged source bundle: " + what); }

bool stays_inside(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  for (std::string_view rest = path;;) {
    const std::size_t end = rest.find('/');
    if (rest.substr(0, end) == "..") return false;
    if (end == std::string_view::npos) return true;
    rest.remove_prefix(end + 1);
  }
}

// Takes the next line off `text`; without its newline.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

Result<SourceBundle::File> take_file(std::string_view line, std::string_view& text) {
  line.remove_prefix(std::string_view("file ").size());
  std::size_t size = 0;
  const auto read = std::from_chars(line.data(), line.data() + line.size(), size);
  const auto digits = static_cast<std::size_t>(read.ptr - line.data());
  const bool is_whole = read.ec == std::errc() && size < text.size() && text[size] == '\n';
  if (!is_whole || digits >= line.size() || line[digits] != ' ') {
    return damaged("a file is not all there");
  }
  SourceBundle::File file{std::string(line.substr(digits + 1)), std::string(text.substr(0, size))};
  if (!stays_inside(file.path)) return damaged("the path '" + file.path + "' leaves the folder");
  text.remove_prefix(size + 1);
  return file;
}

}  // namespace

std::string write_source_bundle(const SourceBundle& bundle) {
  std::string text = std::string(kFirstLine) + "\n";
  for (const auto& [label, list] : kOptionLists) {
    for (const std::string& option : bundle.*list) {
      text.append(label).append(option).append("\n");
    }
  }
  for (const SourceBundle::File& file : bundle.files) {
    text += "file " + std::to_string(file.text.size()) + " " + file.path + "\n" + file.text + "\n";
  }
  return text;
}

Result<SourceBundle> read_source_bundle(std::string_view text) {
  SourceBundle bundle;
  if (take_line(text) != kFirstLine) return damaged("it does not start with 'kiln source 1'");
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with("file ")) {
      Result<SourceBundle::File> file = take_file(line, text);
      if (!file) return std::move(file).error();
      bundle.files.push_back(std::move(*file));
      continue;
    }
    bool is_known = false;
    for (const auto& [label, list] : kOptionLists) {
      if (!line.starts_with(label)) continue;
      (bundle.*list).emplace_back(line.substr(label.size()));
      is_known = true;
    }
    if (!is_known) return damaged("unknown line '" + std::string(line.substr(0, 40)) + "'");
  }
  if (bundle.files.empty()) return damaged("it holds no file");
  return bundle;
}

}  // namespace kiln
