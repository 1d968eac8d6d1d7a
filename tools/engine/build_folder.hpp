// A finished build in its out folder: reads and checks it, and writes it without running any tool.
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
  // the folder as errors name it; empty if assembled in memory
  std::filesystem::path shown;
  Catalog catalog;                    // images with their bytes
  std::vector<BundleRecord> bundles;  // as the catalog lists them
  // bundles and converted sources (hip/): contents by path
  std::map<std::string, std::string> files;
};

// The folder of a build. The user names the folder itself or its kiln.json.
struct BuildPath {
  std::filesystem::path folder;  // absolute
  std::filesystem::path shown;   // as the user would write it
};
BuildPath build_path(const std::filesystem::path& given, const std::filesystem::path& here);

// Returns the error (kInvalidInput) that the folder has no kiln.json, with a guess at what was
// meant.
Error no_build(const std::filesystem::path& folder, const std::filesystem::path& shown, const Files& files);

// Reads kiln.json. `shown` names the folder in errors. The error is kInvalidInput if there is no
// finished build.
Result<Json> read_build_document(const std::filesystem::path& folder,
                                 const std::filesystem::path& shown, const Files& files);

// Reads only the catalog: images have no bytes, and `files` is empty.
Result<BuildFolder> read_build_catalog(const std::filesystem::path& folder,
                                       const std::filesystem::path& shown, const Files& files);

// Reads everything. The error (kBuildFailed) also lists the files that are missing or differ from
// the catalog.
Result<BuildFolder> read_build_folder(const std::filesystem::path& folder,
                                      const std::filesystem::path& shown, const Files& files);

// Makes the bundles and converted sources of `catalog` from the files of the builds that its images
// come from.
Result<std::map<std::string, std::string>> repack(const Catalog& catalog,
                                                  const std::vector<BuildFolder>& builds);

// Makes `folder` hold this build and no other file of kiln's. The caller holds the folder's lock.
Result<void> write_build_folder(const BuildFolder& build, const std::filesystem::path& folder,
                                Files& files, CacheStore* store);

}  // namespace kiln::tools
