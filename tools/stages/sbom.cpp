#include "tools/stages/sbom.hpp"

#include <algorithm>
#include <map>

#include "base/digest.hpp"
#include "base/version_text.hpp"
#include "kiln/version.hpp"
#include "tools/stages/linked_libraries.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kDocument = "SPDXRef-DOCUMENT", kWhole = "SPDXRef-kernels";
constexpr std::string_view kUnknown = "NOASSERTION";

struct Package {
  std::string id, name, version, sha256, purpose, comment;
  std::string supplier;                       // empty: not known
  std::string licence{kUnknown};
};

Json package_json(const Package& package) {
  Json::Object object{{"SPDXID", package.id}, {"name", package.name}};
  if (!package.version.empty()) object.push_back({"versionInfo", package.version});
  if (!package.supplier.empty()) object.push_back({"supplier", "Organization: " + package.supplier});
  object.push_back({"downloadLocation", kUnknown});
  object.push_back({"filesAnalyzed", false});
  if (!package.sha256.empty()) {
    Json::Array checksums;
    checksums.push_back(
        Json::Object{{"algorithm", "SHA256"}, {"checksumValue", package.sha256}});
    object.push_back({"checksums", std::move(checksums)});
  }
  object.push_back({"licenseConcluded", kUnknown});
  object.push_back({"licenseDeclared", package.licence});
  object.push_back({"copyrightText", kUnknown});
  object.push_back({"primaryPackagePurpose", package.purpose});
  if (!package.comment.empty()) object.push_back({"comment", package.comment});
  return object;
}

class Writer {
 public:
  explicit Writer(const Catalog& catalog) : catalog_(catalog) {}

  Json write() {
    add({.id = std::string(kWhole), .name = catalog_.name, .version = {}, .sha256 = {},
         .purpose = "LIBRARY", .comment = "The kernels of " + catalog_.settings.embed.header,
         .supplier = {}});
    relate(kDocument, "DESCRIBES", kWhole);
    tools();
    libraries();
    for (const Module& module : catalog_.modules) images(module);
    Json::Array creators, extracted;
    creators.push_back("Tool: kiln-" + version_text(KILN_VERSION));
    for (const LinkedLibrary* library : libraries_of(catalog_)) {
      if (!library->licence.starts_with("LicenseRef-")) continue;
      Json::Array links;
      links.push_back(library->source);
      extracted.push_back(Json::Object{{"licenseId", library->licence},
                                       {"name", "CUDA Toolkit End User License Agreement"},
                                       {"extractedText", library->summary},
                                       {"seeAlsos", std::move(links)}});
    }
    Json::Object document{{"spdxVersion", "SPDX-2.3"},
                          {"dataLicense", "CC0-1.0"},
                          {"SPDXID", kDocument},
                          {"name", catalog_.name}};
    document.push_back({"documentNamespace", "https://spdx.org/spdxdocs/" + catalog_.name + "-" +
                                                 contents_.finish().hex()});
    document.push_back(
        {"creationInfo",
         Json::Object{{"created", "1970-01-01T00:00:00Z"},
                      {"creators", std::move(creators)},
                      {"comment", "Of no time: the same build gives the same bytes."}}});
    if (!extracted.empty()) document.push_back({"hasExtractedLicensingInfos", std::move(extracted)});
    document.push_back({"packages", std::move(packages_)});
    document.push_back({"relationships", std::move(relationships_)});
    return document;
  }

 private:
  void add(const Package& package) {
    contents_.add(package.id, package.name).add(package.version, package.sha256);
    contents_.add("comment", package.comment);
    packages_.push_back(package_json(package));
  }
  void relate(std::string_view from, std::string_view how, std::string_view to) {
    relationships_.push_back(Json::Object{{"spdxElementId", from},
                                          {"relationshipType", how},
                                          {"relatedSpdxElement", to}});
  }

  void tools() {
    for (const ToolRecord& tool : catalog_.tools) {
      const std::string id = "SPDXRef-tool-" + tool.name;
      add({.id = id, .name = tool.name, .version = tool.version, .sha256 = {},
           .purpose = "APPLICATION",
           .comment = "kiln's digest over its programs and libraries: " + identity_of(tool),
           .supplier = {}});
      relate(id, "BUILD_TOOL_OF", kWhole);
    }
  }

  void libraries() {
    for (const LinkedLibrary* library : libraries_of(catalog_)) {
      std::string version, digests;
      for (const ToolRecord& tool : catalog_.tools) {
        if (tool.name != library->tool) continue;
        // The library comes with its compiler and has the same version.
        if (tool.name == "nvcc") version = tool.version;
        for (const auto& [role, digest] : tool.roles) {
          if (role.starts_with(library->role))
            digests += (digests.empty() ? "" : ", ") + role + " " + digest;
        }
      }
      std::string comment(library->summary);
      if (!digests.empty()) comment += " kiln's digests over its files: " + digests;
      add({.id = "SPDXRef-" + std::string(library->id), .name = std::string(library->name),
           .version = version, .sha256 = {}, .purpose = "LIBRARY", .comment = comment,
           .supplier = std::string(library->supplier), .licence = std::string(library->licence)});
    }
  }

  std::string source(const SourceFile& file) {
    const auto [known, is_new] =
        sources_.emplace(file.path, "SPDXRef-source-" + std::to_string(sources_.size() + 1));
    if (is_new) {
      add({.id = known->second, .name = file.path, .version = {}, .sha256 = file.digest.hex(),
           .purpose = "SOURCE", .comment = {}, .supplier = {}});
    }
    return known->second;
  }

  void images(const Module& module) {
    for (const Artifact& image : module.images) {
      const std::string id = "SPDXRef-image-" + std::to_string(++image_count_);
      add({.id = id, .name = image.path, .version = {}, .sha256 = image.digest.hex(),
           .purpose = "FILE", .comment = {}, .supplier = {}});
      relate(kWhole, "CONTAINS", id);
      if (image.unit < module.origins.size()) {
        for (const SourceFile& file : module.origins[image.unit].files) {
          relate(id, "GENERATED_FROM", source(file));
        }
      }
      for (const LinkedLibrary& library : linked_libraries()) {
        if (is_linked_into(library, image.target)) {
          relate(id, "STATIC_LINK", "SPDXRef-" + std::string(library.id));
        }
      }
    }
  }

  const Catalog& catalog_;
  Json::Array packages_, relationships_;
  KeyHasher contents_;
  std::map<std::string, std::string> sources_;  // path -> id
  std::size_t image_count_ = 0;
};

}  // namespace

Json sbom_json(const Catalog& catalog) { return Writer(catalog).write(); }

}  // namespace kiln::tools
