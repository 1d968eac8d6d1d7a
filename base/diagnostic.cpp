#include "base/diagnostic.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace kiln {
namespace {

constexpr std::string_view kReset = "\033[0m";
constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kRed = "\033[1;31m";
constexpr std::string_view kCyan = "\033[1;36m";
constexpr std::string_view kGreen = "\033[1;32m";

std::string paint(std::string_view text, std::string_view style, Color color) {
  if (color == Color::kNo) return std::string(text);
  return std::string(style) + std::string(text) + std::string(kReset);
}

std::string prefix(const Location& where) {
  const std::string place = to_string(where);
  return place.empty() ? "" : place + ": ";
}

}  // namespace

std::string to_string(const Location& where) {
  std::string text = where.file;
  if (where.line != 0) text += ":" + std::to_string(where.line);
  if (where.line != 0 && where.column != 0) text += ":" + std::to_string(where.column);
  return text;
}

std::string render(const Error& error, Color color, std::string_view program) {
  std::string text = std::string(program) + ": " + paint("error:", kRed, color) + " " +
                     paint(printable(prefix(error.where) + error.message), kBold, color) + "\n";
  for (const Note& note : error.notes) {
    const bool is_hint = note.kind == Note::Kind::kHint;
    text += paint(is_hint ? "hint:" : "note:", is_hint ? kGreen : kCyan, color) + " " +
            printable(prefix(note.where) + note.text) + "\n";
  }
  for (const Error& other : error.others) text += render(other, color, program);
  return text;
}

Error merge_errors(std::vector<Error> errors) {
  Error merged = std::move(errors.front());
  for (std::size_t i = 1; i < errors.size(); ++i) {
    std::vector<Error> nested = std::exchange(errors[i].others, {});
    merged.others.push_back(std::move(errors[i]));
    for (Error& error : nested) merged.others.push_back(std::move(error));
  }
  return merged;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool is_same = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j - 1] + (is_same ? 0 : 1), last[j] + 1, row[j - 1] + 1});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_file(std::string_view name, const std::vector<std::string>& names) {
  const std::filesystem::path path(name);
  std::vector<std::string> stems;
  for (const std::filesystem::path candidate : names) {
    if (candidate.stem() == path.stem()) return candidate.string();
    if (candidate.extension() == path.extension()) stems.push_back(candidate.stem().string());
  }
  const std::string near = nearest(path.stem().string(), stems);
  return near.empty() ? near : near + path.extension().string();
}

}  // namespace kiln
