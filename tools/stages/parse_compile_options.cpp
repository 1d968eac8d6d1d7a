#include "tools/stages/parse_compile_options.hpp"

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/stages/check_path.hpp"

namespace kiln::tools {

namespace fs = std::filesystem;

std::vector<JsonReader::Field> CompileOptionsPart::fields() {
  return {
      {"include_directories", Need::kOptional, [this](const Json& v) { include_directories(v); }},
      {"defines", Need::kOptional, [this](const Json& v) { defines(v); }},
      strings("flags", options_.flags),
      strings("amd_flags", options_.amd_flags),
      strings("nvidia_flags", options_.nvidia_flags),
      strings("host_flags", options_.host_flags)};
}

void CompileOptionsPart::include_directories(const Json& value) {
  reader_.list(value, "'include_directories'", "strings", Empty::kAllowed, [&](const Json& item) {
    const std::string* text = reader_.text(item, "an include directory");
    if (text == nullptr) return;
    if (text->empty()) {
      reader_.report(item, "an entry of 'include_directories' is empty").hint("the manifest's folder is '.'");
      return;
    }
    if (*text == kKilnsOwnHeaders) {
      options_.include_directories.push_back({*text, reader_.where(item)});
      return;
    }
    const fs::path normal = fs::path(*text).lexically_normal();
    if (const std::string why = why_not_an_include_directory(*text); !why.empty()) {
      reader_
          .report(item, "include directory " + quote(*text) + " cannot be given to the compilers")
          .note(why)
          .hint(text->starts_with('{') ? "did you mean " + quote(kKilnsOwnHeaders) + "?"
                : text->starts_with('$') ? "write the path itself: variables are a shell's"
                                         : "rename it");
      return;
    }
    const PathKind kind = source_.files.kind(source_.directory / normal);
    if (kind == PathKind::kNone) {
      Error& error = reader_.report(item, "include directory " + quote(*text) + " does not exist");
      if (text->starts_with('~')) {
        error.hint("write the path itself: '~' is a shell's");
      } else {
        suggest(normal, PathKind::kFolder, error);
      }
      return;
    }
    if (kind == PathKind::kHidden) {
      reader_.report(item, "include directory " + quote(*text) + " cannot be looked at: " + kWhyHidden);
      return;
    }
    if (kind != PathKind::kFolder) {
      reader_.report(item, "include directory " + quote(*text) + " is not a folder");
      return;
    }
    options_.include_directories.push_back({normal.generic_string(), reader_.where(item)});
  });
}

void CompileOptionsPart::defines(const Json& value) {
  reader_.list(value, "'defines'", "strings", Empty::kAllowed, [&](const Json& item) {
    const std::string* text = reader_.text(item, "a define");
    if (text == nullptr) return;
    const std::string name = text->substr(0, text->find('='));
    if (!is_identifier(name)) {
      reader_.report(item, "define " + quote(*text) + " does not start with a name")
          .hint("write it like 'NAME' or 'NAME=VALUE', without '-D'");
      return;
    }
    if (!is_one_line(item, "define", *text)) return;
    options_.defines.push_back({*text, reader_.where(item)});
  });
}

JsonReader::Field CompileOptionsPart::strings(std::string_view key,
                                              std::vector<Located<std::string>>& into) {
  const std::string what = quote(key);
  return {key, Need::kOptional, [this, what, &into](const Json& value) {
            reader_.list(value, what, "strings", Empty::kAllowed, [&](const Json& item) {
              const std::string* text = reader_.text(item, "an entry of " + what);
              if (text == nullptr) return;
              if (text->empty()) {
                reader_.report(item, "an entry of " + what + " is empty");
                return;
              }
              if (!is_one_line(item, "the entry", *text)) return;
              into.push_back({*text, reader_.where(item)});
            });
          }};
}

}  // namespace kiln::tools
