#include "tools/engine/finish.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/diagnostic.hpp"
#include "base/on_all_cores.hpp"
#include "base/text.hpp"
#include "formats/image_sources.hpp"
#include "tools/engine/describe_build.hpp"
#include "tools/engine/publish.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/bundle_sources.hpp"
#include "tools/stages/catalog.hpp"
#include "tools/stages/compile_commands.hpp"
#include "tools/stages/inspect.hpp"
#include "tools/stages/layout.hpp"
#include "tools/stages/plan_compile.hpp"
#include "tools/stages/verify.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWrote = "wrote ";  // label prefix of a written file; its path follows
const std::string kMode = "mode", kOutputs = "outputs";  // labels
const std::string kImages = "images/";

bool contains(const std::vector<std::string>& sorted, const std::string& word) {
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

const std::vector<AbiKernel>* abi_of(const Manifest& manifest, const std::string& module) {
  const auto found = manifest.abi.find(module);
  return found == manifest.abi.end() ? nullptr : &found->second;
}

fs::path absolute_path(const fs::path& path, const Plan& plan) {
  return path.is_absolute() ? path : (plan.source_root / path).lexically_normal();
}

// True if the file lies in the folder of an installed toolkit, which may be below the sources.
bool is_of_toolkit(const fs::path& path, const BuildContext& context) {
  const auto lies_below = [](const fs::path& inner, const fs::path& outer) {
    return is_inner_path(inner.lexically_relative(outer).native());
  };
  return std::ranges::any_of(context.toolchain.tools, [&](const Tool& tool) {
    const fs::path folder = tool.path.parent_path().parent_path();
    return tool.found() && lies_below(folder, context.plan.source_root) && lies_below(path, folder);
  });
}

// Adds the files of the manifest's folder that the step's tool read in its last run and that the plan
// does not name.
void add_also_read(const Step& step, const BuildContext& context, const BuildState& state,
                   std::map<std::string, Digest>& files) {
  constexpr std::string_view kSource = "{src}/";
  const Plan& plan = context.plan;
  const auto add = [&](const std::string& neutral, const Digest& digest) {
    if (!neutral.starts_with(kSource) || is_of_toolkit(expand(neutral, plan), context)) return;
    files[neutral.substr(kSource.size())] = digest;
  };
  for (const std::uint32_t before : step.after) {
    if (makes_ptx(plan.steps[before])) add_also_read(plan.steps[before], context, state, files);
  }
  const auto record = state.steps.find(step.id);
  if (record == state.steps.end()) return;
  for (const auto& [path, digest] : record->second.dependencies) add(path, digest);
  if (record->second.ingredients.find(kNamedFile) == std::string::npos) return;
  for (const Ingredient& ingredient : read_ingredients(record->second.ingredients)) {
    Digest digest;
    if (!ingredient.label.starts_with(kNamedFile)) continue;
    if (!Digest::parse(ingredient.value, digest)) continue;
    add(ingredient.label.substr(kNamedFile.size()), digest);
  }
}

std::vector<SourceFile> also_read(const Step& step, const BuildContext& context,
                                  const BuildState& state) {
  std::map<std::string, Digest> files;
  add_also_read(step, context, state, files);
  std::vector<SourceFile> sorted;
  for (const auto& [path, digest] : files) sorted.push_back({path, digest});
  return sorted;
}

// Lists what decides every byte that finish() writes.
Ingredients finish_ingredients(const FinishRequest& request, const BuildContext& context,
                               const BuildState& state) {
  const Manifest& manifest = request.manifest;
  FileDigests& digests = context.digests;
  Ingredients result;
  // The generator is part of this program.
  result.push_back({"program", digest_text(digests.digest("/proc/self/exe"))});
  // The digests are from when the files were read; they may have changed since.
  for (const auto& [path, digest] : manifest.read)
    result.push_back({"manifest " + path, digest.hex()});
  result.push_back({"header", manifest.embed.header});
  result.push_back({"namespace", manifest.embed.name_space});
  result.push_back({kMode, std::to_string(static_cast<int>(manifest.embed.mode))});
  std::string outputs;
  for (const EmbedOutput output : manifest.embed.outputs) {
    outputs += std::to_string(static_cast<int>(output));
  }
  result.push_back({kOutputs, outputs});
  result.push_back({"compression", std::to_string(static_cast<int>(manifest.embed.compression))});
  result.push_back({"source", std::to_string(static_cast<int>(manifest.embed.source))});
  std::set<std::string> files;
  for (const Unit& unit : request.units) files.insert(unit.files.begin(), unit.files.end());
  for (const std::string& file : files) {
    result.push_back(
        {"source " + file, digest_text(digests.digest(context.plan.source_root / file))});
  }
  for (const std::string& target : request.missing_targets) result.push_back({"missing", target});
  for (const ToolRecord& tool : used_tools(context)) {
    result.push_back({"tool " + tool.name, tool.version + " " + identity_of(tool)});
    for (const auto& [name, value] : tool.environment) {
      result.push_back({"environment " + tool.name + " " + name, value});
    }
  }
  for (const Step& step : context.plan.steps) {
    if (step.kind == StepKind::kHipify || !contains(request.modules, step.module)) continue;
    result.push_back({"output " + step.output,
                      digest_text(digests.digest_at(expand(step.output, context.plan)))});
    result.push_back({"log " + step.output,
                      digest_text(digests.digest_at(expand(log_path(step), context.plan)))});
    if (step.kind != StepKind::kCompile) continue;
    for (const SourceFile& file : also_read(step, context, state)) {
      result.push_back({"read " + step.output + " " + file.path, file.digest.hex()});
    }
  }
  return result;
}

// Returns the entries of a record that name written files.
std::vector<Ingredient> outputs_of(const Ingredients& record) {
  std::vector<Ingredient> outputs;
  std::copy_if(record.begin(), record.end(), std::back_inserter(outputs),
               [](const Ingredient& entry) { return entry.label.starts_with(kWrote); });
  return outputs;
}

bool is_up_to_date(const Ingredients& record, const Ingredients& now, const BuildContext& context) {
  const std::vector<Ingredient> outputs = outputs_of(record);
  if (outputs.empty() || record.size() != now.size() + outputs.size()) return false;
  if (!std::equal(now.begin(), now.end(), record.begin())) return false;
  return std::all_of(outputs.begin(), outputs.end(), [&](const Ingredient& output) {
    const fs::path path = context.plan.out_root / output.label.substr(kWrote.size());
    return digest_text(context.digests.digest(path)) == output.value;
  });
}

Error changed_by_others(const fs::path& path, const BuildContext& context,
                        std::string_view what = "changed") {
  context.digests.forget(path);
  const std::string shown = neutral_path(path, context.plan);
  return Error{
      .code = ErrorCode::kBuildFailed,
      .message = quote(shown.starts_with("{out}/") ? below_out(shown) : display_path(shown)) +
                 " was " + std::string(what) + " by somebody else during the build"}
      .hint("run the command again; what was changed is then made again");
}

struct RecordedFile {
  std::string bytes;
  Digest digest;
};

// Reads a file whose digest the build recorded when it made the file or found it up to date. The
// error says that somebody else has changed it since.
Result<RecordedFile> read_recorded(const fs::path& path, const BuildContext& context,
                                   const Files& files) {
  const std::optional<Digest> recorded = context.digests.digest(path);
  if (files.kind(path) == PathKind::kNone) return changed_by_others(path, context, "removed");
  KILN_TRY_ASSIGN(std::string bytes, files.read(path));
  const Digest digest = sha256(bytes);
  if (recorded == digest) return RecordedFile{std::move(bytes), digest};
  return changed_by_others(path, context);
}

// The modules that can be embedded, and the errors of the others.
struct ReadModules {
  std::vector<Module> modules;
  std::vector<Error> errors;
};

// Reads every image of the modules, by plan position. Other steps have no entry.
std::vector<std::optional<Result<Artifact>>> read_images(const FinishRequest& request,
                                                         const BuildContext& context,
                                                         const BuildState& state,
                                                         const Files& files) {
  const std::vector<Step>& steps = context.plan.steps;
  std::vector<std::optional<Result<Artifact>>> images(steps.size());
  const auto read = [&](const Step& step) -> Result<Artifact> {
    KILN_TRY_ASSIGN(const TargetId target, parse_target_id(step.target));
    KILN_TRY_ASSIGN(RecordedFile file,
                    read_recorded(expand(step.output, context.plan), context, files));
    KILN_TRY_ASSIGN(RecordedFile log,
                    read_recorded(expand(log_path(step), context.plan), context, files));
    KILN_TRY_ASSIGN(Artifact image, inspect_output(step, target, std::move(file.bytes), file.digest,
                                                   std::move(log.bytes)));
    image.also_read = also_read(step, context, state);
    return image;
  };
  on_all_cores(steps.size(), [&](std::size_t i) {
    const bool is_image = steps[i].kind == StepKind::kCompile || steps[i].kind == StepKind::kJoin;
    if (is_image && contains(request.modules, steps[i].module)) images[i] = read(steps[i]);
  });
  return images;
}

// Makes one module, or the errors that keep it from being embedded.
ReadModules make_module(const ModuleSpec& spec, std::vector<Artifact> images,
                        const std::vector<Artifact>& joined, const Manifest& manifest) {
  ReadModules made;
  const std::string& name = spec.name.value;
  const std::vector<AbiKernel>* abi = abi_of(manifest, name);
  for (Artifact& image : images) image.source = spec.sources[image.unit].value;
  if (Result<void> verified = verify_module(name, images, abi, spec.coverage); !verified) {
    made.errors.push_back(std::move(verified).error());
    return made;
  }
  for (const Artifact& each : joined) {
    Result<void> verified = verify_joined(name, images, each);
    if (!verified) made.errors.push_back(std::move(verified).error());
  }
  if (made.errors.empty()) made.modules.push_back(assemble_module(spec, std::move(images), abi));
  return made;
}

// Reads all modules in parallel. The result is in the order of the manifest.
ReadModules read_modules(const FinishRequest& request, const BuildContext& context,
                         const BuildState& state, const Files& files) {
  struct Part {
    const ModuleSpec* spec = nullptr;
    std::vector<Artifact> images, joined;
    ReadModules made;
  };
  std::vector<Part> parts;
  std::map<std::string_view, std::size_t> by_name;
  for (const ModuleSpec& spec : request.manifest.modules) {
    if (!contains(request.modules, spec.name.value)) continue;
    by_name.emplace(spec.name.value, parts.size());
    parts.emplace_back().spec = &spec;
  }
  std::vector<std::optional<Result<Artifact>>> read = read_images(request, context, state, files);
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!read[i]) continue;
    const Step& step = context.plan.steps[i];
    Part& part = parts[by_name.at(step.module)];
    if (!*read[i]) {
      part.made.errors.push_back(std::move(*read[i]).error());
    } else {
      (step.kind == StepKind::kJoin ? part.joined : part.images).push_back(std::move(**read[i]));
    }
  }
  on_all_cores(parts.size(), [&](std::size_t i) {
    Part& part = parts[i];
    if (!part.made.errors.empty()) return;
    part.made = make_module(*part.spec, std::move(part.images), part.joined, request.manifest);
  });
  ReadModules all;
  for (Part& part : parts) {
    std::ranges::move(part.made.modules, std::back_inserter(all.modules));
    std::ranges::move(part.made.errors, std::back_inserter(all.errors));
  }
  return all;
}

