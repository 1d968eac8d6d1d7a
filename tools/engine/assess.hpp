// Decides whether a step's output is up to date, and if not, why. Runs nothing.
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

// Everything that the checks of a build need. What it refers to must outlive the build.
struct BuildContext {
  const Plan& plan;
  const Toolchain& toolchain;
  const Environment& environment;
  FileDigests& digests;
  std::shared_ptr<SharedIngredients> shared = std::make_shared<SharedIngredients>();
};

enum class Freshness : std::uint8_t {
  kFresh,    // running the step again would give the same output
  kStale,    // the step must run again
  kFollows,  // fresh by itself, but it reads from a step that is not fresh
};

struct Assessment {
  Freshness freshness = Freshness::kStale;
  std::vector<std::string> reasons;  // empty when fresh: "affine.cu changed", "output missing"
  Ingredients ingredients;           // as they are now; empty unless stale
};

// Assesses one step, assuming that everything it reads is in place. `record` is null if the step
// has never finished.
Assessment assess(const Step& step, const StepRecord* record, const BuildContext& context);

// Assesses all steps, by plan position: tells what a build would run, without running it.
std::vector<Assessment> assess_all(const BuildState& state, const BuildContext& context);

// Returns the path of the step's log; begins with {out}.
std::string log_path(const Step& step);

}  // namespace kiln::tools
