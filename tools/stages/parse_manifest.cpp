#include "tools/stages/parse_manifest.hpp"

#include <optional>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "kiln/version.hpp"
#include "tools/json/json_reader.hpp"
#include "tools/stages/check_path.hpp"
#include "tools/stages/parse_abi_files.hpp"
#include "tools/stages/parse_compile_options.hpp"
#include "tools/stages/parse_embed.hpp"
#include "tools/stages/parse_limits.hpp"
#include "tools/stages/parse_modules.hpp"
#include "tools/stages/parse_targets.hpp"
#include "tools/stages/recognize.hpp"
#include "tools/stages/tool_bounds.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;
constexpr const char* kHowToName = "name one: kiln build path/to/targets.json --out out; 'kiln init' writes one";

// "0.1.0" -> 100, the encoding of KILN_VERSION.
std::optional<std::uint32_t> parse_version(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  std::uint32_t version = 0;
  for (const std::string_view part : parts) {
    if (part.empty() || part.size() > 2) return std::nullopt;
    std::uint32_t number = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') return std::nullopt;
      number = number * 10 + static_cast<std::uint32_t>(c - '0');
    }
    version = version * 100 + number;
  }
  return version;
}

class ManifestParser : public ManifestPart {
 public:
  ManifestParser(Manifest& manifest, ManifestSource& source)
      : ManifestPart(source),
        manifest_(manifest),
        options_(source, manifest.options),
        abi_(source, manifest) {}

  Result<void> parse(const Json& json) {
    std::vector<JsonReader::Field> fields = {
        {"$schema", Need::kOptional, [&](const Json& v) { reader_.text(v, "'$schema'"); }},
        {"format", Need::kRequired, [&](const Json& v) { reader_.format(v, kFormat); }},
        {"name", Need::kRequired,
         [&](const Json& v) { manifest_.name = identifier(v, "the manifest's name"); }},
        {"targets", Need::kRequired,
         [&](const Json& v) { manifest_.targets = parse_targets(reader_, v); }},
        {"modules", Need::kRequired, [&](const Json& v) { modules(v); }},
        {"debug", Need::kOptional, [&](const Json& v) { debug(v); }},
        {"joined_ptx", Need::kOptional, [&](const Json& v) { joined_ptx(v); }},
        {"abi", Need::kOptional, [&](const Json& v) { abi_.parse(v); }},
        {"embed", Need::kOptional,
         [&](const Json& v) { manifest_.embed = parse_embed(source_, v); }},
        {"minimum_runtime", Need::kOptional, [&](const Json& v) { minimum_runtime(v); }},
        {"min_driver", Need::kOptional,
         [&](const Json& v) {
           manifest_.floors.cuda =
               parse_floor(reader_, v, "'min_driver'",
                           "it is the CUDA version that the driver supports, as nvidia-smi shows it: '12.4'");
         }},
        {"min_rocm", Need::kOptional,
         [&](const Json& v) {
           manifest_.floors.rocm = parse_floor(reader_, v, "'min_rocm'", "write it like '6.2'");
         }},
        {"budgets", Need::kOptional,
         [&](const Json& v) {
           manifest_.budgets =
               parse_budgets(reader_, v, "the manifest's 'budgets'", BudgetsOf::kManifest);
         }},
        {"tools", Need::kOptional,
         [&](const Json& v) { manifest_.tool_bounds = parse_tool_bounds(reader_, v); }}};
    const std::vector<JsonReader::Field> more = options_.fields();
    fields.insert(fields.end(), more.begin(), more.end());
    reader_.object(json, "the manifest", fields);
    abi_.check_modules(partial_);
    return reader_.finish();
  }

 private:
  void modules(const Json& value) {
    ParsedModules parsed = parse_modules(source_, value);
    manifest_.modules = std::move(parsed.modules);
    partial_ = std::move(parsed.partial);
  }

  void debug(const Json& value) {
    manifest_.debug = reader_.choice(value, "'debug'", kDebugInfoWords).value_or(manifest_.debug);
  }

