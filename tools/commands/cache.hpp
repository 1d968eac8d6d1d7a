// kiln cache: the store of step outputs that all builds of the user share.
#pragma once

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

enum class CacheAction : std::uint8_t {
  kShow,   // where it is, how much is in it, its limit
  kClear,  // remove what is in it
};

struct CacheOptions {
  CacheAction action = CacheAction::kShow;
};

Result<int> run_cache(const CacheOptions& options, World& world);

}  // namespace kiln::tools
