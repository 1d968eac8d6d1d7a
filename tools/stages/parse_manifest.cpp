#include "tools/stages/parse_manifest.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/compatibility.hpp"
#include "kiln/version.hpp"
#include "tools/json/json_reader.hpp"
#include "tools/stages/check_path.hpp"
#include "tools/stages/parse_abi.hpp"
#include "tools/stages/parse_limits.hpp"
#include "tools/stages/recognize.hpp"
#include "tools/stages/tool_bounds.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;
using Need = JsonReader::Need;
using Empty = JsonReader::Empty;

constexpr int kFormat = 1;
constexpr const char* kHowToName = "name one: kiln build path/to/targets.json --out out";
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kMostUnits = 1024;  // sources of one module
constexpr std::size_t kMostSuggestions = 16;

// "0.1.0" -> 100, as KILN_VERSION counts.
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

bool is_file_name(std::string_view text) {
  return !text.empty() && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

class ManifestParser {
 public:
  ManifestParser(Manifest& manifest, std::vector<ToolBounds>& tools, const Files& files)
      : manifest_(manifest), tools_(tools), files_(files), reader_(manifest.path.generic_string()) {}

  Result<void> parse(const Json& json) {
    reader_.object(
        json, "the manifest",
        {{"$schema", Need::kOptional, [&](const Json& v) { reader_.text(v, "'$schema'"); }},
         {"format", Need::kRequired, [&](const Json& v) { reader_.format(v, kFormat); }},
         {"name", Need::kRequired,
          [&](const Json& v) { manifest_.name = identifier(v, "the manifest's name"); }},
         {"targets", Need::kRequired, [&](const Json& v) { manifest_.targets = targets(v); }},
         {"modules", Need::kRequired, [&](const Json& v) { modules(v); }},
         {"include_directories", Need::kOptional,
          [&](const Json& v) { include_directories(v, manifest_.options); }},
         {"defines", Need::kOptional, [&](const Json& v) { defines(v, manifest_.options); }},
         {"flags", Need::kOptional,
          [&](const Json& v) { strings(v, "'flags'", manifest_.options.flags); }},
         {"amd_flags", Need::kOptional,
          [&](const Json& v) { strings(v, "'amd_flags'", manifest_.options.amd_flags); }},
         {"nvidia_flags", Need::kOptional,
          [&](const Json& v) { strings(v, "'nvidia_flags'", manifest_.options.nvidia_flags); }},
         {"host_flags", Need::kOptional,
          [&](const Json& v) { strings(v, "'host_flags'", manifest_.options.host_flags); }},
         {"debug", Need::kOptional, [&](const Json& v) { debug(v); }},
         {"joined_ptx", Need::kOptional, [&](const Json& v) { joined_ptx(v); }},
         {"abi", Need::kOptional, [&](const Json& v) { abi(v); }},
         {"embed", Need::kOptional, [&](const Json& v) { embed(v); }},
         {"minimum_runtime", Need::kOptional, [&](const Json& v) { minimum_runtime(v); }},
         {"min_driver", Need::kOptional,
          [&](const Json& v) {
            manifest_.floors.cuda = parse_floor(reader_, v, "'min_driver'");
          }},
         {"min_rocm", Need::kOptional,
          [&](const Json& v) { manifest_.floors.rocm = parse_floor(reader_, v, "'min_rocm'"); }},
         {"budgets", Need::kOptional,
          [&](const Json& v) {
            manifest_.budgets =
                parse_budgets(reader_, v, "the manifest's 'budgets'", BudgetsOf::kManifest);
          }},
         {"tools", Need::kOptional,
          [&](const Json& v) { tools_ = parse_tool_bounds(reader_, v); }}});
    check_abi_modules();
    return reader_.finish();
  }

 private:
  Located<std::string> identifier(const Json& value, const std::string& what) {
    const std::string* text = reader_.text(value, what);
    if (text == nullptr) return {};
    if (text->size() > kLongestName) {
      reader_.report(value, what + " is " + std::to_string(text->size()) +
                                " characters long, at most " + std::to_string(kLongestName) +
                                " are allowed");
    } else if (!is_identifier(*text)) {
      reader_.report(value, what + " " + quote(*text) + " is not a C++ identifier")
          .hint("use letters, digits and '_', no digit first, and no keyword of C++");
    }
    return {*text, reader_.where(value)};
  }

  std::vector<Located<TargetId>> targets(const Json& value) {
    std::vector<Located<TargetId>> found;
    std::map<TargetId, std::pair<std::string, Location>> spellings;
    reader_.list(value, "'targets'", "strings", Empty::kRefused, [&](const Json& item) {
      const std::string* text = reader_.text(item, "a target");
      if (text == nullptr) return;
      Result<TargetId> target = parse_target_id(*text);
      if (!target) return reader_.report(item, std::move(target).error());
      const auto [first, is_new] = spellings.emplace(*target, std::pair{*text, reader_.where(item)});
      if (is_new) {
        found.push_back({*std::move(target), reader_.where(item)});
        return;
      }
      const auto& [spelling, place] = first->second;
      Error& error = reader_.report(item, "target " + quote(*text) + " is listed twice");
      error.notes.push_back({Note::Kind::kNote,
                             spelling == *text ? "first listed here"
                                               : "first listed here as " + quote(spelling),
                             place});
    });
    check_one_bundle(found);
    return found;
  }

  // All AMD images of a module go into one bundle.
  void check_one_bundle(const std::vector<Located<TargetId>>& targets) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (can_share_bundle(targets[i].value, targets[j].value)) continue;
        Error& error = reader_.report(
            targets[i].where, "targets " + quote(to_string(targets[j].value)) + " and " +
                                  quote(to_string(targets[i].value)) + " cannot be in one bundle");
        error.notes.push_back({Note::Kind::kNote, "the other one", targets[j].where});
        error.hint("for one processor, either name a feature in every target or in none");
        break;
      }
    }
  }

  void modules(const Json& value) {
    std::map<std::string, Location> names;
    reader_.list(value, "'modules'", "objects", Empty::kRefused, [&](const Json& item) {
      ModuleSpec spec = module(item);
      if (spec.name.value.empty()) return;
      const auto [first, is_new] = names.emplace(spec.name.value, spec.name.where);
      if (!is_new) {
        Error& error = reader_.report(spec.name.where,
                                      "two modules are called " + quote(spec.name.value));
        error.notes.push_back({Note::Kind::kNote, "the first one", first->second});
        return;
      }
      manifest_.modules.push_back(std::move(spec));
    });
    std::sort(manifest_.modules.begin(), manifest_.modules.end(),
              [](const ModuleSpec& a, const ModuleSpec& b) { return a.name.value < b.name.value; });
  }

  ModuleSpec module(const Json& value) {
    ModuleSpec spec;
    const Json* name = value.find("name");
    const std::string what = name != nullptr && name->text() != nullptr
                                 ? "module " + quote(*name->text())
                                 : "a module";
    CompileOptions& options = spec.options;
    reader_.object(
        value, what,
        {{"name", Need::kRequired,
          [&](const Json& v) { spec.name = identifier(v, "the module's name"); }},
         {"sources", Need::kRequired, [&](const Json& v) { spec.sources = sources(v, what); }},
         {"targets", Need::kOptional, [&](const Json& v) { spec.targets = targets(v); }},
         {"include_directories", Need::kOptional,
          [&](const Json& v) { include_directories(v, options); }},
         {"defines", Need::kOptional, [&](const Json& v) { defines(v, options); }},
         {"flags", Need::kOptional, [&](const Json& v) { strings(v, "'flags'", options.flags); }},
         {"amd_flags", Need::kOptional,
          [&](const Json& v) { strings(v, "'amd_flags'", options.amd_flags); }},
         {"nvidia_flags", Need::kOptional,
          [&](const Json& v) { strings(v, "'nvidia_flags'", options.nvidia_flags); }},
         {"host_flags", Need::kOptional,
          [&](const Json& v) { strings(v, "'host_flags'", options.host_flags); }},
         {"partial", Need::kOptional, [&](const Json& v) { partial(v, spec); }},
         {"budgets", Need::kOptional, [&](const Json& v) {
            spec.budgets =
                parse_budgets(reader_, v, "'budgets' of " + what, BudgetsOf::kModule);
          }}});
    return spec;
  }

  // A path under the manifest's folder in its shortest form; empty, with a report, when it is not.
  std::string inner_path(const Json& value, const std::string& what) {
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

  std::vector<Located<std::string>> sources(const Json& value, const std::string& of) {
    std::vector<Located<std::string>> found;
    if (const Json::Array* items = value.array(); items && items->size() > kMostUnits) {
      reader_.report(value, of + " has " + std::to_string(items->size()) + " sources, at most " +
                                std::to_string(kMostUnits) + " are allowed");
      return found;
    }
    std::map<std::string, Location> places;
    reader_.list(value, "'sources' of " + of, "strings", Empty::kRefused, [&](const Json& item) {
      const std::string source = inner_path(item, "source");
      if (source.empty()) return;
      const auto [same, is_new] = places.emplace(source, reader_.where(item));
      if (!is_new) {
        Error& error = reader_.report(item, "source " + quote(source) + " is listed twice");
        error.notes.push_back({Note::Kind::kNote, "first listed here", same->second});
        return;
      }
      if (is_file(item, "source", source)) found.push_back({source, reader_.where(item)});
    });
    return found;
  }

  // Whether the path is that of a file; reported when it is not.
  bool is_file(const Json& item, const std::string& what, const std::string& path) {
    const std::string name = what + " " + quote(path);
    switch (files_.kind(manifest_.directory / path)) {
      case PathKind::kFile: return true;
      case PathKind::kNone: suggest(path, reader_.report(item, name + " does not exist")); break;
      case PathKind::kFolder:
        reader_.report(item, name + " is a folder").hint("name the files in it, each by itself");
        break;
      case PathKind::kOther:
        reader_.report(item, name + " is no file, but a pipe or a device");
        break;
      case PathKind::kHidden:
        reader_.report(item, name +
                                 " cannot be looked at: a loop of links, or a folder on the way "
                                 "that is not yours to enter");
        break;
    }
    return false;
  }

  // Looks for what was meant, a few times only: a folder is read and compared each time.
  void suggest(const fs::path& missing, Error& error) {
    if (++suggestions_ > kMostSuggestions) return;
    const std::string near = neighbour(missing);
    if (!near.empty()) error.hint("did you mean " + quote(near) + "?");
  }

  // The file beside `missing` whose name is nearest to its name.
  std::string neighbour(const fs::path& missing) const {
    const auto names = files_.list(manifest_.directory / missing.parent_path());
    if (!names) return {};
    const std::string near = nearest(missing.filename().string(), *names);
    return near.empty() ? near : (missing.parent_path() / near).generic_string();
  }

  void include_directories(const Json& value, CompileOptions& options) {
    reader_.list(value, "'include_directories'", "strings", Empty::kAllowed, [&](const Json& item) {
      const std::string* text = reader_.text(item, "an include directory");
      if (text == nullptr) return;
      if (*text == kKilnsOwnHeaders) {
        options.include_directories.push_back({*text, reader_.where(item)});
        return;
      }
      const fs::path normal = fs::path(*text).lexically_normal();
      if (const std::string why = why_not_a_folder_path(*text); !why.empty()) {
        reader_
            .report(item, "include directory " + quote(*text) + " cannot be given to the compilers")
            .note(why)
            .hint("rename it");
        return;
      }
      const PathKind kind = files_.kind(manifest_.directory / normal);
      if (kind == PathKind::kNone) {
        suggest(normal,
                reader_.report(item, "include directory " + quote(*text) + " does not exist"));
        return;
      }
      if (kind != PathKind::kFolder) {
        reader_.report(item, "include directory " + quote(*text) + " is not a folder");
        return;
      }
      options.include_directories.push_back({normal.generic_string(), reader_.where(item)});
    });
  }

  void defines(const Json& value, CompileOptions& options) {
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
      options.defines.push_back({*text, reader_.where(item)});
    });
  }

  void strings(const Json& value, const std::string& what,
               std::vector<Located<std::string>>& into) {
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
  }

  // What compilers are given is also kept and shown as lines.
  bool is_one_line(const Json& item, const std::string& what, const std::string& text) {
    if (std::none_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
      return true;
    }
    reader_.report(item, what + " " + quote(text) + " holds a control character");
    return false;
  }

  void debug(const Json& value) {
    const int choice = reader_.choice(value, "'debug'", {"none", "lines", "full"});
    if (choice >= 0) manifest_.debug = static_cast<DebugInfo>(choice);
  }

  void embed(const Json& value) {
    EmbedOptions& embed = manifest_.embed;
    reader_.object(
        value, "'embed'",
        {{"header", Need::kOptional, [&](const Json& v) { header(v); }},
         {"namespace", Need::kOptional, [&](const Json& v) { name_space(v); }},
         {"mode", Need::kOptional,
          [&](const Json& v) {
            const int choice = reader_.choice(v, "'mode'", {"array", "asm", "split"});
            if (choice >= 0) embed.mode = static_cast<EmbedMode>(choice);
          }},
         {"emit", Need::kOptional, [&](const Json& v) { emit(v); }},
         {"compression", Need::kOptional,
          [&](const Json& v) {
            const int choice = reader_.choice(v, "'compression'", {"zstd", "none"});
            if (choice >= 0) {
              embed.compression = choice == 0 ? Compression::kZstd : Compression::kNone;
            }
          }},
         {"source", Need::kOptional, [&](const Json& v) {
            const int choice = reader_.choice(v, "'source'", {"none", "beside", "instead"});
            if (choice >= 0) embed.source = static_cast<EmbedSource>(choice);
          }}});
  }

  void emit(const Json& value) {
    std::set<EmbedOutput> outputs;
    reader_.list(value, "'emit'", "strings", Empty::kRefused, [&](const Json& item) {
      const int choice = reader_.choice(item, "an entry of 'emit'", {"cpp", "c", "rust", "catalog"});
      if (choice >= 0) outputs.insert(static_cast<EmbedOutput>(choice));
    });
    if (!outputs.empty()) manifest_.embed.outputs.assign(outputs.begin(), outputs.end());
  }

  void header(const Json& value) {
    const std::string* text = reader_.text(value, "'header'");
    if (text == nullptr) return;
    if (text->find('/') != std::string::npos || text->find('\\') != std::string::npos) {
      reader_.report(value, "'header' " + quote(*text) + " is a path, not a file name")
          .hint("the header is written to the folder 'include' of the out folder");
    } else if (!is_file_name(*text) || text->size() > kLongestName) {
      reader_.report(value, "'header' " + quote(*text) + " is not a file name")
          .hint("use letters, digits, '.', '_' and '-', no '.' first");
    } else if (!is_header_name(*text)) {
      reader_.report(value, "'header' " + quote(*text) + " does not end as a header does")
          .hint("let it end in .h, .hh, .hpp or .hxx: 'kernels.hpp'");
    } else {
      manifest_.embed.header = *text;
    }
  }

  void name_space(const Json& value) {
    const std::string* text = reader_.text(value, "'namespace'");
    if (text == nullptr) return;
    if (Result<std::string> checked = parse_namespace(*text); checked) {
      manifest_.embed.name_space = *std::move(checked);
    } else {
      reader_.report(value, std::move(checked).error());
    }
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

  void partial(const Json& value, ModuleSpec& spec) {
    const bool* chosen = reader_.boolean(value, "'partial'");
    if (chosen == nullptr || !*chosen) return;
    spec.coverage = AbiCoverage::kSome;
    partial_modules_.push_back(reader_.where(value));
  }

  // One path, or a list of them.
  void abi(const Json& value) {
    if (value.array() == nullptr) return abi_file(value, "'abi'");
    reader_.list(value, "'abi'", "strings", Empty::kRefused,
                 [&](const Json& item) { abi_file(item, "an entry of 'abi'"); });
  }

  void abi_file(const Json& value, const std::string& what) {
    const std::string path = inner_path(value, what);
    if (path.empty()) return;
    const auto [same, is_new] = abi_places_.emplace(path, reader_.where(value));
    if (!is_new) {
      Error& error = reader_.report(value, "abi file " + quote(path) + " is listed twice");
      error.notes.push_back({Note::Kind::kNote, "first listed here", same->second});
      return;
    }
    manifest_.abi_paths.push_back({path, reader_.where(value)});
    const Result<std::string> text = files_.read(manifest_.directory / path);
    if (!text) {
      Error& error = reader_.report(value, "cannot read the abi file " + quote(path));
      error.note(text.error().message);
      return;
    }
    manifest_.read[path] = sha256(*text);
    const fs::path shown = manifest_.path.parent_path() / path;
    Result<Abi> abi = parse_abi(*text, shown.generic_string());
    if (!abi) return reader_.report(std::move(abi).error());
    for (auto& [module, kernels] : *abi) add_abi_kernels(manifest_.abi[module], std::move(kernels));
  }

  void add_abi_kernels(std::vector<AbiKernel>& known, std::vector<AbiKernel> more) {
    const auto by_name = [](const AbiKernel& a, const AbiKernel& b) { return a.name < b.name; };
    const std::size_t before = known.size();
    for (AbiKernel& kernel : more) {
      const auto end = known.begin() + static_cast<std::ptrdiff_t>(before);
      const auto same = std::lower_bound(known.begin(), end, kernel, by_name);
      if (same == end || same->name != kernel.name) {
        known.push_back(std::move(kernel));
        continue;
      }
      Error error{ErrorCode::kInvalidInput, "kernel " + quote(kernel.name) + " is in two abi files",
                  kernel.where, {}};
      error.notes.push_back({Note::Kind::kNote, "the other one", same->where});
      reader_.report(std::move(error));
    }
    std::sort(known.begin(), known.end(), by_name);
  }

  // A module that no abi file knows would go unchecked.
  void check_abi_modules() {
    if (manifest_.abi_paths.empty()) {
      for (const Location& where : partial_modules_) {
        reader_.report(where, "'partial' is about an abi file, and the manifest names none");
      }
    }
    if (manifest_.abi.empty()) return;
    std::vector<std::string> known;
    for (const auto& [name, kernels] : manifest_.abi) known.push_back(name);
    const std::string where = manifest_.abi_paths.size() == 1
                                  ? "not in the abi file " + quote(manifest_.abi_paths[0].value)
                                  : "in none of the abi files";
    for (const ModuleSpec& module : manifest_.modules) {
      if (manifest_.abi.contains(module.name.value)) continue;
      Error& error = reader_.report(module.name.where,
                                    "module " + quote(module.name.value) + " is " + where);
      const std::string near = nearest(module.name.value, known);
      if (!near.empty()) error.hint("did you mean " + quote(near) + "?");
    }
  }

  Manifest& manifest_;
  std::vector<ToolBounds>& tools_;
  const Files& files_;
  JsonReader reader_;
  std::size_t suggestions_ = 0;
  std::vector<Location> partial_modules_;  // where 'partial' stands
  std::map<std::string, Location> abi_places_;
};