// Bundles are not embedded, so it is enough that they have not changed since they were made.
Result<std::vector<BundleRecord>> list_bundles(const std::vector<Module>& modules,
                                               const BuildContext& context, const Files& files) {
  std::vector<BundleRecord> bundles;
  for (const Step& step : context.plan.steps) {
    const bool is_bundle = step.kind == StepKind::kBundle || step.kind == StepKind::kFatbin ||
                           step.kind == StepKind::kJoin;
    const bool is_left_out = std::none_of(modules.begin(), modules.end(), [&](const auto& module) {
      return module.name == step.module;
    });
    if (!is_bundle || is_left_out) continue;
    const fs::path path = expand(step.output, context.plan);
    const std::optional<Digest> recorded = context.digests.digest(path);
    const std::optional<FileStatus> status = files.status(path);
    if (!recorded || !status || context.digests.digest_now(path) != recorded) {
      return changed_by_others(path, context);
    }
    bundles.push_back({.module = step.module,
                       .path = below_out(step.output),
                       .size = status->size,
                       .digest = *recorded});
  }
  return bundles;
}

// Returns the sources whose images export no kernel.
std::vector<std::string> sources_without_kernels(const Module& module) {
  std::vector<std::string> empty;
  for (std::size_t unit = 0; unit < module.sources.size(); ++unit) {
    const bool has_any = std::any_of(module.images.begin(), module.images.end(), [&](const Artifact& image) {
      return image.unit == unit && !image.info.kernels.empty();
    });
    if (!has_any) empty.push_back(module.sources[unit]);
  }
  return empty;
}

