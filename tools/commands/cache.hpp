// kiln cache: manages the store of step outputs that all builds of a user share.
#pragma once

#include <string>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

enum class CacheAction : std::uint8_t {
  kShow,   // show its place, size, limit and counts
  kClear,  // remove everything
  kTrim,   // remove entries over the size limit or too old
};

struct CacheOptions {
  CacheAction action = CacheAction::kShow;
  std::string size = {};  // for kTrim, "500M"; empty: KILN_CACHE_SIZE
  std::string age = {};   // for kTrim, "30d", "12h"; empty: any
  bool json = false;
};

Result<int> run_cache(const CacheOptions& options, World& world);

}  // namespace kiln::tools
