#include "tools/stages/bundle_sources.hpp"

#include <filesystem>
#include <utility>

#include "base/diagnostic.hpp"
#include "formats/source_bundle.hpp"

namespace kiln::tools {
namespace {

void add_options(const CompileOptions& options, SourceBundle& bundle) {
  const auto add = [](const std::vector<Located<std::string>>& from, std::vector<std::string>& to) {
    for (const Located<std::string>& option : from) to.push_back(option.value);
  };
  add(options.defines, bundle.defines);
  add(options.flags, bundle.flags);
  add(options.amd_flags, bundle.amd_flags);
  add(options.nvidia_flags, bundle.nvidia_flags);
  add(options.host_flags, bundle.host_flags);
}

Result<std::string> bundle_unit(const Manifest& manifest, const Unit& unit,
                                const ReadSource& read) {
  SourceBundle bundle;
  add_options(manifest.options, bundle);
  add_options(unit.module->options, bundle);
  for (const std::string& directory : unit.include_directories) {
    if (is_bundled(directory)) bundle.include_directories.push_back(directory);
  }
  std::vector<std::string> paths = {unit.source};
  for (const std::string& file : unit.files) {
    if (file != unit.source) paths.push_back(file);
  }
  for (std::string& path : paths) {
    KILN_TRY_ASSIGN(std::string text, read(manifest.directory / path));
    bundle.files.push_back({std::move(path), std::move(text)});
  }
  return write_source_bundle(bundle);
}

}  // namespace

bool is_bundled(const std::string& include_directory) {
  return std::filesystem::path(include_directory).is_relative() && !include_directory.starts_with("..");
}

Result<std::vector<std::string>> bundle_sources(const Manifest& manifest, const ModuleSpec& module,
                                                const std::vector<Unit>& units,
                                                const ReadSource& read) {
  std::vector<std::string> bundles;
  for (const Unit& unit : units) {
    if (unit.module != &module) continue;
    KILN_TRY_ASSIGN(std::string bundle, bundle_unit(manifest, unit, read));
    bundles.push_back(std::move(bundle));
  }
  return bundles;
}

Digest source_digest(const std::vector<std::string>& bundles) {
  KeyHasher hash;
  for (const std::string& bundle : bundles) hash.add("unit", bundle);
  return hash.finish();
}

}  // namespace kiln::tools
