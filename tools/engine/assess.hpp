// Says whether a step's output is up to date, and if not, why. Runs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/engine/ingredients.hpp"
#include "tools/engine/state.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/system/environment.hpp"
#include "tools/system/file_digests.hpp"

namespace kiln::tools {

// What every check of a build needs; all of it outlives the build.
struct BuildContext {
  const Plan& plan;
  const Toolchain& toolchain;
  const Environment& environment;
  FileDigests& digests;
  std::shared_ptr<SharedIngredients> shared = std::make_shared<SharedIngredients>();
};

enum class Freshness : std::uint8_t {
  kFresh,    // the output is what running the step again would give
  kStale,    // it is not
  kFollows,  // it is, unless a stale step that it reads from makes something new
};

struct Assessment {
  Freshness freshness = Freshness::kStale;
  std::vector<std::string> reasons;  // empty when fresh: "affine.cu changed", "output missing"
  Ingredients ingredients;           // as they are now; none when fresh
};

// The step by itself, given that what it reads from is in place. `record` is null when it never ran.
Assessment assess(const Step& step, const StepRecord* record, const BuildContext& context);

// All steps, by plan position: what a build would run, without running it.
std::vector<Assessment> assess_all(const BuildState& state, const BuildContext& context);

// Where the log of a step is kept, with {out}.
std::string log_path(const Step& step);

}  // namespace kiln::tools
