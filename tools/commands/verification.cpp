#include "tools/commands/verification.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "tools/engine/old_images.hpp"
#include "tools/engine/publish.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/stages/kernel_numbers.hpp"
#include "tools/stages/layout.hpp"
#include "tools/stages/verify.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

Error wrong(std::string message) {
  return Error{.code = ErrorCode::kBuildFailed, .message = std::move(message)};
}

constexpr const char* kMakeAgain = "build or merge it again, or copy the whole folder";

// Returns the error for a file called `name` that could not be read.
Error unread(const std::string& name, const Error& why) {
  if (why.code == ErrorCode::kInvalidInput) return wrong(name + " is missing").hint(kMakeAgain);
  return wrong(name + " cannot be read").note(why.message).hint(kMakeAgain);
}

}  // namespace

Verification::Verification(BuildFolder& build, std::map<std::string, std::uint64_t> sizes, const fs::path& folder,
             const fs::path& shown, const Files& files)
    : build_(build), sizes_(std::move(sizes)), folder_(folder), shown_(shown), files_(files) {
  for (const Module& module : build.catalog.modules) {
    for (const Artifact& image : module.images) {
      owners_.emplace(image.digest, image.path);
      listed_.insert(image.path);
    }
  }
  for (const BundleRecord& bundle : build.bundles) listed_.insert(bundle.path);
}

void Verification::read_files() {
  for (Module& module : build_.catalog.modules) {
    std::erase_if(module.images, [&](Artifact& image) {
      ++images_;
      if (std::optional<std::string> bytes = read(image.path, image.digest)) {
        image.bytes = std::move(*bytes);
        return false;
      }
      incomplete_.insert({module.name, image.target});
      return true;
    });
  }
  for (const BundleRecord& bundle : build_.bundles) {
    if (std::optional<std::string> bytes = read(bundle.path, bundle.digest)) {
      note_need(bundle.path, need_of_bundle(*bytes));
    }
  }
}

void Verification::check_included() {
  const std::string list = checksums_path(build_.catalog.settings.embed);
  const Result<std::string> text = files_.read(folder_ / list);
  if (!text) {
    errors_.push_back(unread(name(list), text.error()));
    return;
  }
  std::set<std::string> unnamed;  // files that programs include, according to the settings
  for (const std::string& file : published_files(build_.catalog.settings.embed)) {
    if (file.starts_with(kIncludeFolder) && file != list) unnamed.insert(file);
  }
  for (const std::string_view line : split(*text, '\n')) {
    if (line.empty()) continue;
    const std::optional<Checksum> file = read_checksum(line);
    if (!file) {
      errors_.push_back(wrong(name(list) + " is damaged").hint(kMakeAgain));
      return;
    }
    unnamed.erase(file->path);
    (void)read(file->path, file->digest, "its list");
  }
  if (unnamed.empty()) return;
  std::vector<std::string> names;
  for (const std::string& path : unnamed) names.push_back(quote(path));
  errors_.push_back(wrong(name(list) + " does not name " + join(names, ", ")).hint(kMakeAgain));
}

void Verification::check_sources() {
  for (const Module& module : build_.catalog.modules) {
    const std::string list = sources_list(module.name);
    const ImageSources& said = sources_of(module.name);
    if (files_.kind(folder_ / list) == PathKind::kNone) {
      errors_.push_back(wrong(name(list) + " is missing").hint(kMakeAgain));
      continue;
    }
    for (const Artifact& image : module.images) {
      const auto found = said.find(image.digest);
      if (found != said.end() && found->second == module.source_digest) continue;
      errors_.push_back(wrong(name(list) + " does not tell the sources of " + name(image.path))
                            .note("their SHA-256 is " + (found == said.end() ? "not there" : found->second.hex()))
                            .note("the catalog says  " + module.source_digest.hex())
                            .hint(kMakeAgain));
      break;  // one is enough: the list or the catalog belongs to another build
    }
  }
}

void Verification::check_no_others() {
  for (const std::string& path : files_below(files_, folder_, "images", 2)) {
    if (!is_of_kiln(path) || path.ends_with(".sources") || listed_.contains(path)) continue;
    const fs::path inner = fs::path(path).lexically_relative("images");
    const Result<std::string> bytes = files_.read(folder_ / path);
    if (bytes && sources_of(inner.begin()->string()).contains(sha256(*bytes))) continue;
    errors_.push_back(wrong(name(path) + " is not of this build").hint("remove it, or build or merge the folder again"));
  }
}

void Verification::read_images() {
  for (Module& module : build_.catalog.modules) {
    std::erase_if(module.images, [&](Artifact& image) {
      if (check_image(image)) return false;
      incomplete_.insert({module.name, image.target});
      return true;
    });
  }
}

void Verification::check_modules(const Manifest& manifest) {
  const std::vector<std::string>& built = build_.catalog.targets;
  const auto is_built = [&](const Located<TargetId>& target) {
    return std::ranges::find(built, to_string(target.value)) != built.end();
  };
  for (const ModuleSpec& spec : manifest.modules) {
    const auto& targets = spec.targets.empty() ? manifest.targets : spec.targets;
    const bool is_there = std::ranges::any_of(
        build_.catalog.modules, [&](const Module& module) { return module.name == spec.name.value; });
    if (is_there || std::ranges::none_of(targets, is_built)) continue;
    errors_.push_back(wrong("module " + quote(spec.name.value) + " of the manifest is not in " + quote(shown_.string()))
                          .hint("build all of it: 'kiln build --keep-going' leaves out what fails, --module the others"));
  }
}

