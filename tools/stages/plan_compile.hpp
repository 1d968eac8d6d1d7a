// plan_compile: makes the steps that compile one source for one target to a raw image of device
// code.
//
//   AMD      the converted source, by hipcc or clang, to an ELF: code object V5, or V6 for generic
//            targets
//   NVIDIA   the source, by nvcc, to a cubin or to PTX. If PTX of a cubin's architecture is also
//            built, the cubin is made from it.
//
// Neither the steps nor their outputs depend on where the source root and out folder are. The
// exception is debug information of NVIDIA's tools (lines or full): cubins then hold the source's
// folder and time.
#pragma once

#include <vector>

#include "tools/model/plan.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

// Makes one step per unit and target, sorted by unit, then by target. PTX comes before the cubin
// that is made from it. `hipify` holds the steps of the plan so far.
std::vector<Step> plan_compile(const Manifest& manifest, const Toolchain& toolchain,
                               const std::vector<Unit>& units, const std::vector<Step>& hipify);

// Makes one step for each PTX target of each module with several sources, which compiles all of
// them as one translation unit. Makes none unless the manifest asks for it.
std::vector<Step> plan_joined_ptx(const Manifest& manifest, const Toolchain& toolchain,
                                  const std::vector<Unit>& units);

// True if the step's tool makes PTX, which kiln then shortens (shorten_ptx.hpp).
bool makes_ptx(const Step& step);

// Returns a unit's targets of these kinds, sorted.
std::vector<TargetId> sorted_targets(const Manifest& manifest, const Unit& unit,
                                     std::initializer_list<TargetKind> kinds);

// Returns the name of a unit in ids and bundles: "affine", or "quantized.matvec" in a module with
// several units.
std::string step_subject(const Unit& unit);

}  // namespace kiln::tools
