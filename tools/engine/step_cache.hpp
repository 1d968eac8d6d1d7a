// Finds a step's output in the shared store by what decides it, and stores it there.
//
// A step's key is a hash of its ingredients. If the tool reports what it read, the store first
// returns the lists of files that steps with this key have read. A list whose files all have the
// recorded digests leads to the output. Paths are neutral, so the keys are the same in every
// checkout.
#pragma once

#include <optional>

#include "tools/engine/assess.hpp"
#include "tools/engine/run_step.hpp"
#include "tools/system/cache_store.hpp"

namespace kiln::tools {

// If `store` is null, nothing is found and nothing is stored.
std::optional<StepOutput> find_in_cache(CacheStore* store, const Step& step,
                                        const Ingredients& ingredients,
                                        const BuildContext& context,
                                        CacheStore::Levels levels = CacheStore::Levels::kAll);
// Waits while another build runs the same step. Returns nothing if that cannot be known.
std::optional<RangeLock> claim_in_cache(CacheStore* store, const Ingredients& ingredients,
                                        const Interrupt* interrupt);
Result<void> put_in_cache(CacheStore* store, const Step& step, const Ingredients& ingredients,
                          const StepOutput& output);

}  // namespace kiln::tools
