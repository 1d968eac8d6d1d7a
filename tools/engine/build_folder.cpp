#include "tools/engine/build_folder.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/write_container.hpp"
#include "tools/engine/old_images.hpp"
#include "tools/engine/publish.hpp"
#include "tools/json/json.hpp"
#include "tools/model/plan.hpp"
#include "tools/stages/layout.hpp"
#include "tools/stages/read_catalog.hpp"
#include "tools/stages/recognize.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;
using FileMap = std::map<std::string, std::string>;

// Reads the files of a build and notes every problem with them.
class Reader {
 public:
  Reader(const fs::path& folder, const Files& files) : folder_(folder), files_(files) {}

  // Returns an empty string, and notes the problem, if the file is missing or not what the catalog
  // says.
  std::string read(const std::string& path, const Digest& digest) {
    std::optional<std::string> bytes = find(path);
    if (!bytes) {
      note_missing(path);
    } else if (sha256(*bytes) != digest) {
      problems_.push_back(quote(path) + " was changed");
    } else {
      return std::move(*bytes);
    }
    return {};
  }

  std::optional<std::string> find(const std::string& path) const {
    if (!is_inner_path(path) || files_.leads_outside(folder_, folder_ / path)) return std::nullopt;
    Result<std::string> bytes = files_.read(folder_ / path);
    if (!bytes) return std::nullopt;
    return std::move(bytes).value();
  }

  // Notes a file that find() did not return.
  void note_missing(const std::string& path) {
    const bool exists = is_inner_path(path) && files_.kind(folder_ / path) != PathKind::kNone;
    problems_.push_back(quote(path) + (exists ? " cannot be read" : " is missing"));
  }

  Result<void> finish(const fs::path& shown) const {
    if (problems_.empty()) return {};
    Error error{.code = ErrorCode::kBuildFailed,
                .message = quote((shown / "kiln.json").string()) +
                           " does not match the files beside it: " + counted(problems_.size(), "file") +
                           (problems_.size() == 1 ? " differs" : " differ")};
    for (const std::string& problem : problems_) error.note(problem);
    return error.hint("build or merge it again: what was changed is then made again");
  }

 private:
  const fs::path& folder_;
  const Files& files_;
  std::vector<std::string> problems_;
};

ModuleSpec spec_of(const Module& module) {
  ModuleSpec spec;
  spec.name.value = module.name;
  for (const std::string& source : module.sources) spec.sources.push_back({source, {}});
  return spec;
}

bool is_amd(const Artifact& image) { return image.target.kind == TargetKind::kAmd; }

// Returns the paths of the sources that hipify-perl made for the modules with AMD images.
std::set<std::string> converted_files(const Catalog& catalog) {
  std::set<std::string> paths;
  for (const Module& module : catalog.modules) {
    if (std::ranges::none_of(module.images, is_amd)) continue;
    for (const UnitOrigin& origin : module.origins) {
      for (const SourceFile& file : origin.files) paths.insert("hip/" + file.path);
    }
  }
  return paths;
}

// Returns the error for a container that has the recorded digest but cannot be parsed.
Error unreadable(const BuildFolder& build, const std::string& path, Error error) {
  error.where.file = (build.shown / path).string();
  return std::move(error).hint("build the part again with another release of the tool that packs it: 'kiln doctor' lists it");
}

// Finds entries in the containers of one unit, which have the same path in every build.
class Containers {
 public:
  explicit Containers(const std::vector<BuildFolder>& builds) : builds_(builds) {}

  // Returns the tool's name for the entry, such as "hipv4-amdgcn-amd-amdhsa--gfx1100". An empty
  // target stands for the host's entry.
  Result<std::string> entry_name(const std::string& path, const std::string& target) const {
    std::string found;
    for (const BuildFolder& build : builds_) {
      const auto file = build.files.find(path);
      if (file == build.files.end() || !found.empty()) continue;
      const auto read = read_container(as_bytes(file->second), [&](const ContainerEntry& entry) -> Result<void> {
        if (entry.target == target) found = entry.name;
        return {};
      });
      if (!read) return unreadable(build, path, read.error());
    }
    return found;
  }

