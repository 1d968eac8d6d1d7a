#include "tools/stages/manifest_part.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/stages/check_path.hpp"

namespace kiln::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxSuggestions = 16;

}  // namespace

Located<std::string> ManifestPart::identifier(const Json& value, const std::string& what) {
  const std::string* text = reader_.text(value, what);
  if (text == nullptr) return {};
  if (text->size() > kMaxNameLength) {
    reader_.report(value, what + " is " + std::to_string(text->size()) +
                              " characters long, at most " + std::to_string(kMaxNameLength) +
                              " are allowed");
  } else if (!is_identifier(*text)) {
    reader_.report(value, what + " " + quote(*text) + " is not a C++ identifier")
        .hint("use letters, digits and '_', no digit first, and no keyword of C++");
  }
  return {*text, reader_.where(value)};
}

std::string ManifestPart::inner_path(const Json& value, const std::string& what) {
  const std::string* text = reader_.text(value, what);
  if (text == nullptr) return {};
  if (text->empty()) {
    reader_.report(value, what + " is empty");
    return {};
  }
  const fs::path normal = fs::path(*text).lexically_normal();
  if (normal.is_absolute() || *normal.begin() == "..") {
    reader_.report(value, what + " " + quote(*text) + " lies outside the manifest's folder")
        .hint("paths in a manifest are relative to it, and stay under it");
    return {};
  }
  if (const std::string why = why_not_a_source_path(normal.generic_string()); !why.empty()) {
    reader_.report(value, what + " " + quote(*text) + " cannot be given to the compilers")
        .note(why)
        .hint("rename it");
    return {};
  }
  return normal.generic_string();
}

bool ManifestPart::is_one_line(const Json& item, const std::string& what, const std::string& text) {
  if (std::none_of(text.begin(), text.end(),
                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    return true;
  }
  reader_.report(item, what + " " + quote(text) + " holds a control character");
  return false;
}

void ManifestPart::suggest(const fs::path& missing, PathKind wanted, Error& error) {
  if (++source_.suggestions > kMaxSuggestions) return;
  if (!source_.target.empty()) {
    error.note("the manifest is a link to " + quote(source_.target.string()) +
               ", and its paths are relative to the folder of the link");
  }
  const std::string near = neighbour(missing, wanted);
  if (!near.empty()) error.hint("did you mean " + quote(near) + "?");
}

std::string ManifestPart::neighbour(const fs::path& missing, PathKind wanted) const {
  fs::path meant;
  const auto kind_of = [&](const fs::path& name) {
    return source_.files.kind(source_.directory / meant / name);
  };
  for (auto name = missing.begin(); name != missing.end(); ++name) {
    const bool is_last = std::next(name) == missing.end();
    const PathKind kind = is_last ? wanted : PathKind::kFolder;
    if (kind_of(*name) == kind) {
      meant /= *name;
      continue;
    }
    std::vector<std::string> names =
        source_.files.list(source_.directory / meant).value_or(std::vector<std::string>());
    std::erase_if(names, [&](const std::string& entry) { return kind_of(entry) != kind; });
    const std::string near = kind == PathKind::kFile ? nearest_file(name->string(), names)
                                                     : nearest(name->string(), names);
    if (near.empty()) return {};
    meant /= near;
  }
  return meant.generic_string();
}

}  // namespace kiln::tools
