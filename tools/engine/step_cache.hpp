// Finds a step's output in the shared store by what decides it, and puts it there.
//
// A step's key is made of its ingredients. Where the tool reports what it read, the store first gives
// the lists of files that steps of this key were seen to read; a list whose files all have the digests
// it names leads to the output. Neutral paths make the keys the same in every checkout.
#pragma once

#include <optional>

#include "tools/engine/assess.hpp"
#include "tools/engine/run_step.hpp"
#include "tools/system/cache_store.hpp"

namespace kiln::tools {

// `store` may be null: nothing is found, nothing is kept.
std::optional<StepOutput> find_in_cache(CacheStore* store, const Step& step,
                                        const Ingredients& ingredients,
                                        const BuildContext& context,
                                        CacheStore::Levels levels = CacheStore::Levels::kAll);
// Waits while another build runs this step; nothing when it cannot be known.
std::optional<RangeLock> claim_in_cache(CacheStore* store, const Ingredients& ingredients,
                                        const Interrupt* interrupt);
Result<void> put_in_cache(CacheStore* store, const Step& step, const Ingredients& ingredients,
                          const StepOutput& output);

}  // namespace kiln::tools
