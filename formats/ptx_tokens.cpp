#include "formats/ptx_tokens.hpp"

#include <algorithm>
#include <array>

namespace kiln {
namespace {

// Classes of a byte.
enum : std::uint8_t { kOther = 0, kBlank = 1, kWordPart = 2, kDigit = 4, kWordStart = 8 };
constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (const char c : std::string_view(" \t\r\n\v\f")) {
    classes[static_cast<unsigned char>(c)] = kBlank;
  }
  for (unsigned c = '0'; c <= '9'; ++c) classes[c] = kDigit | kWordPart;
  for (unsigned c = 'a'; c <= 'z'; ++c) classes[c] = kWordStart | kWordPart;
  for (unsigned c = 'A'; c <= 'Z'; ++c) classes[c] = kWordStart | kWordPart;
  for (const char c : std::string_view("_$%")) {
    classes[static_cast<unsigned char>(c)] = kWordStart | kWordPart;
  }
  return classes;
}();
bool is(char c, std::uint8_t classes) {
  return (kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

}  // namespace

PtxToken PtxTokenizer::next() {
  skip_blank();
  start_ = position_;
  if (position_ == text_.size()) return {};
  const char first = text_[position_];
  if (first == '.' || is(first, kWordStart)) {
    ++position_;
    const bool is_directive = first == '.';
    while (position_ < text_.size() &&
           (is(text_[position_], kWordPart) || (!is_directive && text_[position_] == '.'))) {
      ++position_;
    }
    return token(PtxTokenKind::kWord);
  }
  if (is(first, kDigit)) {
    while (position_ < text_.size() && (is(text_[position_], kWordPart) || text_[position_] == '.'))
      ++position_;
    return token(PtxTokenKind::kNumber);
  }
  if (first == '"') {
    const std::size_t end = text_.find('"', position_ + 1);
    position_ = end == std::string_view::npos ? text_.size() : end + 1;
    return token(end == std::string_view::npos ? PtxTokenKind::kUnfinished : PtxTokenKind::kString);
  }
  if (first == '/' && text_.substr(position_).starts_with("/*")) {  // skip_blank found no end of it
    position_ = text_.size();
    return token(PtxTokenKind::kUnfinished);
  }
  ++position_;
  return token(PtxTokenKind::kMark);
}

Location PtxTokenizer::where() const {
  const std::string_view before = text_.substr(0, start_);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  Location location;
  location.line = 1 + static_cast<std::uint32_t>(std::ranges::count(before, '\n'));
  location.column = 1 + static_cast<std::uint32_t>(start_ - line_start);
  return location;
}

PtxToken PtxTokenizer::token(PtxTokenKind kind) const {
  return {kind, text_.substr(start_, position_ - start_)};
}

void PtxTokenizer::skip_blank() {
  while (position_ < text_.size()) {
    if (is(text_[position_], kBlank)) {
      ++position_;
    } else if (text_[position_] == '/' && text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (text_[position_] == '/' && text_.substr(position_, 2) == "/*") {
      const std::size_t end = text_.find("*/", position_ + 2);
      if (end == std::string_view::npos) return;
      position_ = end + 2;
    } else {
      return;
    }
  }
}

}  // namespace kiln
