#include "tools/stages/shorten_ptx.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "formats/ptx_tokens.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kMarks = ",;()[]{}<>+-*/!~&|^=?:@";
// Marks that are a token by themselves whatever is next to them.
constexpr std::string_view kSeparators = ",;()[]{}";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLabelStart = "$L__BB";
constexpr std::array<std::string_view, 4> kLabelPrefixes = {"$", "$L", "$B", "$_"};
constexpr std::array<std::string_view, 4> kParameterPrefixes = {"p", "q", "p_", "q_"};

struct Word {
  PtxToken token;
  // The short name is a prefix and what follows these bytes of the text.
  std::size_t dropped = 0;
  std::string_view prefix = {};
};

// From the name of an entry or a function to the ';' or '}' after its list or body.
struct Function {
  std::size_t name = 0, body = 0, end = 0;  // positions of words; body == end for a declaration
};

bool is_mark(const Word& word, std::string_view marks) {
  return word.token.kind == PtxTokenKind::kMark &&
         marks.find(word.token.text.front()) != std::string_view::npos;
}

bool is_known(const Word& word) {
  switch (word.token.kind) {
    case PtxTokenKind::kWord: return word.token.text != ".section";
    case PtxTokenKind::kString:
      return word.token.text.find_first_of("\\\n") == std::string_view::npos;
    case PtxTokenKind::kMark: return is_mark(word, kMarks);
    case PtxTokenKind::kNumber:
    case PtxTokenKind::kEnd: return true;
    case PtxTokenKind::kUnfinished: return false;
  }
  return false;
}

// Returns the words of a text, or nothing if it holds what this file does not know.
std::optional<std::vector<Word>> read_words(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  std::vector<Word> words;
  PtxTokenizer tokenizer(text);
  for (PtxToken token = tokenizer.next(); token.kind != PtxTokenKind::kEnd;
       token = tokenizer.next()) {
    words.push_back({.token = token});
    if (!is_known(words.back())) return std::nullopt;
  }
  if (words.empty() || words.front().token.text != ".version") return std::nullopt;
  return words;
}

// Returns the functions of a text in their order, or nothing if its marks do not match.
std::optional<std::vector<Function>> find_functions(const std::vector<Word>& words) {
  std::vector<Function> functions;
  std::string open;  // the marks that close what is open, innermost last
  bool is_inside = false, is_named = false, has_body = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word& word = words[i];
    const std::string_view text = word.token.text;
    if (is_mark(word, "([{")) {
      // Outside of functions, only the values of a variable are in braces.
      const bool is_unknown =
          open.empty() && text == "{" && !is_inside && (i == 0 || !is_mark(words[i - 1], "="));
      if (is_unknown) return std::nullopt;
      if (open.empty() && text == "{" && is_inside) {
        if (!is_named || has_body) return std::nullopt;
        has_body = true;
        functions.back().body = i;
      }
      open += text == "(" ? ')' : text == "[" ? ']' : '}';
    } else if (is_mark(word, ")]}")) {
      if (!open.ends_with(text)) return std::nullopt;
      open.pop_back();
    } else if (open.empty() && word.token.kind == PtxTokenKind::kWord) {
      const bool is_start = text == ".entry" || text == ".func";
      if (is_start && is_inside) return std::nullopt;
      if (is_start) {
        is_inside = true;
      } else if (is_inside && !is_named && !text.starts_with('.')) {
        is_named = true;
        functions.push_back({.name = i});
      }
    }
    if (is_inside && open.empty() && (has_body || text == ";")) {
      if (!is_named) return std::nullopt;
      functions.back().end = i;
      if (!has_body) functions.back().body = i;
      is_inside = is_named = has_body = false;
    }
  }
  if (is_inside || !open.empty()) return std::nullopt;
  return functions;
}

