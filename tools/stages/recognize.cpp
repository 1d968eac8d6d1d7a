#include "tools/stages/recognize.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.hpp"
#include "formats/catalog_file.hpp"
#include "formats/image.hpp"
#include "tools/json/json.hpp"

namespace kiln::tools {
namespace {

using namespace std::string_view_literals;

// A header that kiln generated has this text in its first lines.
constexpr std::string_view kMadeByKiln = "\n// Made by kiln ";
constexpr std::size_t kFirstLines = 1024;
constexpr std::array kSourceEndings = {".cu"sv, ".cuh"sv, ".hip"sv, ".c"sv, ".h"sv, ".cc"sv, ".cpp"sv, ".cxx"sv, ".hpp"sv};
constexpr std::string_view kArchive = "!<arch>\n";
// First bytes of files made by gzip, xz, zstd, bzip2 and zip.
constexpr std::array kCompressed = {"\x1f\x8b"sv, "\xfd\x37zXZ\0"sv, "\x28\xb5\x2f\xfd"sv, "BZh"sv,
                                    "PK\x03\x04"sv};

std::string with_article(std::string_view noun) {
  const bool is_vowel = "aeiouAEIOU"sv.find(noun.front()) != std::string_view::npos;
  return (is_vowel ? "an " : "a ") + std::string(noun);
}

std::string command(std::string_view verb, const std::filesystem::path& path) {
  return "kiln " + std::string(verb) + " " + shell_quote(path.generic_string());
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

Recognized recognize_json(const Json& json, const std::filesystem::path& path) {
  if (json.find("images") != nullptr) {
    return {"the catalog of a build", "see the build: " + command("inspect", folder_of(path))};
  }
  const Json* modules = json.find("modules");
  if (modules != nullptr && modules->array() != nullptr) {
    return {"a manifest", "see what it builds: " + command("plan", path)};
  }
  if (modules != nullptr) return {"an abi file", "a manifest names it: docs/MANIFEST.md"};
  return {"JSON that is neither a manifest nor a catalog", ""};
}

}  // namespace

Recognized recognize(std::string_view bytes, const std::filesystem::path& path) {
  if (bytes.empty()) return {"an empty file", ""};
  const FileKind kind = detect_kind(std::as_bytes(std::span(bytes)));
  if (kind != FileKind::kUnknown) {
    const std::string what = kind == FileKind::kPtx ? "a PTX file" : with_article(to_string(kind));
    return {what, "see what is in it: " + command("inspect", path)};
  }
  if (trim(bytes).starts_with("{")) {
    if (const Result<Json> json = read_json(bytes, "")) return recognize_json(*json, path);
  }
  if (bytes.starts_with(kCatalogFileMagic)) {
    return {"a catalog file that kiln made",
            "see the build that it is from: " + command("inspect", folder_of(folder_of(path)))};
  }
  if (bytes.starts_with(kArchive)) return {"an archive of object files", "'ar x' takes it apart"};
  for (const std::string_view start : kCompressed) {
    if (bytes.starts_with(start)) return {"a compressed file", "unpack it first"};
  }
  if (bytes.substr(0, kFirstLines).find(kMadeByKiln) != std::string_view::npos) {
    return {"a header that kiln made",
            "see the build that it is from: " + command("inspect", folder_of(folder_of(path)))};
  }
  if (std::ranges::find(kSourceEndings, path.extension().string()) != kSourceEndings.end()) {
    return {"a source", "'kiln build' compiles the sources that a manifest names; 'kiln init' writes one"};
  }
  return {};
}

bool is_damaged(const Error& error) { return error.message.starts_with("damaged "); }

Error misplaced(const Recognized& file, std::string_view expected,
                const std::filesystem::path& path) {
  Error error{.code = ErrorCode::kInvalidInput,
              .message = file.what + ", where " + std::string(expected) + " is expected",
              .where = {path.generic_string(), 0, 0}};
  if (!file.advice.empty()) error.hint(file.advice);
  return error;
}

}  // namespace kiln::tools