// Says which sources the images of a module were built from. For images left by an earlier build,
// repeats what that build said.
ImageSources image_sources(const Module& module, const BuildContext& context, const Files& files) {
  const fs::path& out = context.plan.out_root;
  ImageSources before;
  const fs::path note = out / (kImages + image_sources_path(module.name));
  if (const Result<std::string> text = files.read(note)) before = read_image_sources(*text);
  ImageSources sources;
  for (const std::string& path : files_below(files, out, kImages + module.name, 1)) {
    const std::optional<Digest> digest = context.digests.digest(out / path);
    const auto recorded = digest ? before.find(*digest) : before.end();
    if (recorded != before.end()) sources.insert(*recorded);
  }
  for (const Artifact& image : module.images) sources[image.digest] = module.source_digest;
  return sources;
}

// Returns what the record says of `label`, or an empty text.
std::string_view recorded(const Ingredients& record, std::string_view label) {
  const auto found = std::ranges::find(record, label, &Ingredient::label);
  return found == record.end() ? std::string_view() : found->value;
}

// Returns why a file of an earlier build is removed, such as "this build emits c and catalog".
std::string why_removed(const fs::path& path, const Ingredients& before, const Ingredients& now,
                        const EmbedOptions& embed) {
  const bool is_renamed = std::ranges::any_of(published_files(embed), [&](const std::string& made) {
    return fs::path(made).extension() == path.extension();
  });
  const auto differs = [&](std::string_view label) {
    return recorded(before, label) != recorded(now, label);
  };
  if (is_renamed || recorded(before, kOutputs).empty()) return "this build does not make it";
  if (!differs(kOutputs)) {
    return differs(kMode) ? "this build's embed mode is " + word_of(kEmbedModeWords, embed.mode)
                          : "this build does not make it";
  }
  std::vector<std::string> names;
  for (const EmbedOutput output : embed.outputs) names.push_back(word_of(kEmbedOutputWords, output));
  const std::string last = names.back();
  names.pop_back();
  return "this build emits " + join(names, ", ") + (names.empty() ? "" : " and ") + last;
}

