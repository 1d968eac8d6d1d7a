#include "tools/system/sealed_text.hpp"

#include "base/digest.hpp"

namespace kiln::tools {
namespace {

std::string first_line(std::string_view name, unsigned version) {
  return std::string(name) + " " + std::to_string(version) + "\n";
}

constexpr std::string_view kEnd = "end ";
constexpr std::size_t kLastLineSize = kEnd.size() + 64 + 1;

}  // namespace

std::string seal(std::string_view name, unsigned version, std::string_view lines) {
  std::string file = first_line(name, version);
  file += lines;
  const std::string digest = sha256(file).hex();
  return file.append(kEnd).append(digest).append("\n");
}

std::optional<std::string_view> unseal(std::string_view name, unsigned version,
                                       std::string_view file) {
  const std::string first = first_line(name, version);
  if (!file.starts_with(first) || file.size() < first.size() + kLastLineSize) return std::nullopt;
  const std::string_view body = file.substr(0, file.size() - kLastLineSize);
  const std::string_view last = file.substr(body.size());
  if (!last.starts_with(kEnd) || last.back() != '\n') return std::nullopt;
  if (last.substr(kEnd.size(), 64) != sha256(body).hex()) return std::nullopt;
  return body.substr(first.size());
}

void append_escaped(std::string& line, std::string_view text) {
  constexpr std::string_view kSpecial = "\n\t\\";
  while (true) {
    const std::size_t plain = text.find_first_of(kSpecial);
    line += text.substr(0, plain);
    if (plain == std::string_view::npos) return;
    line += '\\';
    line += text[plain] == '\n' ? 'n' : text[plain] == '\t' ? 't' : '\\';
    text.remove_prefix(plain + 1);
  }
}

std::string escape_line(std::string_view text) {
  std::string escaped;
  append_escaped(escaped, text);
  return escaped;
}

std::string unescape_line(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return std::string(text);
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
    } else {
      ++i;
      plain += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    }
  }
  return plain;
}

std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view taken = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return taken;
}

}  // namespace kiln::tools
