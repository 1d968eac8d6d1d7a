#include "tools/stages/scan_includes.hpp"

#include <array>
#include <set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/stages/check_path.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

// A set of characters with fast lookup.
struct Characters {
  explicit constexpr Characters(std::string_view all) {
    for (const char c : all) has[static_cast<unsigned char>(c)] = true;
  }
  constexpr bool operator()(char c) const { return has[static_cast<unsigned char>(c)]; }
  std::array<bool, 256> has{};
};

// The characters at which the scanner stops, in code and in the two kinds of comments.
constexpr Characters kInCode("\n\\\"'/R"), kInLineComment("\n\\"), kInComment("\n*");

// Walks a C++ text character by character. Understands spliced lines, comments and literals.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  std::vector<Include> run() {
    while (!at_end()) {
      skip_blanks_and_comments();
      if (at_end()) break;
      const char c = peek();
      if (c == '#' && is_line_start_) {
        advance();
        directive();
      } else if (c == 'R' && text_.substr(at_, 2) == "R\"" && !is_word(previous_)) {
        raw_string();
      } else if (c == '"' || (c == '\'' && !is_word(previous_))) {
        literal(c);
      } else {
        if (c != '\n') is_line_start_ = false;
        advance();
        if (c != '\n') advance_to(kInCode);
      }
    }
    return std::move(found_);
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void advance() {
    previous_ = text_[at_++];
    ++column_;
    if (previous_ == '\n') {
      ++line_;
      column_ = 1;
      is_line_start_ = true;
    }
  }

  // Skips characters of the current line.
  void advance_to(const Characters& stops) {
    std::size_t end = at_;
    while (end < text_.size() && !stops(text_[end])) ++end;
    if (end == at_) return;
    previous_ = text_[end - 1];
    column_ += static_cast<std::uint32_t>(end - at_);
    at_ = end;
  }

  // A backslash at the end of a line joins it with the next one.
  bool skip_splice() {
    const std::size_t end = peek(1) == '\r' ? 2 : 1;
    if (peek() != '\\' || peek(end) != '\n') return false;
    const bool was_line_start = is_line_start_;
    for (std::size_t i = 0; i <= end; ++i) advance();
    is_line_start_ = was_line_start;
    return true;
  }

  void skip_blanks_and_comments() {
    while (!at_end()) {
      const char c = peek();
      if (skip_splice()) continue;
      if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
        advance();
      } else if (c == '/' && peek(1) == '/') {
        while (!at_end() && peek() != '\n') {
          if (!skip_splice()) advance();
          advance_to(kInLineComment);
        }
      } else if (c == '/' && peek(1) == '*') {
        const bool was_line_start = is_line_start_;
        advance();
        advance();
        advance_to(kInComment);
        while (!at_end() && !(peek() == '*' && peek(1) == '/')) {
          advance();
          advance_to(kInComment);
        }
        if (!at_end()) advance();
        if (!at_end()) advance();
        is_line_start_ = was_line_start;
      } else {
        return;
      }
    }
  }

  // Called after the '#'.
  void directive() {
    is_line_start_ = false;
    skip_blanks_and_comments();
    std::string name;
    while (is_word(peek())) {
      name += peek();
      advance();
    }
    if (name != "include" && name != "include_next") return;
    skip_blanks_and_comments();
    const char close = peek() == '"' ? '"' : peek() == '<' ? '>' : '\0';
    if (close == '\0') return;  // the path comes from a macro
    Include include{{}, close == '"', line_, column_};
    advance();
    while (!at_end() && peek() != close && peek() != '\n') {
      include.path += peek();
      advance();
    }
    if (peek() != close || include.path.empty()) return;
    advance();
    found_.push_back(std::move(include));
  }

  void literal(char quote) {
    is_line_start_ = false;
    advance();
    while (!at_end() && peek() != quote && peek() != '\n') {
      if (peek() == '\\') advance();
      if (!at_end()) advance();
    }
    if (!at_end()) advance();
  }

  // R"delimiter( ... )delimiter"
  void raw_string() {
    is_line_start_ = false;
    advance();
    advance();
    std::string end = ")";
    while (!at_end() && peek() != '(' && peek() != '\n') {
      end += peek();
      advance();
    }
    end += '"';
    while (!at_end() && text_.substr(at_, end.size()) != end) advance();
    for (std::size_t i = 0; i < end.size() && !at_end(); ++i) advance();
    is_line_start_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1, column_ = 1;
  char previous_ = '\n';
  bool is_line_start_ = true;
  std::vector<Include> found_;
};