  Result<std::vector<FatbinEntry>> fatbin(const std::string& path) const {
    std::vector<FatbinEntry> entries;
    for (const BuildFolder& build : builds_) {
      const auto file = build.files.find(path);
      if (file == build.files.end()) continue;
      const Result<std::vector<FatbinEntry>> read = fatbin_entries(as_bytes(file->second));
      if (!read) return unreadable(build, path, read.error());
      entries.insert(entries.end(), read->begin(), read->end());
    }
    return entries;
  }

 private:
  const std::vector<BuildFolder>& builds_;
};

Error missing_entry(const std::string& path, const std::string& target) {
  return Error{.code = ErrorCode::kInvalidInput,
               .message = quote(path) + " does not hold its image for " + quote(target)}
      .hint("build or merge it again: what was changed is then made again");
}

Result<std::string> pack_amd(const std::string& path, const std::vector<const Artifact*>& images,
                             const Containers& containers) {
  KILN_TRY_ASSIGN(std::string host, containers.entry_name(path, ""));
  std::vector<BundleEntry> entries = {{std::move(host), {}}};
  for (const Artifact* image : images) {
    const std::string target = to_string(image->target);
    KILN_TRY_ASSIGN(std::string name, containers.entry_name(path, target));
    if (name.empty()) return missing_entry(path, target);
    entries.push_back({std::move(name), as_bytes(image->bytes)});
  }
  return write_offload_bundle(entries);
}

Result<std::string> pack_nvidia(const std::string& path, const std::vector<const Artifact*>& images,
                                const Containers& containers) {
  KILN_TRY_ASSIGN(const std::vector<FatbinEntry> entries, containers.fatbin(path));
  std::vector<FatbinEntry> chosen;
  for (const Artifact* image : images) {
    const std::string target = to_string(image->target);
    const auto entry = std::ranges::find(entries, target, &FatbinEntry::target);
    if (entry == entries.end()) return missing_entry(path, target);
    chosen.push_back(*entry);
  }
  return write_fatbin(chosen);
}

// Returns the images of a unit, in the order of their targets: the AMD ones, or the cubins and PTX.
std::vector<const Artifact*> images_of(const Module& module, std::size_t unit, bool amd) {
  std::vector<const Artifact*> images;
  for (const Artifact& image : module.images) {
    const bool is_wanted =
        amd ? is_amd(image)
            : image.target.kind == TargetKind::kCubin || image.target.kind == TargetKind::kPtx;
    if (image.unit == unit && is_wanted) images.push_back(&image);
  }
  return images;
}

std::vector<BundleRecord> records_of(const BuildFolder& build) {
  std::vector<BundleRecord> records;
  const auto add = [&](const Module& module, const std::string& path) {
    const auto file = build.files.find(below_out(path));
    if (file == build.files.end()) return;
    BundleRecord record;
    record.module = module.name;
    record.path = file->first;
    record.size = file->second.size();
    record.digest = sha256(file->second);
    records.push_back(std::move(record));
  };
  for (const Module& module : build.catalog.modules) {
    for (std::size_t unit = 0; unit < module.sources.size(); ++unit) {
      add(module, bundle_path(spec_of(module), unit, "hsaco"));
      add(module, bundle_path(spec_of(module), unit, "fatbin"));
    }
  }
  for (const Module& module : build.catalog.modules) {
    for (const Artifact& image : module.images) {
      if (image.unit == 0 && image.target.kind == TargetKind::kPtx) {
        add(module, joined_path(spec_of(module), image.target));
      }
    }
  }
  return records;
}

}  // namespace

BuildPath build_path(const fs::path& given, const fs::path& here) {
  fs::path shown = given.filename() == "kiln.json" ? given.parent_path() : given;
  if (shown.empty()) shown = ".";
  return {(here / shown).lexically_normal(), shown};
}

