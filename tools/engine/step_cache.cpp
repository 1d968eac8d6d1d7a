#include "tools/engine/step_cache.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"

namespace kiln::tools {
namespace {

using Dependencies = std::vector<std::pair<std::string, Digest>>;

Digest output_key(const Digest& step_key, const Dependencies& dependencies) {
  KeyHasher hasher;
  hasher.add("step", step_key);
  for (const auto& [path, digest] : dependencies) hasher.add("dependency " + path, digest);
  return hasher.finish();
}

// A missing input could have any content, so an output that depends on one is not shared.
bool is_shareable(const Ingredients& ingredients) {
  return std::ranges::find(ingredients, kMissing, &Ingredient::value) == ingredients.end();
}

bool is_current(const Candidate& candidate, const BuildContext& context) {
  return std::all_of(candidate.dependencies.begin(), candidate.dependencies.end(),
                     [&](const auto& dependency) {
                       return context.digests.digest_at(expand(dependency.first, context.plan)) ==
                              dependency.second;
                     });
}

}  // namespace

std::optional<StepOutput> find_in_cache(CacheStore* store, const Step& step,
                                        const Ingredients& ingredients,
                                        const BuildContext& context,
                                        CacheStore::Levels levels) {
  if (store == nullptr || !is_shareable(ingredients)) return std::nullopt;
  const Digest step_key = key_of(ingredients);
  FoundIn found_in = FoundIn::kNowhere;
  const auto find_current = [&](std::vector<Candidate> candidates) -> std::optional<StepOutput> {
    for (Candidate& candidate : candidates) {
      if (!is_current(candidate, context)) continue;
      std::optional<CachedOutput> found = store->find(output_key(step_key, candidate.dependencies), levels);
      if (!found) continue;
      found_in = found->found_in;
      StepOutput output;
      output.bytes = std::move(found->output);
      output.log = std::move(found->log);
      output.digest = found->output_digest;
      output.log_digest = found->log_digest;
      output.dependencies = std::move(candidate.dependencies);
      return output;
    }
    return std::nullopt;
  };
  const auto find = [&]() -> std::optional<StepOutput> {
    // nothing but the ingredients decides the output
    if (step.depfile.empty()) return find_current({{}});
    std::optional<StepOutput> output = find_current(store->candidates(step_key));
    if (output || levels == CacheStore::Levels::kLocal) return output;
    output = find_current(store->remote_candidates(step_key));
    if (output) (void)store->add_local_candidate(step_key, {output->dependencies});
    return output;
  };
  std::optional<StepOutput> output = find();
  if (levels == CacheStore::Levels::kAll) {
    store->count(found_in, output ? output->bytes.size() + output->log.size() : 0);
  }
  return output;
}

std::optional<RangeLock> claim_in_cache(CacheStore* store, const Ingredients& ingredients,
                                        const Interrupt* interrupt) {
  if (store == nullptr || !is_shareable(ingredients)) return std::nullopt;
  return store->claim(key_of(ingredients), interrupt);
}

Result<void> put_in_cache(CacheStore* store, const Step& step, const Ingredients& ingredients,
                          const StepOutput& output) {
  if (store == nullptr || !is_shareable(ingredients)) return {};
  const Digest step_key = key_of(ingredients);
  KILN_TRY(store->store(output_key(step_key, output.dependencies), {.output = output.bytes, .log = output.log}));
  if (step.depfile.empty()) return {};
  return store->add_candidate(step_key, {output.dependencies});
}

}  // namespace kiln::tools
