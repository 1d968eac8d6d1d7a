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

std::string escape_line(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\t') {
      escaped += "\\t";
    } else if (c == '\\') {
      escaped += "\\\\";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string unescape_line(std::string_view text) {
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