// Removes files that an earlier build generated and this one does not: an #include would still find
// a header under its old name. Paths outside the out folder are ignored, because kiln never writes
// them into a state. Returns the removed files that are meant for programs.
std::vector<RemovedFile> remove_outdated(const Ingredients& before, const Ingredients& now,
                                         const EmbedOptions& embed, const BuildContext& context,
                                         Files& files) {
  std::set<std::string> kept;
  for (const Ingredient& output : outputs_of(now)) kept.insert(output.label);
  std::vector<RemovedFile> removed;
  for (const Ingredient& old : outputs_of(before)) {
    const std::string name = old.label.substr(kWrote.size());
    // Source notes of images are removed together with the images (old_images.hpp).
    if (kept.contains(old.label) || !is_inner_path(name) || name.starts_with(kImages)) continue;
    const fs::path& out = context.plan.out_root;
    if (files.kind(out / name) != PathKind::kFile) continue;
    if (!remove_with_empty_folders(files, out, name)) continue;
    if (name.starts_with(kIncludeFolder))
      removed.push_back({name, why_removed(name, before, now, embed)});
  }
  return removed;
}

// Makes the catalog, and adds to each module what it is made from. The modules are already known to
// offer the same kernels on every target.
Result<Catalog> make_catalog(const FinishRequest& request, std::vector<Module> modules,
                             const BuildContext& context, const Files& files) {
  std::map<fs::path, std::string> texts;  // most files are part of several units
  const auto read_source = [&](const fs::path& path) -> Result<std::string> {
    const auto known = texts.find(path);
    if (known != texts.end()) return known->second;
    KILN_TRY_ASSIGN(RecordedFile file, read_recorded(path, context, files));
    return texts.emplace(path, std::move(file.bytes)).first->second;
  };
  for (Module& module : modules) {
    const auto spec =
        std::ranges::find(request.manifest.modules, module.name,
                          [](const ModuleSpec& candidate) { return candidate.name.value; });
    KILN_TRY(describe_module(request.manifest, *spec, request.units, read_source, module));
  }
  Catalog catalog;
  catalog.name = request.manifest.name.value;
  catalog.targets = built_targets(modules);
  catalog.missing_targets = request.missing_targets;
  catalog.tools = used_tools(context);
  catalog.settings = settings_of(request.manifest);
  catalog.modules = std::move(modules);
  return catalog;
}

