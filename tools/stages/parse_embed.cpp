#include "tools/stages/parse_embed.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "generator/identifiers.hpp"

namespace kiln::tools {
namespace {

bool is_file_name(std::string_view text) {
  return !text.empty() && text.front() != '.' && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

class EmbedPart : public ManifestPart {
 public:
  explicit EmbedPart(ManifestSource& source) : ManifestPart(source) {}

  EmbedOptions parse(const Json& value) {
    reader_.object(
        value, "'embed'",
        {{"header", Need::kOptional, [&](const Json& v) { header(v); }},
         {"namespace", Need::kOptional, [&](const Json& v) { name_space(v); }},
         {"mode", Need::kOptional,
          [&](const Json& v) {
            embed_.mode = reader_.choice(v, "'mode'", kEmbedModeWords).value_or(embed_.mode);
          }},
         {"emit", Need::kOptional, [&](const Json& v) { emit(v); }},
         {"compression", Need::kOptional,
          [&](const Json& v) {
            embed_.compression =
                reader_.choice(v, "'compression'", kCompressionWords).value_or(embed_.compression);
          }},
         {"source", Need::kOptional, [&](const Json& v) {
            embed_.source = reader_.choice(v, "'source'", kEmbedSourceWords).value_or(embed_.source);
          }}});
    return std::move(embed_);
  }

 private:
  void emit(const Json& value) {
    std::set<EmbedOutput> outputs;
    reader_.list(value, "'emit'", "strings", Empty::kRefused, [&](const Json& item) {
      if (item.text() != nullptr && *item.text() == "python") {
        reader_.report(item, "an entry of 'emit' cannot be 'python'").hint(kEmitForPython);
        return;
      }
      const std::optional<EmbedOutput> output = reader_.choice(item, "an entry of 'emit'", kEmitWords);
      if (output) outputs.insert(*output);
    });
    if (!outputs.empty()) embed_.outputs.assign(outputs.begin(), outputs.end());
  }

  void header(const Json& value) {
    const std::string* text = reader_.text(value, "'header'");
    if (text == nullptr) return;
    if (text->find('/') != std::string::npos || text->find('\\') != std::string::npos) {
      reader_.report(value, "'header' " + quote(*text) + " is a path, not a file name")
          .hint("the header is written to the folder 'include' of the out folder");
    } else if (!is_file_name(*text) || text->size() > kMaxNameLength) {
      reader_.report(value, "'header' " + quote(*text) + " is not a file name")
          .hint("use letters, digits, '.', '_' and '-', no '.' first");
    } else if (!is_header_name(*text)) {
      reader_.report(value, "'header' " + quote(*text) + " does not end as a header does")
          .hint("let it end in .h, .hh, .hpp or .hxx: 'kernels.hpp'");
    } else {
      embed_.header = *text;
    }
  }

  void name_space(const Json& value) {
    const std::string* text = reader_.text(value, "'namespace'");
    if (text == nullptr) return;
    if (Result<std::string> checked = parse_namespace(*text); checked) {
      embed_.name_space = *std::move(checked);
    } else {
      reader_.report(value, std::move(checked).error());
    }
  }

  EmbedOptions embed_;
};

}  // namespace

EmbedOptions parse_embed(ManifestSource& source, const Json& value) {
  return EmbedPart(source).parse(value);
}

bool is_header_name(std::string_view name) {
  const std::string_view extension = name.substr(std::min(name.rfind('.'), name.size()));
  const bool is_header =
      extension == ".h" || extension == ".hh" || extension == ".hpp" || extension == ".hxx";
  return is_header && is_file_name(name) && name.front() != '-';
}

Result<std::string> parse_namespace(std::string_view text) {
  bool is_taken = text == "kiln";
  std::string_view rest = text;
  while (true) {
    const std::size_t end = rest.find("::");
    const std::string_view part = rest.substr(0, end);
    if (!is_identifier(part)) {
      return Error{ErrorCode::kInvalidInput, quote(text) + " is not a C++ namespace"}.hint(
          "write it like 'kernels' or 'my::kernels'");
    }
    // Within a::std, the header's own std::string_view would be looked for there.
    is_taken = is_taken || part == "std" || generator::is_macro(part);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 2);
  }
  if (!is_taken) return std::string(text);
  return Error{ErrorCode::kInvalidInput, "the namespace " + quote(text) + " is taken"}.hint(
      "choose one of your own, such as 'kernels'");
}

}  // namespace kiln::tools