Error no_build(const fs::path& folder, const fs::path& shown, const Files& files) {
  const auto has_build = [&](const fs::path& other) { return files.kind(other / "kiln.json") == PathKind::kFile; };
  const auto builds_in = [&](const fs::path& parent) {
    std::vector<std::string> names = files.list(parent).value_or(std::vector<std::string>());
    std::erase_if(names, [&](const std::string& name) { return !has_build(parent / name); });
    return names;
  };
  const auto did_you_mean = [](const fs::path& meant) {
    return "did you mean " + quote(meant.lexically_normal().string()) + "?";
  };
  const std::string build_first = "build it first: kiln build --out " + shell_quote(shown.string());
  switch (files.kind(folder)) {
    case PathKind::kFile: {
      Recognized file = recognize(files.read(folder).value_or(""), shown);
      if (file.what.empty()) file = {"a file", "name the out folder of a build"};
      return misplaced(file, "the folder of a finished build", shown);
    }
    case PathKind::kNone: {
      const std::string near = nearest(folder.filename().string(), builds_in(folder.parent_path()));
      return Error{ErrorCode::kInvalidInput, "there is no folder " + quote(shown.string())}.hint(
          near.empty() ? build_first : did_you_mean(shown.parent_path() / near));
    }
    default: break;
  }
  Error error{ErrorCode::kInvalidInput, quote(shown.string()) + " is not the folder of a finished build"};
  error.note("there is no " + quote((shown / "kiln.json").string()) + " in it");
  if (const std::vector<std::string> inner = builds_in(folder); !inner.empty()) {
    return error.hint(did_you_mean(shown / inner.front()));
  }
  fs::path up = "..";
  for (auto outer = shown; outer.has_relative_path() && outer != outer.parent_path(); up /= "..") {
    outer = outer.parent_path();
    if (has_build(folder / up)) return error.hint("the build's folder is " + quote(outer.empty() ? "." : outer.string()));
  }
  if (files.kind(folder / "targets.json") == PathKind::kFile) {
    return error.hint("it has a manifest: name the out folder of a build of it, such as 'out'");
  }
  return error.hint(build_first);
}

Result<Json> read_build_document(const fs::path& folder, const fs::path& shown,
                                 const Files& files) {
  const Result<std::string> text = files.read(folder / "kiln.json");
  if (!text) {
    const bool exists = files.kind(folder / "kiln.json") != PathKind::kNone;
    return exists ? text.error() : no_build(folder, shown, files);
  }
  constexpr JsonLimits kLimits{.bytes = 256U << 20, .depth = 32};
  Result<Json> document = read_json(*text, (shown / "kiln.json").generic_string(), kLimits);
  if (!document) return std::move(document).error().hint(kMakeItAgain);
  return document;
}

Result<BuildFolder> read_build_catalog(const fs::path& folder, const fs::path& shown,
                                       const Files& files) {
  KILN_TRY_ASSIGN(const Json document, read_build_document(folder, shown, files));
  KILN_TRY_ASSIGN(CatalogRecord record,
                  read_catalog(document, (shown / "kiln.json").generic_string()));
  return BuildFolder{shown, std::move(record.catalog), std::move(record.bundles), {}};
}

Result<BuildFolder> read_build_folder(const fs::path& folder, const fs::path& shown,
                                      const Files& files) {
  KILN_TRY_ASSIGN(BuildFolder build, read_build_catalog(folder, shown, files));
  Reader reader(folder, files);
  for (Module& module : build.catalog.modules) {
    for (Artifact& image : module.images) image.bytes = reader.read(image.path, image.digest);
    if (build.catalog.settings.embed.source == EmbedSource::kNone) continue;
    for (std::size_t unit = 0; unit < module.sources.size(); ++unit) {
      const std::string path = source_bundle_path(module.name, unit);
      std::optional<std::string> text = reader.find(path);
      if (!text) reader.note_missing(path);
      module.source_bundles.push_back(std::move(text).value_or(std::string()));
    }
  }
  for (const BundleRecord& bundle : build.bundles) {
    build.files[bundle.path] = reader.read(bundle.path, bundle.digest);
  }
  for (const std::string& path : converted_files(build.catalog)) {
    std::optional<std::string> text = reader.find(path);
    if (!text) reader.note_missing(path);
    build.files[path] = std::move(text).value_or(std::string());
  }
  KILN_TRY(reader.finish(shown));
  return build;
}