// Folders, sorted, that embedded sources include from but that are not embedded.
std::vector<std::string> headers_left_out(const FinishRequest& request) {
  std::set<std::string> folders;
  if (request.manifest.embed.source == EmbedSource::kNone) return {};
  for (const Unit& unit : request.units) {
    for (const std::string& folder : unit.include_directories) {
      if (!is_bundled(folder)) folders.insert(folder);
    }
  }
  return {folders.begin(), folders.end()};
}

// Files, sorted, that compilers read and that the sources do not name.
std::vector<std::string> files_left_out(const Catalog& catalog) {
  std::set<std::string> paths;
  if (catalog.settings.embed.source == EmbedSource::kNone) return {};
  for (const Module& module : catalog.modules) {
    for (const Artifact& image : module.images) {
      for (const SourceFile& file : image.also_read) paths.insert(file.path);
    }
  }
  return {paths.begin(), paths.end()};
}

// Counts and lists what is reported about a written catalog.
Finished summary_of(const Catalog& catalog) {
  Finished summary;
  summary.files_left_out = files_left_out(catalog);
  for (const Module& module : catalog.modules) {
    summary.kernels += module.kernels.size();
    summary.images += module.images.size();
    std::ranges::move(sources_without_kernels(module), std::back_inserter(summary.without_kernels));
    for (const Kernel& kernel : module.kernels) {
      if (needs_abi(kernel)) summary.untyped_kernels.push_back(kernel.name);
    }
  }
  return summary;
}

// Returns a record of the files that an earlier build wrote and of those that this one may write.
Ingredients written_so_far(const Ingredients& before, const std::vector<PublishedFile>& published) {
  std::set<std::string> labels;
  for (const Ingredient& output : outputs_of(before)) labels.insert(output.label);
  for (const PublishedFile& file : published) labels.insert(std::string(kWrote) + file.path);
  Ingredients record;
  for (const std::string& label : labels) record.push_back({label, std::string(kMissing)});
  return record;
}

