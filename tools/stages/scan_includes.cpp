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

constexpr std::string_view kHasInclude = "__has_include", kHasIncludeNext = "__has_include_next";

// "x" or <x>, not the name of a macro.
bool names_header(std::string_view name) {
  return name.size() > 2 && ((name.front() == '"' && name.back() == '"') ||
                             (name.front() == '<' && name.back() == '>'));
}
std::string unquoted(std::string_view header_name) {
  return std::string(header_name.substr(1, header_name.size() - 2));
}

// Walks a C++ text character by character. Understands spliced lines, comments and literals.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  FoundIncludes run() {
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

  std::string take_word() {
    std::string word;
    for (; is_word(peek()); advance()) word += peek();
    return word;
  }

  // Takes "x" or <x> with the quotes, or a word. Returns an empty string if there is none of them.
  std::string take_header_name() {
    const char close = peek() == '"' ? '"' : peek() == '<' ? '>' : '\0';
    if (close == '\0') return take_word();
    std::string name;
    do {
      name += peek();
      advance();
    } while (!at_end() && peek() != close && peek() != '\n');
    if (peek() != close || name.size() == 1) return {};
    advance();
    return name + close;
  }

  // Called after the '#'.
  void directive() {
    is_line_start_ = false;
    skip_blanks_and_comments();
    const std::string name = take_word();
    if (name == "include") return include(IncludeForm::kInclude);
    if (name == "include_next") return include(IncludeForm::kIncludeNext);
    if (name == "define") define();
    rest_of_directive();
  }

  void include(IncludeForm form) {
    skip_blanks_and_comments();
    Include include{{}, peek() == '"', line_, column_, form};
    const bool is_computed = is_word(peek());
    include.path = take_header_name();
    if (include.path.empty()) return;
    if (!is_computed) include.path = unquoted(include.path);
    (is_computed ? found_.computed : found_.includes).push_back(std::move(include));
  }

  // Notes a macro without parameters that may name a header.
  void define() {
    skip_blanks_and_comments();
    std::string name = take_word();
    if (peek() == '(') return;
    skip_blanks_and_comments();
    if (peek() == 'R' && peek(1) == '"') return;
    std::string value = take_header_name();
    if (value == kHasInclude || value == kHasIncludeNext) {
      has_include();
    } else if (!value.empty()) {
      found_.macros.push_back({std::move(name), std::move(value)});
    }
  }

  void rest_of_directive() {
    for (skip_blanks_and_comments(); !at_end() && peek() != '\n'; skip_blanks_and_comments()) {
      const char c = peek();
      if (c == 'R' && peek(1) == '"') {
        raw_string();
      } else if (is_word(c)) {
        const std::string word = take_word();
        if (word == kHasInclude || word == kHasIncludeNext) has_include();
        if (peek() == '\'') advance();  // between digits
      } else if (c == '"' || c == '\'') {
        literal(c);
      } else {
        advance();
      }
    }
  }

  // Called after the word.
  void has_include() {
    skip_blanks_and_comments();
    if (peek() != '(') return;
    advance();
    include(IncludeForm::kHasInclude);
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
  FoundIncludes found_;
};

using Macros = std::multimap<std::string_view, std::string_view>;

// Adds what a macro may stand for, "x" or <x>, however many other macros lie between.
void expand(std::string_view name, const Macros& macros, std::set<std::string_view>& seen,
            std::set<std::string_view>& headers) {
  if (!seen.insert(name).second) return;
  const auto [first, last] = macros.equal_range(name);
  for (auto macro = first; macro != last; ++macro) {
    const std::string_view value = macro->second;
    if (names_header(value)) {
      headers.insert(value);
    } else {
      expand(value, macros, seen, headers);
    }
  }
}

bool leaves_folder(const fs::path& normal) {
  return normal.is_absolute() || (!normal.empty() && *normal.begin() == "..");
}

}  // namespace

FoundIncludes find_includes(std::string_view text) { return Scanner(text).run(); }

Result<const FoundIncludes*> IncludeScanner::includes_of(const std::string& file) {
  const auto known = includes_.find(file);
  if (known != includes_.end()) return &known->second;
  KILN_TRY_ASSIGN(const std::string text, files_.read(manifest_.directory / file));
  return &includes_.emplace(file, find_includes(text)).first->second;
}

// Returns the local file that an include refers to, or nothing if it is not local. An #include_next
// refers to one of the files of that name, and which one depends on the includes before it, so all
// of them are returned.
IncludeScanner::Paths IncludeScanner::find(const std::string& from, const Include& include,
                                           const Directories& directories) {
  Paths found;
  const auto look_in = [&](const fs::path& folder) {
    const fs::path normal = (folder / include.path).lexically_normal();
    if (leaves_folder(normal)) return;
    if (std::string path = normal.generic_string(); is_file(path)) found.push_back(std::move(path));
  };
  if (include.is_quoted) look_in(fs::path(from).parent_path());
  for (const std::string& directory : directories) {
    if (!found.empty() && include.form != IncludeForm::kIncludeNext) break;
    if (!fs::path(directory).is_absolute()) look_in(directory);
  }
  return found;
}