Result<FileMap> repack(const Catalog& catalog, const std::vector<BuildFolder>& builds) {
  const Containers containers(builds);
  FileMap files;
  const auto copy = [&](const std::string& path) {
    for (const BuildFolder& build : builds) {
      const auto file = build.files.find(path);
      if (file != build.files.end()) files.insert(*file);
    }
  };
  for (const Module& module : catalog.modules) {
    const ModuleSpec spec = spec_of(module);
    for (std::size_t unit = 0; unit < module.sources.size(); ++unit) {
      if (const auto images = images_of(module, unit, true); !images.empty()) {
        const std::string path = below_out(bundle_path(spec, unit, "hsaco"));
        KILN_TRY_ASSIGN(files[path], pack_amd(path, images, containers));
      }
      if (const auto images = images_of(module, unit, false); !images.empty()) {
        const std::string path = below_out(bundle_path(spec, unit, "fatbin"));
        KILN_TRY_ASSIGN(files[path], pack_nvidia(path, images, containers));
      }
    }
    for (const Artifact& image : module.images) {
      if (image.target.kind == TargetKind::kPtx) copy(below_out(joined_path(spec, image.target)));
    }
  }
  for (const std::string& path : converted_files(catalog)) copy(path);
  return files;
}

namespace {

// Returns the files in include/ that a build wrote: those that its checksums list, the checksums,
// and the stamp. Empty if the folder has no readable build.
std::vector<std::string> included_files(const fs::path& folder, const Files& files) {
  const Result<BuildFolder> build = read_build_catalog(folder, folder, files);
  if (!build) return {};
  const EmbedOptions& embed = build->catalog.settings.embed;
  const std::string list = checksums_path(embed);
  std::vector<std::string> paths = {list, stamp_path(embed)};
  const std::string text = files.read(folder / list).value_or(std::string());
  for (const std::string_view line : split(text, '\n')) {
    if (std::optional<Checksum> file = read_checksum(line)) paths.push_back(std::move(file->path));
  }
  return paths;
}

// Removes an earlier build from the folder, but no files of the user.
Result<void> remove_build(const fs::path& folder, Files& files) {
  std::vector<std::string> paths = included_files(folder, files);
  for (const auto& [inner, depth] : {std::pair("images", 2), std::pair("bundles", 1)}) {
    for (std::string& path : files_below(files, folder, inner, depth)) {
      if (is_of_kiln(path)) paths.push_back(std::move(path));
    }
  }
  for (std::string& path : files_below(files, folder, "sources", 0)) {
    if (path.ends_with(".source")) paths.push_back(std::move(path));
  }
  static constexpr std::array kOwn = {"kiln.json", "compile_commands.json", "hip", ".kiln/state",
                                      ".kiln/digests"};
  for (const char* name : kOwn) KILN_TRY(files.remove_all(folder / name));
  for (const std::string& path : paths) {
    if (files.kind(folder / path) == PathKind::kNone) continue;
    KILN_TRY(remove_with_empty_folders(files, folder, path));
  }
  return {};
}

}  // namespace

Result<void> write_build_folder(const BuildFolder& build, const fs::path& folder, Files& files,
                                CacheStore* store) {
  std::map<std::string, ImageSources> sources;
  for (const Module& module : build.catalog.modules) {
    for (const Artifact& image : module.images) {
      sources[module.name][image.digest] = module.source_digest;
    }
  }
  KILN_TRY_ASSIGN(const std::vector<PublishedFile> published,
                  publish(build.catalog, records_of(build), sources, store));
  // Removes an earlier build first, so that a catalog never lies beside files of another build.
  KILN_TRY(remove_build(folder, files));
  for (const auto& [path, bytes] : build.files) KILN_TRY(files.write(folder / path, bytes));
  for (const Module& module : build.catalog.modules) {
    for (const Artifact& image : module.images)
      KILN_TRY(files.write(folder / image.path, image.bytes));
  }
  for (const PublishedFile& file : published) KILN_TRY(files.write(folder / file.path, file.text));
  return {};
}

}  // namespace kiln::tools
