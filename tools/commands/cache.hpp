// kiln cache: the store of step outputs that all builds of the user share.
#pragma once

#include <string>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

enum class CacheAction : std::uint8_t {
  kShow,   // where it is, how much is in it, its limit, what it was asked
  kClear,  // remove what is in it
  kTrim,   // remove what is too much or too old
};

struct CacheOptions {
  CacheAction action = CacheAction::kShow;
  std::string size = {};  // of trim, "500M"; empty: KILN_CACHE_SIZE
  std::string age = {};   // of trim, "30d", "12h"; empty: any
  bool json = false;
};

Result<int> run_cache(const CacheOptions& options, World& world);

}  // namespace kiln::tools