bool leaves_folder(const fs::path& normal) {
  return normal.is_absolute() || (!normal.empty() && *normal.begin() == "..");
}

}  // namespace

std::vector<Include> find_includes(std::string_view text) { return Scanner(text).run(); }

Result<const std::vector<Include>*> IncludeScanner::includes_of(const std::string& file) {
  const auto known = includes_.find(file);
  if (known != includes_.end()) return &known->second;
  KILN_TRY_ASSIGN(const std::string text, files_.read(manifest_.directory / file));
  return &includes_.emplace(file, find_includes(text)).first->second;
}

// Returns the local file that an include refers to, or an empty string if it is not local.
Result<std::string> IncludeScanner::resolve(
    const std::string& from, const Include& include, const Directories& directories) {
  const auto local = [&](const fs::path& folder) -> std::string {
    const fs::path normal = (folder / include.path).lexically_normal();
    if (leaves_folder(normal)) return {};
    std::string path = normal.generic_string();
    return is_file(path) ? path : std::string();
  };
  const fs::path folder = fs::path(from).parent_path();
  if (include.is_quoted) {
    if (std::string found = local(folder); !found.empty()) return found;
  }
  for (const std::string& directory : directories) {
    if (fs::path(directory).is_absolute()) continue;
    if (std::string found = local(directory); !found.empty()) return found;
  }
  // "./x" and "../x" can only refer to a file relative to the including file.
  const bool must_be_local = include.is_quoted && include.path.starts_with('.');
  if (!must_be_local) return std::string();
  const Location where{(manifest_.path.parent_path() / from).generic_string(), include.line,
                       include.column};
  const fs::path normal = (folder / include.path).lexically_normal();
  if (leaves_folder(normal)) {
    return Error{ErrorCode::kInvalidInput,
                 "include " + quote(include.path) + " lies outside the manifest's folder", where}
        .hint("move the header below the folder of " + quote(manifest_.path.filename().string()) +
              ", put a link to it there, or move the manifest up");
  }
  Error error{ErrorCode::kInvalidInput, "include " + quote(include.path) + " does not exist", where};
  if (const auto names = files_.list(manifest_.directory / normal.parent_path())) {
    const std::string near = nearest_file(normal.filename().string(), *names);
    if (!near.empty()) error.hint("did you mean " + quote(near) + "?");
  }
  return error;
}

bool IncludeScanner::is_file(const std::string& path) {
  const auto [known, is_new] = is_file_.try_emplace(path);
  if (is_new) known->second = files_.kind(manifest_.directory / path) == PathKind::kFile;
  return known->second;
}

Result<const std::vector<std::string>*> IncludeScanner::headers_of(const std::string& file,
                                                                   const Directories& directories) {
  auto& known = headers_[directories];
  const auto found = known.find(file);
  if (found != known.end()) return &found->second;
  KILN_TRY_ASSIGN(const std::vector<Include>* includes, includes_of(file));
  std::vector<std::string> headers;
  for (const Include& include : *includes) {
    KILN_TRY_ASSIGN(std::string header, resolve(file, include, directories));
    if (header.empty()) continue;
    if (const std::string why = why_not_a_source_path(header); !why.empty()) {
      return Error{
          ErrorCode::kInvalidInput,
          "include " + quote(include.path) + " cannot be given to the compilers",
          {(manifest_.path.parent_path() / file).generic_string(), include.line, include.column}}
          .note(why)
          .hint("rename it");
    }
    headers.push_back(std::move(header));
  }
  return &known.emplace(file, std::move(headers)).first->second;
}

Result<std::vector<std::string>> IncludeScanner::closure(
    const std::string& source, const std::vector<std::string>& directories) {
  std::set<std::string> reached = {source};
  std::vector<std::string> to_scan = {source};
  while (!to_scan.empty()) {
    const std::string file = std::move(to_scan.back());
    to_scan.pop_back();
    KILN_TRY_ASSIGN(const std::vector<std::string>* headers, headers_of(file, directories));
    for (const std::string& header : *headers) {
      if (reached.insert(header).second) to_scan.push_back(header);
    }
  }
  return std::vector<std::string>(reached.begin(), reached.end());
}

}  // namespace kiln::tools
