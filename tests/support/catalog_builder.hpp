// Builds the catalog that a finished build produces, without a build.
//
//   const auto built = CatalogBuilder("demo").target("gfx1030").target("sm_90")
//       .module("affine", {{"affine_f32", {value(8), value(8), pointer(), value(4)}}})
//       .build();
//
// Modules and kernels are sorted, and arguments are laid out with natural alignment. Every module
// gets one image for each unit and target. The bytes of an image are a short text that identifies
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "formats/image_format.hpp"
#include "formats/target_id.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::testing {

// Parameters by size and kind, or by type and name as in an abi file. The builder fills in the
// offsets.
using ParameterSpec = tools::KernelParameter;
inline ParameterSpec value(std::uint16_t size) { return {{0, size, ParameterKind::kValue}}; }
inline ParameterSpec pointer() { return {{0, 8, ParameterKind::kPointer}}; }
inline ParameterSpec unknown(std::uint16_t size) { return {{0, size, ParameterKind::kUnknown}}; }
inline ParameterSpec typed(std::string_view type, std::string name) {
  const ParameterType parsed = parse_parameter_type(type).value();
  return {{0, static_cast<std::uint16_t>(size_of(parsed)),
           parsed.is_pointer ? ParameterKind::kPointer : ParameterKind::kValue},
          parsed,
          std::move(name)};
}

struct KernelSpec {
  std::string name;
  std::vector<ParameterSpec> parameters;
  std::uint16_t unit = 0;
};

class CatalogBuilder {
 public:
  explicit CatalogBuilder(std::string name) { built_.name = std::move(name); }

  CatalogBuilder& target(const std::string& target) {
    built_.targets.push_back(target);
    return *this;
  }
  CatalogBuilder& missing(const std::string& target) {
    built_.missing_targets.push_back(target);
    return *this;
  }
  CatalogBuilder& module(std::string name, std::vector<KernelSpec> kernels) {
    std::ranges::sort(kernels, {}, &KernelSpec::name);
    tools::Module module;
    module.name = std::move(name);
    std::uint16_t units = 1;
    for (KernelSpec& kernel : kernels) {
      module.kernels.push_back({kernel.name, kernel.unit, laid_out(std::move(kernel.parameters))});
      units = std::max<std::uint16_t>(units, static_cast<std::uint16_t>(kernel.unit + 1));
    }
    for (std::uint16_t unit = 0; unit < units; ++unit) {
      const std::string suffix = units == 1 ? std::string() : "_" + std::to_string(unit);
      module.sources.push_back(module.name + suffix + ".cu");
    }
    built_.modules.push_back(std::move(module));
    return *this;
  }
  // Pads every shorter image with zeros to this size.
  CatalogBuilder& image_size(std::size_t bytes) {
    image_size_ = bytes;
    return *this;
  }

  tools::Catalog build() const {
    tools::Catalog built = built_;
    std::ranges::sort(built.modules, {}, &tools::Module::name);
    for (tools::Module& module : built.modules) {
      for (std::uint16_t unit = 0; unit < module.sources.size(); ++unit) {
        for (const std::string& target : built.targets) {
          module.images.push_back(image(module, unit, target));
        }
      }
    }
    return built;
  }

 private:
  static std::vector<ParameterSpec> laid_out(std::vector<ParameterSpec> parameters) {
    unsigned offset = 0;
    for (ParameterSpec& parameter : parameters) {
      Parameter& layout = parameter.layout;
      const unsigned alignment = std::min<unsigned>(layout.size, 8);
      offset = (offset + alignment - 1) / alignment * alignment;
      layout.offset = static_cast<std::uint16_t>(offset);
      offset += layout.size;
    }
    return parameters;
  }

  tools::Artifact image(const tools::Module& module, std::uint16_t unit,
                        const std::string& target) const {
    tools::Artifact artifact;
    artifact.module = module.name;
    artifact.unit = unit;
    artifact.source = module.sources[unit];
    artifact.target = parse_target_id(target).value();
    artifact.info.format = format_of(artifact.target.kind);
    artifact.bytes = module.name + " unit " + std::to_string(unit) + " for " + target;
    if (artifact.info.format == ImageFormat::kPtx) {
      artifact.bytes = ".version 7.8 // " + artifact.bytes + '\n';
      artifact.info.ptx_isa = 78;
    }
    artifact.bytes.resize(std::max(artifact.bytes.size(), image_size_));
    artifact.digest = sha256(artifact.bytes);
    artifact.info.target = artifact.target;
    return artifact;
  }

  tools::Catalog built_;
  std::size_t image_size_ = 0;
};

}  // namespace kiln::testing
