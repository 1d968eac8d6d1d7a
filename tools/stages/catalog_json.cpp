#include "tools/stages/catalog_json.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/on_all_cores.hpp"
#include "base/text.hpp"
#include "formats/image_format.hpp"
#include "tools/json/json_fields.hpp"
#include "tools/stages/kernel_numbers.hpp"
#include "tools/stages/origin_json.hpp"

namespace kiln::tools {
namespace {

constexpr int kFormat = 1;
constexpr std::array<std::string_view, 3> kKinds = {"unknown", "value", "pointer"};

Json number_or_null(const std::optional<std::uint32_t>& number) {
  return number ? Json(*number) : Json();
}

// Returns all spills as one number, which is 0 only if nothing spills: bytes for NVIDIA, registers
// for AMD.
Json total_spills(const KernelInfo& kernel) {
  std::optional<std::uint32_t> total;
  for (const auto& part : {kernel.spill_stores, kernel.spill_loads, kernel.scalar_spills}) {
    if (part) total = total.value_or(0) + *part;
  }
  return number_or_null(total);
}

Json parameter_json(const Parameter& layout) {
  Json::Object object;
  object.reserve(5);  // room for the type and the name
  object.push_back({"offset", layout.offset});
  object.push_back({"size", layout.size});
  object.push_back({"kind", to_string(layout.kind)});
  return object;
}

// Adds what the build knows beyond the image: the type and the name, or null if unknown.
Json parameter_json(const KernelParameter& parameter) {
  Json json = parameter_json(parameter.layout);
  const auto text_or_null = [](std::string text) {
    return text.empty() ? Json() : Json(std::move(text));
  };
  Json::Object& object = std::get<Json::Object>(json.value);
  object.push_back({"type", text_or_null(to_string(parameter.type))});
  object.push_back({"name", text_or_null(parameter.name)});
  return json;
}

template <typename Parameters>
Json kernel_json(const KernelInfo& kernel, const Parameters& known) {
  Json::Array parameters;
  parameters.reserve(known.size());
  for (const auto& parameter : known) parameters.push_back(parameter_json(parameter));
  Json::Object object;
  object.reserve(kKernelNumbers.size() + 4);
  object.push_back({"name", kernel.name});
  if (std::string readable = demangled(kernel.name); !readable.empty()) {
    object.push_back({"demangled", std::move(readable)});
  }
  object.push_back({"params", std::move(parameters)});
  for (const KernelNumber& number : kKernelNumbers) {
    object.push_back({std::string(number.key), number_or_null(kernel.*number.member)});
  }
  object.push_back({"spills", total_spills(kernel)});
  return object;
}

void append_info(Json::Object& object, const ImageInfo& info) {
  object.push_back({"target", to_string(info.target)});
  object.push_back({"format", to_string(info.format)});
  object.push_back({"format_version", info.format_version});
  if (info.format == ImageFormat::kPtx) object.push_back({"ptx_isa", info.ptx_isa});
}

// Returns the kernel with this name. Every kernel of the images is in the module.
const Kernel& kernel_of(const Module& module, const std::string& name) {
  return *std::ranges::lower_bound(module.kernels, name, {}, &Kernel::name);
}

Json image_json(const Module& module, const Artifact& image) {
  Json::Object object{{"module", image.module}, {"unit", image.unit}, {"source", image.source}};
  object.push_back({"source_digest", module.source_digest.hex()});
  append_info(object, image.info);
  object.push_back({"path", image.path});
  object.push_back({"size", image.bytes.size()});
  object.push_back({"digest", image.digest.hex()});
  if (!image.also_read.empty()) object.push_back({"also_read", source_files_json(image.also_read)});
  Json::Array kernels;
  kernels.reserve(image.info.kernels.size());
  for (const KernelInfo& kernel : image.info.kernels) {
    kernels.push_back(kernel_json(kernel, kernel_of(module, kernel.name).parameters));
  }
  object.push_back({"kernels", std::move(kernels)});
  return object;
}

std::string signature_of(const Json& kernel) {
  std::vector<std::string> parameters;
  for (const Json& parameter : array_of(kernel, "params")) {
    std::string text = text_of(parameter, "type");
    if (text.empty()) {
      text = std::to_string(integer_of(parameter, "size").value_or(0)) + " bytes";
    }
    const std::string name = text_of(parameter, "name");
    parameters.push_back(name.empty() ? text : text + " " + name);
  }
  return "(" + join(parameters, ", ") + ")";
}

KernelInfo read_kernel(const Json& object) {
  KernelInfo kernel;
  kernel.name = text_of(object, "name");
  for (const Json& parameter : array_of(object, "params")) {
    kernel.parameters.push_back(read_parameter(parameter));
  }
  for (const KernelNumber& number : kKernelNumbers) {
    if (const auto value = integer_of(object, number.key)) {
      kernel.*number.member = static_cast<std::uint32_t>(*value);
    }
  }
  return kernel;
}

}  // namespace

Parameter read_parameter(const Json& object) {
  return {.offset = static_cast<std::uint16_t>(integer_of(object, "offset").value_or(0)),
          .size = static_cast<std::uint16_t>(integer_of(object, "size").value_or(0)),
          .kind = static_cast<ParameterKind>(
              index_of(kKinds, text_of(object, "kind")).value_or(0))};
}

std::string_view to_string(ParameterKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

Json catalog_json(const Catalog& catalog, const std::vector<BundleRecord>& bundles) {
  Json::Array modules, tools, packed;
  for (const ToolRecord& tool : catalog.tools) tools.push_back(tool_json(tool));
  std::vector<std::pair<const Module*, const Artifact*>> built;
  for (const Module& module : catalog.modules) {
    modules.push_back(module_json(module));
    for (const Artifact& image : module.images) built.emplace_back(&module, &image);
  }
  Json::Array images(built.size());
  on_all_cores(built.size(),
               [&](std::size_t i) { images[i] = image_json(*built[i].first, *built[i].second); });
  for (const BundleRecord& bundle : bundles) {
    packed.push_back(Json::Object{{"module", bundle.module},
                                  {"path", bundle.path},
                                  {"size", bundle.size},
                                  {"digest", bundle.digest.hex()}});
  }
  return Json::Object{{"format", kFormat},
                      {"name", catalog.name},
                      {"targets", strings(catalog.targets)},
                      {"missing_targets", strings(catalog.missing_targets)},
                      {"settings", settings_json(catalog.settings)},
                      {"modules", std::move(modules)},
                      {"tools", std::move(tools)},
                      {"images", std::move(images)},
                      {"bundles", std::move(packed)}};
}

Json file_json(const InspectedFile& file) {
  Json::Object document{{"format", kFormat}, {"kind", to_string(file.kind)}};
  if (!file.entries.empty()) {
    document.push_back({"version", file.version});
    document.push_back({"entries", strings(file.entries)});
  }
  Json::Array images;
  for (const FoundImage& image : file.images) {
    Json::Object object{{"module", Json()}};
    if (!image.entry.empty()) object.push_back({"entry", image.entry});
    append_info(object, image.info);
    object.push_back({"size", image.size});
    Json::Array kernels;
    for (const KernelInfo& kernel : image.info.kernels) {
      kernels.push_back(kernel_json(kernel, kernel.parameters));
    }
    object.push_back({"kernels", std::move(kernels)});
    images.push_back(std::move(object));
  }
  document.push_back({"images", std::move(images)});
  return document;
}

Result<std::vector<ImageSummary>> read_images(const Json& document, std::string_view file) {
  const auto refuse = [file](std::string message) {
    return Error{.code = ErrorCode::kInvalidInput,
                 .message = std::move(message),
                 .where = {std::string(file), 0, 0}};
  };
  const auto lacks = [refuse](std::string_view key) {
    return refuse("not the catalog of a build: it has no " + quote(key))
        .hint("name an image, or the folder of a build");
  };
  if (document.find("format") == nullptr) return lacks("format");
  if (integer_of(document, "format") != kFormat) {
    return refuse("not a catalog of this kiln: its 'format' is not " + std::to_string(kFormat))
        .hint("build again with this kiln");
  }
  if (document.find("images") == nullptr) return lacks("images");
  std::vector<ImageSummary> images;
  for (const Json& object : array_of(document, "images")) {
    ImageSummary image;
    image.module = text_of(object, "module");
    image.entry = text_of(object, "entry");
    image.path = text_of(object, "path");
    image.size = static_cast<std::uint64_t>(integer_of(object, "size").value_or(0));
    (void)Digest::parse(text_of(object, "digest"), image.digest);
    KILN_TRY_ASSIGN(image.info.target, parse_target_id(text_of(object, "target")));
    image.info.format =
        parse_image_format(text_of(object, "format")).value_or(ImageFormat::kHsaco);
    image.info.format_version = text_of(object, "format_version");
    image.info.ptx_isa = static_cast<std::uint16_t>(integer_of(object, "ptx_isa").value_or(0));
    for (const Json& kernel : array_of(object, "kernels")) {
      image.info.kernels.push_back(read_kernel(kernel));
      image.signatures.push_back(signature_of(kernel));
    }
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace kiln::tools
