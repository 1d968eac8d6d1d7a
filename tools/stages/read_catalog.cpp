#include "tools/stages/read_catalog.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/json/json_fields.hpp"
#include "tools/stages/catalog_json.hpp"
#include "tools/stages/origin_json.hpp"

namespace kiln::tools {
namespace {

// Adds the kernels of one image, with the types and names of parameters in the document.
void learn_kernels(const Json& image, std::uint16_t unit, std::map<std::string, Kernel>& kernels) {
  for (const Json& object : array_of(image, "kernels")) {
    const std::string name = text_of(object, "name");
    const auto [known, is_new] = kernels.try_emplace(name, Kernel{name, unit, {}});
    if (!is_new) continue;
    for (const Json& parameter : array_of(object, "params")) {
      known->second.parameters.push_back(
          {.layout = read_parameter(parameter),
           .type = parse_parameter_type(text_of(parameter, "type")).value_or(ParameterType{}),
           .name = text_of(parameter, "name")});
    }
  }
}

Artifact artifact_of(const Json& object, ImageSummary summary) {
  Artifact image;
  image.module = std::move(summary.module);
  image.unit = static_cast<std::uint16_t>(integer_of(object, "unit").value_or(0));
  image.source = text_of(object, "source");
  image.target = summary.info.target;
  image.path = std::move(summary.path);
  image.digest = summary.digest;
  image.info = std::move(summary.info);
  image.also_read = read_source_files(object, "also_read");
  return image;
}

// Returns the module of an image; null if there is none, or if it has no such unit.
Module* find_module(const Json& object, const Artifact& image, std::vector<Module>& modules) {
  const auto module = std::ranges::find(modules, image.module, &Module::name);
  if (module == modules.end()) return nullptr;
  const std::int64_t unit = integer_of(object, "unit").value_or(0);
  const bool has_unit =
      unit >= 0 && unit <= UINT16_MAX && static_cast<std::size_t>(unit) < module->sources.size();
  return has_unit ? &*module : nullptr;
}

}  // namespace

Result<CatalogRecord> read_catalog(const Json& document, std::string_view file) {
  const auto refuse = [file](std::string message) {
    return Error{.code = ErrorCode::kInvalidInput,
                 .message = std::move(message),
                 .where = {std::string(file), 0, 0}}
        .hint("build again with this kiln");
  };
  KILN_TRY_ASSIGN(std::vector<ImageSummary> images, read_images(document, file));
  std::optional<BuildSettings> settings = read_settings(document);
  if (!settings) return refuse("not the catalog of a build that this kiln made");
  CatalogRecord record;
  Catalog& catalog = record.catalog;
  catalog.name = text_of(document, "name");
  catalog.targets = texts_of(array_of(document, "targets"));
  catalog.missing_targets = texts_of(array_of(document, "missing_targets"));
  catalog.settings = std::move(*settings);
  catalog.tools = read_tools(document);
  catalog.modules = read_module_origins(document);
  for (const Module& module : catalog.modules) {
    if (!is_identifier(module.name)) {
      return refuse("a module of it is called " + quote(module.name));
    }
  }

  std::map<std::string, std::map<std::string, Kernel>> kernels;  // by module, then by name
  for (std::size_t i = 0; i < images.size(); ++i) {
    const Json& object = array_of(document, "images")[i];
    Artifact image = artifact_of(object, std::move(images[i]));
    Module* const module = find_module(object, image, catalog.modules);
    if (module == nullptr) return refuse("an image of it is of no module: " + quote(image.path));
    const std::string sources = text_of(object, "source_digest");
    if (!sources.empty() && sources != module->source_digest.hex()) {
      return refuse("an image of it is of other sources than its module: " + quote(image.path));
    }
    learn_kernels(object, image.unit, kernels[image.module]);
    module->images.push_back(std::move(image));
  }
  for (Module& module : catalog.modules) {
    for (auto& [name, kernel] : kernels[module.name]) module.kernels.push_back(std::move(kernel));
  }

  for (const Json& object : array_of(document, "bundles")) {
    BundleRecord bundle;
    bundle.module = text_of(object, "module");
    bundle.path = text_of(object, "path");
    const std::int64_t size = integer_of(object, "size").value_or(-1);
    if (size < 0 || !Digest::parse(text_of(object, "digest"), bundle.digest)) {
      return refuse("a bundle of it has no size or no digest: " + quote(bundle.path));
    }
    bundle.size = static_cast<std::uint64_t>(size);
    record.bundles.push_back(std::move(bundle));
  }
  return record;
}

}  // namespace kiln::tools
