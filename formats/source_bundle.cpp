#include "formats/source_bundle.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "formats/byte_reader.hpp"

namespace kiln {
namespace {

constexpr std::string_view kPlain = "kiln source 1", kEscaped = "kiln source 2";

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

// Escapes text for a line: a newline in it would start another line.
std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? 'n' : c;
  }
  return escaped;
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size();
    if (is_escape) ++i;
    plain += is_escape && text[i] == 'n' ? '\n' : text[i];
  }
  return plain;
}

// True if no text contains a newline.
bool fits_lines(const SourceBundle& bundle) {
  const auto fits = [](const std::string& text) { return text.find('\n') == std::string::npos; };
  for (const auto& [label, list] : kOptionLists) {
    if (!std::ranges::all_of(bundle.*list, fits)) return false;
  }
  return std::ranges::all_of(bundle.files, fits, &SourceBundle::File::path);
}

Error damaged_bundle(const std::string& what) {
  return malformed("damaged source bundle: " + what);
}

bool stays_inside(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  for (std::string_view rest = path;;) {
    const std::size_t end = rest.find('/');
    if (rest.substr(0, end) == "..") return false;
    if (end == std::string_view::npos) return true;
    rest.remove_prefix(end + 1);
  }
}

// Removes the next line from `text` and returns it without its newline.
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
    return damaged_bundle("a file is not all there");
  }
  SourceBundle::File file{std::string(line.substr(digits + 1)), std::string(text.substr(0, size))};
  text.remove_prefix(size + 1);
  return file;
}

}  // namespace

std::string write_source_bundle(const SourceBundle& bundle) {
  const bool is_plain = fits_lines(bundle);
  const auto line_of = [&](const std::string& text) { return is_plain ? text : escape(text); };
  std::string text = std::string(is_plain ? kPlain : kEscaped) + "\n";
  for (const auto& [label, list] : kOptionLists) {
    for (const std::string& option : bundle.*list) {
      text.append(label).append(line_of(option)).append("\n");
    }
  }
  for (const SourceBundle::File& file : bundle.files) {
    text += "file " + std::to_string(file.text.size()) + " " + line_of(file.path) + "\n";
    text += file.text + "\n";
  }
  return text;
}

Result<SourceBundle> read_source_bundle(std::string_view text) {
  SourceBundle bundle;
  const std::string_view first = take_line(text);
  if (first != kPlain && first != kEscaped) {
    return damaged_bundle("it does not start with 'kiln source 1'");
  }
  const auto text_of = [&](std::string_view line) {
    return first == kPlain ? std::string(line) : unescape(line);
  };
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with("file ")) {
      Result<SourceBundle::File> file = take_file(line, text);
      if (!file) return std::move(file).error();
      file->path = text_of(file->path);
      if (!stays_inside(file->path)) {
        return damaged_bundle("the path '" + file->path + "' leaves the folder");
      }
      bundle.files.push_back(std::move(*file));
      continue;
    }
    bool is_known = false;
    for (const auto& [label, list] : kOptionLists) {
      if (!line.starts_with(label)) continue;
      (bundle.*list).push_back(text_of(line.substr(label.size())));
      is_known = true;
    }
    if (!is_known) return damaged_bundle("unknown line '" + std::string(line.substr(0, 40)) + "'");
  }
  if (bundle.files.empty()) return damaged_bundle("it holds no file");
  return bundle;
}

}  // namespace kiln
