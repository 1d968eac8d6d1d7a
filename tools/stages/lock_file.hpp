// lock_file: records what a build was made with, and checks another build against the record.
//
//   {"format": 1, "kiln": "0.1.0", "name", "targets", "settings", "modules", "tools": as in kiln.json,
//    "images": {"images/affine/sm_90.cubin": "<SHA-256>"}}
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kiln/result.hpp"
#include "tools/json/json.hpp"
#include "tools/model/catalog.hpp"
#include "tools/model/selection.hpp"

namespace kiln::tools {

struct Lock {
  std::string kiln;  // the version of kiln
  Catalog catalog;   // without kernels and images
  std::map<std::string, std::string> images;  // path below the out folder -> SHA-256
};

// Describes a finished build: its catalog, and the digests of its images.
Json lock_json(const Catalog& catalog);

// `file` is the path of the lock file, for messages.
Result<Lock> read_lock(std::string_view text, const std::string& file);

// Checks a catalog before anything is built. The error (kBuildFailed) names everything in which
// `now` differs from the lock. A build of kSelected may make less.
Result<void> check_lock(const Lock& lock, const Catalog& now, const std::string& file,
                        BuildExtent extent);

// Runs after the build. The error names the images that differ although everything compared before
// was the same.
Result<void> check_locked_images(const Lock& lock, const std::map<std::string, std::string>& images,
                                 const std::string& file);

}  // namespace kiln::tools