  void minimum_runtime(const Json& value) {
    const std::string* text = reader_.text(value, "'minimum_runtime'");
    if (text == nullptr) return;
    const auto version = parse_version(*text);
    if (!version) {
      reader_.report(value, "'minimum_runtime' " + quote(*text) + " is not a version")
          .hint("write it like '0.1.0'");
    } else if (*version > KILN_VERSION) {
      reader_.report(value, "'minimum_runtime' " + quote(*text) + " is newer than this kiln");
    } else {
      manifest_.minimum_runtime = *version;
    }
  }

  void joined_ptx(const Json& value) {
    const bool* chosen = reader_.boolean(value, "'joined_ptx'");
    if (chosen != nullptr && *chosen) manifest_.joined_ptx = JoinedPtx::kYes;
  }

  Manifest& manifest_;
  CompileOptionsPart options_;
  AbiFilesPart abi_;
  std::vector<Location> partial_;  // places of the keys 'partial' in the modules
};

// True for documents that are easily mistaken for a manifest: the catalog of a build, or an abi
// file.
bool is_another_document(const Json& json) {
  const Json* modules = json.find("modules");
  if (modules == nullptr) return json.find("images") != nullptr;
  return modules->object() != nullptr && json.find("targets") == nullptr;
}

}  // namespace

Result<Manifest> parse_manifest(const fs::path& path, const fs::path& directory,
                                const Files& files) {
  Manifest manifest;
  manifest.path = path;
  manifest.directory = (directory / path).lexically_normal().parent_path();
  const std::string name = path.generic_string();
  const PathKind kind = files.kind(directory / path);
  if (name == "-" || kind == PathKind::kOther) {
    return Error{ErrorCode::kInvalidInput, "a manifest is a file, and cannot be read from " +
                                               (name == "-" ? "standard input" : quote(name))}
        .note("what it names is found from its folder")
        .hint(kHowToName);
  }
  if (!files.status(directory / path)) {
    const Result<std::string> read = files.read(directory / path);
    if (!read && read.error().code == ErrorCode::kEnvironment) return read.error();
    const auto names = files.list(manifest.directory);
    const std::string near = names ? nearest_file(path.filename().string(), *names) : "";
    const std::string meant = parse_target_id(name)      ? "--target " + name
                              : near.ends_with(".json") ? (path.parent_path() / near).generic_string()
                                                        : "";
    return Error{ErrorCode::kInvalidInput, "there is no manifest " + quote(name)}.hint(
        meant.empty() ? kHowToName : "did you mean " + quote(meant) + "?");
  }
  if (files.list(directory / path)) {
    const fs::path inside = path / "targets.json";
    Error error{ErrorCode::kInvalidInput, quote(name) + " is a folder, not a manifest"};
    if (!files.status(directory / inside)) return error.hint(kHowToName);
    return error.hint("did you mean " + quote(inside.lexically_normal().generic_string()) + "?");
  }
  if (const std::string why = why_not_a_folder_path(manifest.directory.native()); !why.empty()) {
    return Error{ErrorCode::kInvalidInput, "the manifest's folder " +
                                               quote(manifest.directory.string()) +
                                               " cannot be given to the compilers"}
        .note(why)
        .hint("move or rename it");
  }
  KILN_TRY_ASSIGN(const std::string text, files.read(directory / path));
  manifest.read[path.filename().generic_string()] = sha256(text);
  if (!trim(text).starts_with("{")) {
    const Recognized recognized = recognize(text, path);
    if (!recognized.what.empty()) return misplaced(recognized, "a manifest", path);
  }
  Result<Json> json = read_json(text, name);
  if (!json) {
    if (trim(text).starts_with("{")) return std::move(json).error();
    return std::move(json).error().hint("a manifest is a JSON object: docs/MANIFEST.md");
  }
  if (is_another_document(*json)) return misplaced(recognize(text, path), "a manifest", path);
  JsonReader reader(manifest.path.generic_string());
  ManifestSource source{reader, files, manifest.directory, files.link_target(directory / path)};
  KILN_TRY(ManifestParser(manifest, source).parse(*json));
  return manifest;
}

}  // namespace kiln::tools