// Writes the files. Returns a line of the record for each.
Result<Ingredients> write_all(const std::vector<PublishedFile>& published, const BuildContext& context,
                              Files& files) {
  Ingredients written;
  for (const PublishedFile& file : published) {
    const fs::path target = context.plan.out_root / file.path;
    KILN_TRY(files.write_if_changed(target, file.text));
    context.digests.record(target, file.digest);
    written.push_back({std::string(kWrote) + file.path, file.digest.hex()});
  }
  return written;
}

}  // namespace

Result<Finished> finish(const FinishRequest& request, const BuildContext& context,
                        BuildState& state, Files& files) {
  Ingredients now = finish_ingredients(request, context, state);
  if (is_up_to_date(state.finish, now, context)) {
    Finished nothing;
    nothing.was_up_to_date = true;
    return nothing;
  }
  ReadModules read = read_modules(request, context, state, files);
  const bool may_leave_out = request.failure_policy == FailurePolicy::kKeepGoing;
  if (!read.errors.empty() && (!may_leave_out || read.modules.empty())) {
    return merge_errors(std::move(read.errors));
  }
  // The next build must report the errors again, so this one must not count as up to date.
  if (!read.errors.empty()) now.push_back({"left out", std::to_string(read.errors.size())});
  KILN_TRY_ASSIGN(Catalog catalog, make_catalog(request, std::move(read.modules), context, files));
  KILN_TRY_ASSIGN(const std::vector<BundleRecord> bundles, list_bundles(catalog.modules, context, files));
  std::map<std::string, ImageSources> sources;
  for (const Module& module : catalog.modules) sources[module.name] = image_sources(module, context, files);
  Finished finished = summary_of(catalog);
  finished.headers_left_out = headers_left_out(request);
  KILN_TRY_ASSIGN(std::vector<PublishedFile> published,
                  publish(std::move(catalog), bundles, sources, request.cache));
  const std::string commands = write_json(compile_commands(context.plan, context.toolchain));
  published.insert(published.begin(), {"compile_commands.json", commands, sha256(commands)});

  // If writing fails, the record must not claim that the files in place belong together, but that
  // they are kiln's.
  state.is_changed = true;
  const Ingredients before = state.finish;
  state.finish = written_so_far(before, published);
  KILN_TRY_ASSIGN(const Ingredients written, write_all(published, context, files));
  now.insert(now.end(), written.begin(), written.end());
  finished.removed = remove_outdated(before, now, request.manifest.embed, context, files);
  state.finish = std::move(now);
  finished.errors = std::move(read.errors);
  return finished;
}

std::string header_path(const Manifest& manifest) { return emitted_files(manifest.embed).front(); }

std::vector<std::string> header_dependencies(const Manifest& manifest, const BuildContext& context,
                                             const BuildState& state) {
  const Plan& plan = context.plan;
  std::set<std::string> paths;
  const auto add = [&](const std::string& neutral) {
    if (!neutral.starts_with("{out}/")) paths.insert(expand(neutral, plan));
  };
  paths.insert((plan.source_root / manifest.path.filename()).string());
  for (const Located<std::string>& path : manifest.abi_paths) {
    paths.insert(absolute_path(path.value, plan).string());
  }
  for (const Step& step : plan.steps) {
    for (const std::string& input : step.inputs) add(input);
    const Tool& tool = context.toolchain.tool(step.tool);
    for (const Tool::Part& part : tool.parts) {
      if (std::find(step.tool_roles.begin(), step.tool_roles.end(), part.role) !=
          step.tool_roles.end()) {
        paths.insert(part.path.string());
      }
    }
    const auto record = state.steps.find(step.id);
    if (record == state.steps.end()) continue;
    for (const auto& [path, digest] : record->second.dependencies) add(path);
    for (const std::string& path : files_named_by_options(read_ingredients(record->second.ingredients))) {
      add(path);
    }
  }
  return {paths.begin(), paths.end()};
}

}  // namespace kiln::tools