// A document that lies near a manifest: the catalog of a build, or an abi file.
bool is_another_document(const Json& json) {
  const Json* modules = json.find("modules");
  if (modules == nullptr) return json.find("images") != nullptr;
  return modules->object() != nullptr && json.find("targets") == nullptr;
}

}  // namespace

Result<Manifest> parse_manifest(const fs::path& path, const fs::path& directory,
                                const Files& files) {
  std::vector<ToolBounds> ignored;
  return parse_manifest(path, directory, files, ignored);
}

Result<Manifest> parse_manifest(const fs::path& path, const fs::path& directory,
                                const Files& files, std::vector<ToolBounds>& tools) {
  Manifest manifest;
  manifest.path = path;
  manifest.directory = (directory / path).lexically_normal().parent_path();
  const std::string name = path.generic_string();
  if (!files.status(directory / path)) {
    return Error{ErrorCode::kInvalidInput, "there is no manifest " + quote(name)}.hint(kHowToName);
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
  KILN_TRY(ManifestParser(manifest, tools, files).parse(*json));
  return manifest;
}

bool is_header_name(std::string_view name) {
  const std::string_view extension = name.substr(std::min(name.rfind('.'), name.size()));
  const bool is_header =
      extension == ".h" || extension == ".hh" || extension == ".hpp" || extension == ".hxx";
  return is_header && is_file_name(name) && name.front() != '-';
}

Result<std::string> parse_namespace(std::string_view text) {
  if (text == "kiln" || text == "std" || text.starts_with("std::")) {
    return Error{ErrorCode::kInvalidInput, "the namespace " + quote(text) + " is taken"}.hint(
        "choose one of your own, such as 'kernels'");
  }
  std::string_view rest = text;
  while (true) {
    const std::size_t end = rest.find("::");
    if (!is_identifier(rest.substr(0, end))) break;
    if (end == std::string_view::npos) return std::string(text);
    rest.remove_prefix(end + 2);
  }
  return Error{ErrorCode::kInvalidInput, quote(text) + " is not a C++ namespace"}.hint(
      "write it like 'kernels' or 'my::kernels'");
}

}  // namespace kiln::tools
