// A finished build as it lies in its out folder: read back and checked, and written without any
// tool.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/json/json.hpp"
#include "tools/model/catalog.hpp"
#include "tools/system/cache_store.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

struct BuildFolder {
  std::filesystem::path shown;               // the folder, as errors name it; empty for what was put together
  Catalog catalog;                           // images with their bytes
  std::vector<BundleRecord> bundles;         // as the catalog lists them
  std::map<std::string, std::string> files;  // bundles, and what is in hip/: by path, bytes
};

// The folder of a build that the user named by itself or by its kiln.json.
struct BuildPath {
  std::filesystem::path folder;  // absolute
  std::filesystem::path shown;   // as the user would write it
};
BuildPath build_path(const std::filesystem::path& given, const std::filesystem::path& here);

// The error (kInvalidInput) that there is no kiln.json in it, with what was probably meant.
Error no_build(const std::filesystem::path& folder, const std::filesystem::path& shown, const Files& files);

// Its kiln.json. `shown` names the folder in errors: kInvalidInput where it is no finished build.
Result<Json> read_build_document(const std::filesystem::path& folder,
                                 const std::filesystem::path& shown, const Files& files);

// Its catalog alone: images without bytes, and no files.
Result<BuildFolder> read_build_catalog(const std::filesystem::path& folder,
                                       const std::filesystem::path& shown, const Files& files);

// Everything in it. The error (kBuildFailed) also names what is missing, or is not what the catalog
// says.
Result<BuildFolder> read_build_folder(const std::filesystem::path& folder,
                                      const std::filesystem::path& shown, const Files& files);

// The bundles and converted sources of `catalog`, out of those of the builds that its images come
// from.
Result<std::map<std::string, std::string>> repack(const Catalog& catalog,
                                                  const std::vector<BuildFolder>& from);

// Makes `folder` hold that build and nothing else of kiln's. Under the folder's lock.
Result<void> write_build_folder(const BuildFolder& build, const std::filesystem::path& folder,
                                Files& files, CacheStore* store);

}  // namespace kiln::tools
