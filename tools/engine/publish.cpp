#include "tools/engine/publish.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/on_all_cores.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/catalog_json.hpp"
#include "tools/stages/layout.hpp"
#include "tools/stages/linked_libraries.hpp"
#include "tools/stages/sbom.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kGap = "  ";  // between a digest and its file

std::string stem_of(const EmbedOptions& embed) {
  return std::string(kIncludeFolder) + embed.header.substr(0, embed.header.rfind('.'));
}

std::vector<PublishedFile> with_digests(std::vector<GeneratedFile> files) {
  std::vector<PublishedFile> result(files.size());
  on_all_cores(result.size(), [&](std::size_t i) {
    const Digest digest = sha256(files[i].text);
    result[i] = {std::move(files[i].path), std::move(files[i].text), digest};
  });
  return result;
}

// Returns one line for each file in include/.
std::string checksums_of(const std::vector<PublishedFile>& files) {
  std::map<std::string, Digest> included;
  for (const PublishedFile& file : files) {
    if (file.path.starts_with(kIncludeFolder))
      included[file.path.substr(kIncludeFolder.size())] = file.digest;
  }
  std::string text;
  for (const auto& [name, digest] : included) text += digest.hex().append(kGap) + name + "\n";
  return text;
}

}  // namespace

std::string source_bundle_path(const std::string& module, std::size_t unit) {
  return "sources/" + module + "." + std::to_string(unit) + ".source";
}

std::vector<std::string> emitted_files(const EmbedOptions& embed) {
  std::vector<std::string> paths = embedded_files(embed);
  for (std::string& path : paths) path.insert(0, kIncludeFolder);
  return paths;
}

std::vector<std::string> published_files(const EmbedOptions& embed) {
  std::vector<std::string> paths = emitted_files(embed);
  paths.insert(paths.begin(), "kiln.json");
  paths.push_back(stem_of(embed) + ".notices.txt");
  paths.push_back(stem_of(embed) + ".spdx.json");
  paths.push_back(checksums_path(embed));
  return paths;
}

std::string checksums_path(const EmbedOptions& embed) { return stem_of(embed) + ".sha256"; }

std::optional<Checksum> read_checksum(std::string_view line) {
  const std::size_t gap = line.find(kGap);
  if (gap == line.npos) return std::nullopt;
  const std::string_view file = line.substr(gap + kGap.size());
  Checksum checksum{std::string(kIncludeFolder).append(file), {}};
  if (!Digest::parse(line.substr(0, gap), checksum.digest) || !is_inner_path(file))
    return std::nullopt;
  return checksum;
}

std::string stamp_path(const EmbedOptions& embed) {
  return std::string(kIncludeFolder) + embed.header + ".stamp";
}

Result<std::vector<PublishedFile>> publish(Catalog catalog, const std::vector<BundleRecord>& bundles,
                                           const std::map<std::string, ImageSources>& sources, CacheStore* store) {
  const Json catalog_document = catalog_json(catalog, bundles);
  std::vector<GeneratedFile> files;
  for (const auto& [module, digests] : sources) {
    files.push_back({"images/" + image_sources_path(module), write_image_sources(digests)});
  }
  for (const Module& module : catalog.modules) {
    for (std::size_t unit = 0; unit < module.source_bundles.size(); ++unit) {
      files.push_back({source_bundle_path(module.name, unit), module.source_bundles[unit]});
    }
  }
  const BuildSettings settings = catalog.settings;
  files.push_back({stem_of(settings.embed) + ".notices.txt", notices_text(catalog)});
  files.push_back({stem_of(settings.embed) + ".spdx.json", write_json(sbom_json(catalog))});
  std::optional<Result<std::vector<GeneratedFile>>> embedded;
  std::string catalog_text;
  on_threads(2, 2, [&](std::size_t part) {
    if (part == 0) {
      embedded = embed(std::move(catalog), settings.embed, settings.minimum_runtime, store);
    } else {
      catalog_text = write_json(catalog_document);
    }
  });
  if (!*embedded) return std::move(*embedded).error();
  for (GeneratedFile& file : **embedded) {
    files.push_back({std::string(kIncludeFolder) + file.path, std::move(file.text)});
  }
  std::vector<PublishedFile> published = with_digests(std::move(files));
  const auto add = [&](std::string path, std::string text) {
    const Digest digest = sha256(text);
    published.push_back({std::move(path), std::move(text), digest});
  };
  add(checksums_path(settings.embed), checksums_of(published));
  add("kiln.json", std::move(catalog_text));
  return published;
}

}  // namespace kiln::tools