// Checks that compilers can be given what was found, and that an #include of "./x" or "../x", which
// can only refer to a file relative to the including one, has found it.
Result<void> IncludeScanner::check_found(const Paths& found, const std::string& from,
                                         const Include& include) const {
  const Location where{(manifest_.path.parent_path() / from).generic_string(), include.line,
                       include.column};
  for (const std::string& header : found) {
    const std::string why = why_not_a_source_path(header);
    if (why.empty()) continue;
    return Error{ErrorCode::kInvalidInput,
                 "include " + quote(include.path) + " cannot be given to the compilers", where}
        .note(why)
        .hint("rename it");
  }
  const bool must_be_local =
      include.form == IncludeForm::kInclude && include.is_quoted && include.path.starts_with('.');
  if (!found.empty() || !must_be_local) return {};
  const fs::path normal = (fs::path(from).parent_path() / include.path).lexically_normal();
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

Result<const IncludeScanner::Paths*> IncludeScanner::headers_of(const std::string& file,
                                                                const Directories& directories) {
  auto& known = headers_[directories];
  const auto found = known.find(file);
  if (found != known.end()) return &found->second;
  KILN_TRY_ASSIGN(const FoundIncludes* includes, includes_of(file));
  Paths headers;
  for (const Include& include : includes->includes) {
    const Paths local = find(file, include, directories);
    KILN_TRY(check_found(local, file, include));
    headers.insert(headers.end(), local.begin(), local.end());
  }
  return &known.emplace(file, std::move(headers)).first->second;
}

Result<IncludeScanner::Paths> IncludeScanner::computed_headers(const std::set<std::string>& files,
                                                               const Directories& directories,
                                                               const Paths& defines) {
  Macros macros;
  std::vector<std::pair<std::string_view, const Include*>> computed;  // with the including file
  for (const std::string& file : files) {
    KILN_TRY_ASSIGN(const FoundIncludes* found, includes_of(file));
    for (const HeaderMacro& macro : found->macros) macros.emplace(macro.name, macro.value);
    for (const Include& include : found->computed) computed.emplace_back(file, &include);
  }
  for (const std::string_view define : defines) {
    const std::size_t equals = define.find('=');
    if (equals != std::string_view::npos) {
      macros.emplace(define.substr(0, equals), define.substr(equals + 1));
    }
  }
  Paths headers;
  for (const auto& [file, include] : computed) {
    std::set<std::string_view> seen, names;
    expand(include->path, macros, seen, names);
    for (const std::string_view name : names) {
      // The macro may have other values in places where the compiler includes the file.
      const IncludeForm form =
          include->form == IncludeForm::kInclude ? IncludeForm::kHasInclude : include->form;
      const Include named{unquoted(name), name.front() == '"', include->line, include->column,
                          form};
      const Paths local = find(std::string(file), named, directories);
      KILN_TRY(check_found(local, std::string(file), named));
      headers.insert(headers.end(), local.begin(), local.end());
    }
  }
  return headers;
}

Result<IncludeScanner::Paths> IncludeScanner::outside_files(const std::set<std::string>& files,
                                                            const Directories& directories) {
  std::set<std::string> outside;
  for (const std::string& file : files) {
    KILN_TRY_ASSIGN(const FoundIncludes* found, includes_of(file));
    for (const Include& include : found->includes) {
      if (include.form != IncludeForm::kHasInclude) continue;
      for (const std::string& directory : directories) {
        std::string path = (fs::path(directory) / include.path).lexically_normal().generic_string();
        const bool is_outside = leaves_folder(path) && why_not_a_source_path(path).empty();
        if (is_outside && is_file(path)) outside.insert(std::move(path));
      }
    }
  }
  return Paths(outside.begin(), outside.end());
}

Result<SourceFiles> IncludeScanner::closure(const std::string& source,
                                            const Directories& directories, const Paths& defines) {
  std::set<std::string> reached = {source};
  Paths to_scan = {source};
  const auto reach = [&](const Paths& headers) {
    for (const std::string& header : headers) {
      if (reached.insert(header).second) to_scan.push_back(header);
    }
  };
  while (!to_scan.empty()) {
    while (!to_scan.empty()) {
      const std::string file = std::move(to_scan.back());
      to_scan.pop_back();
      KILN_TRY_ASSIGN(const Paths* headers, headers_of(file, directories));
      reach(*headers);
    }
    // Headers that macros name may in turn define macros that name headers.
    KILN_TRY_ASSIGN(const Paths headers, computed_headers(reached, directories, defines));
    reach(headers);
  }
  KILN_TRY_ASSIGN(Paths outside, outside_files(reached, directories));
  return SourceFiles{{reached.begin(), reached.end()}, std::move(outside)};
}

}  // namespace kiln::tools