void Verification::check_kernels(const Manifest* manifest) {
  for (const Module& module : build_.catalog.modules) {
    std::vector<Artifact> images = module.images;
    std::erase_if(images, [&](const Artifact& image) {
      return incomplete_.contains({module.name, image.target});
    });
    if (images.empty()) continue;
    const std::vector<AbiKernel>* abi = nullptr;
    AbiCoverage coverage = AbiCoverage::kAll;
    if (manifest != nullptr) {
      const auto found = manifest->abi.find(module.name);
      if (found != manifest->abi.end()) abi = &found->second;
      for (const ModuleSpec& spec : manifest->modules) {
        if (spec.name.value == module.name) coverage = spec.coverage;
      }
    }
    Result<void> verified = verify_module(module.name, images, abi, coverage);
    if (!verified) errors_.push_back(std::move(verified).error());
  }
}

void Verification::check_limits() {
  for (const auto& [path, need] : needs_)
    add(check_floors(path, need, build_.catalog.settings.floors));
  add(check_budgets(build_.catalog));
}

Floors Verification::floors() const {
  Floors floors;
  for (const auto& [path, need] : needs_) {
    floors.cuda = std::max(floors.cuda, need.cuda);
    floors.rocm = std::max(floors.rocm, need.rocm);
  }
  return floors;
}

std::string Verification::name(const std::string& path) const { return quote((shown_ / path).string()); }

std::string Verification::sources_list(const std::string& module) { return "images/" + image_sources_path(module); }

const ImageSources& Verification::sources_of(const std::string& module) {
  const auto [known, is_new] = sources_.try_emplace(module);
  if (!is_new) return known->second;
  const Result<std::string> text = files_.read(folder_ / sources_list(module));
  if (text) known->second = read_image_sources(*text);
  return known->second;
}

void Verification::add(std::vector<Error> errors) {
  for (Error& error : errors) errors_.push_back(std::move(error));
}

void Verification::note_need(const std::string& path, Need need) { needs_.emplace_back(path, std::move(need)); }

std::optional<std::string> Verification::read(const std::string& path, const Digest& digest,
                                const char* teller) {
  if (!is_inner_path(path) || files_.leads_outside(folder_, folder_ / path)) {
    errors_.push_back(wrong(name(path) + " lies outside the folder"));
    return std::nullopt;
  }
  Result<std::string> bytes = files_.read(folder_ / path);
  if (!bytes) {
    errors_.push_back(unread(name(path), bytes.error()));
    return std::nullopt;
  }
  const Digest found = sha256(*bytes);
  if (found == digest) {
    const auto expected = sizes_.find(path);
    if (expected != sizes_.end() && expected->second != bytes->size()) {
      errors_.push_back(wrong(name(path) + " is not as the catalog says")
                            .note("it has " + counted(bytes->size(), "byte") + ", and " +
                                  std::to_string(expected->second) + " in the catalog")
                            .hint(kMakeAgain));
    }
    return std::move(bytes).value();
  }
  const auto owner = owners_.find(found);
  Error error = owner != owners_.end()
                    ? wrong(name(path) + " holds the bytes of " + name(owner->second))
                    : wrong(name(path) + " is not the file that was built");
  errors_.push_back(error.note("its SHA-256 is " + found.hex())
                        .note(std::string(teller) + " says  " + digest.hex())
                        .hint("build or merge it again: what was changed is then made again"));
  return std::nullopt;
}

bool Verification::check_image(Artifact& image) {
  Result<ImageInfo> info = read_image(std::as_bytes(std::span(image.bytes)));
  if (!info) {
    errors_.push_back(wrong(name(image.path) + " is no image: " + info.error().message));
    return false;
  }
  if (info->target != image.target || info->format != image.info.format) {
    errors_.push_back(wrong(name(image.path) + " is an image for " +
                            quote(to_string(info->target)) + ", and not for " +
                            quote(to_string(image.target)) + " as the catalog says"));
    return false;
  }
  const auto names = [](const std::vector<KernelInfo>& kernels) {
    std::vector<std::string> result;
    for (const KernelInfo& kernel : kernels) {
      std::string text = kernel.name;
      for (const Parameter& parameter : kernel.parameters) {
        text += " " + std::to_string(parameter.offset) + ":" + std::to_string(parameter.size);
      }
      result.push_back(std::move(text));
    }
    std::ranges::sort(result);
    return result;
  };
  if (names(info->kernels) != names(image.info.kernels)) {
    errors_.push_back(wrong(name(image.path) + " has other kernels than the catalog says"));
    return false;
  }
  std::string difference = add_printed_numbers(image.info, *info);
  if (info->ptx_isa != image.info.ptx_isa) {
    difference = "ptx_isa is " + std::to_string(info->ptx_isa) + ", and " + std::to_string(image.info.ptx_isa) + " in the catalog";
  }
  if (info->format_version != image.info.format_version) {
    difference = "it is " + info->format_version + ", and " + image.info.format_version + " in the catalog";
  }
  if (!difference.empty()) {
    errors_.push_back(wrong(name(image.path) + " is not as the catalog says").note(std::move(difference)).hint(kMakeAgain));
  }
  image.info = *std::move(info);  // budgets and floors are checked against the image itself
  note_need(image.path, need_of(image, nvcc()));
  return true;
}

std::string Verification::nvcc() const {
  for (const ToolRecord& tool : build_.catalog.tools) {
    if (tool.name == to_string(ToolKind::kNvcc)) return tool.version;
  }
  return {};
}

}  // namespace kiln::tools