// Returns the name that a word starts with: "v" of "v.x". Empty for other tokens.
std::string_view name_in(const Word& word) {
  if (word.token.kind != PtxTokenKind::kWord) return {};
  return word.token.text.substr(0, word.token.text.find('.'));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

// Returns the size of the start of a name that ends in a number: 8 for "$L__BB3_12". Otherwise 0.
std::size_t size_before_number(std::string_view name) {
  const std::size_t size = name.find_last_not_of(kDigits) + 1;  // npos + 1 is 0
  return size < name.size() ? size : 0;
}

// Marks words of a text for a short name. Two names of one function get different short names, as
// they differ only in what is kept.
class Names {
 public:
  Names(std::vector<Word>& words, const std::vector<Function>& functions)
      : words_(words), functions_(functions) {}

  void shorten() {
    for (const Function& function : functions_) find_parameters(function);
    name_found(kParameterPrefixes);
    if (find_labels()) name_found(kLabelPrefixes);
  }

 private:
  struct Found {
    std::size_t word = 0, dropped = 0;
  };

  // ptxas writes the names of textures, samplers and surfaces into the cubin.
  bool has_opaque_parameter(const Function& function) const {
    return std::any_of(words_.begin() + static_cast<std::ptrdiff_t>(function.name),
                       words_.begin() + static_cast<std::ptrdiff_t>(function.body),
                       [](const Word& word) {
                         const std::string_view text = word.token.text;
                         return text == ".texref" || text == ".samplerref" || text == ".surfref";
                       });
  }

  void find_parameters(const Function& function) {
    if (has_opaque_parameter(function)) return;
    std::string start(words_[function.name].token.text);
    start += "_param_";
    std::unordered_set<std::string_view> declared;
    for (std::size_t i = function.name + 1; i < function.end; ++i) {
      const std::string_view name = name_in(words_[i]);
      if (!name.starts_with(start) || !is_number(name.substr(start.size()))) continue;
      if (i < function.body) declared.insert(name);
      if (declared.contains(name)) found_.push_back({i, start.size()});
    }
  }

  // False if a label is outside of all bodies, or if a body has labels that start differently.
  bool find_labels() {
    std::size_t next = 0;  // function
    std::string_view start;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      while (next < functions_.size() && i > functions_[next].end) {
        ++next;
        start = {};
      }
      const std::string_view name = name_in(words_[i]);
      if (!name.starts_with(kLabelStart)) continue;
      const std::size_t size = size_before_number(name);
      const std::string_view own_start = name.substr(0, size);
      if (!own_start.ends_with('_') ||
          !is_number(own_start.substr(kLabelStart.size(), size - kLabelStart.size() - 1))) {
        continue;
      }
      const bool is_in_body =
          next < functions_.size() && i > functions_[next].body && i < functions_[next].end;
      if (start.empty()) start = own_start;
      if (!is_in_body || own_start != start) {
        found_.clear();
        return false;
      }
      found_.push_back({i, size});
    }
    return true;
  }

  // Gives the found words the first prefix that no name of the text may have.
  template <std::size_t count>
  void name_found(const std::array<std::string_view, count>& prefixes) {
    const auto is_free = [&](std::string_view prefix) {
      for (std::size_t i = 0; i < words_.size(); ++i) {
        std::string_view name = name_in(words_[i]);
        if (words_[i].token.kind == PtxTokenKind::kNumber) {  // "4p0" is a number and a name
          name = words_[i].token.text;
          name.remove_prefix(std::min(name.find_first_not_of(kDigits), name.size()));
        }
        if (!name.starts_with(prefix)) continue;
        // "p<9>" declares the registers p0 to p8.
        const bool is_many = i + 1 < words_.size() && words_[i + 1].token.text == "<";
        if (is_number(name.substr(prefix.size())) || (is_many && name == prefix)) return false;
      }
      return true;
    };
    const auto prefix = std::ranges::find_if(prefixes, is_free);
    if (prefix != prefixes.end()) {
      for (const Found& found : found_) {
        words_[found.word].dropped = found.dropped;
        words_[found.word].prefix = *prefix;
      }
    }
    found_.clear();
  }

  std::vector<Word>& words_;
  const std::vector<Function>& functions_;
  std::vector<Found> found_;
};

std::string write(const std::vector<Word>& words, std::string_view text) {
  std::string shortened;
  shortened.reserve(text.size());
  std::size_t end = 0;  // of the last token in the text
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word& word = words[i];
    const auto start = static_cast<std::size_t>(word.token.text.data() - text.data());
    const std::string_view gap = text.substr(end, start - end);
    if (i == 0) {
      // what precedes the first token
    } else if (gap.find('\n') != std::string_view::npos) {
      shortened += '\n';
    } else if (!gap.empty() && !is_mark(words[i - 1], kSeparators) && !is_mark(word, kSeparators)) {
      shortened += ' ';
    }
    shortened += word.prefix;
    shortened += word.token.text.substr(word.dropped);
    end = start + word.token.text.size();
  }
  return shortened + '\n';
}

}  // namespace

std::string shorten_ptx(std::string text) {
  std::optional<std::vector<Word>> words = read_words(text);
  if (!words) return text;
  const std::optional<std::vector<Function>> functions = find_functions(*words);
  if (!functions) return text;
  Names(*words, *functions).shorten();
  return write(*words, text);
}

}  // namespace kiln::tools
