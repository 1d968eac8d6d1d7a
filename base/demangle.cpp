#include "base/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace kiln {
namespace {

// of a name that is demangled: an image may hold anything
constexpr std::size_t kMaxNameLength = 1024;

// Returns where the parameter list of a demangled function starts, or the text's end if it has
// none.
std::size_t parameters_of(std::string_view text) {
  std::size_t close = text.rfind(')');
  if (close == std::string_view::npos) return text.size();
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return text.size();
}

// Returns the next position from `at` on that matters. Blanks do not, nor does the "ul" in "4ul>".
std::size_t next_letter(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  if (at == 0 || at == text.size() || text[at - 1] < '0' || text[at - 1] > '9') return at;
  std::size_t end = at;
  while (end < text.size() && (text[end] == 'u' || text[end] == 'l')) ++end;
  const bool is_number = end < text.size() && (text[end] == ',' || text[end] == '>');
  return is_number ? end : at;
}

}  // namespace

std::string demangled(std::string_view name) {
  if (!is_mangled(name) || name.size() > kMaxNameLength) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  if (whole == nullptr || status != 0) return {};
  const std::string_view text = whole.get();
  const std::string_view head = text.substr(0, parameters_of(text));
  // The return type of a template ends at the last blank outside of brackets.
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '<' || head[i] == '(') ++depth;
    if (head[i] == '>' || head[i] == ')') --depth;
    if (head[i] == ' ' && depth == 0) start = i + 1;
  }
  return std::string(head.substr(start));
}

bool matches_readable_name(std::string_view name, std::string_view written) {
  const std::string readable = demangled(name);
  if (readable.empty()) return false;
  std::size_t i = 0, j = 0;
  while (true) {
    i = next_letter(readable, i);
    j = next_letter(written, j);
    const bool ends = i == readable.size();
    if (ends || j == written.size()) return ends && j == written.size();
    if (readable[i++] != written[j++]) return false;
  }
}

std::string readable_name(std::string_view name) {
  std::string text = demangled(name);
  return text.empty() ? std::string(name) : text;
}

std::string with_demangled(std::string_view name) {
  const std::string readable = demangled(name);
  return readable.empty() ? std::string(name) : std::string(name) + " (" + readable + ")";
}

}  // namespace kiln
