// plan_compile: the steps that compile one source for one target, device code only, to a raw image.
//
//   AMD      the hipified source, by hipcc or clang, to an ELF: code object V5, V6 for generic targets
//   NVIDIA   the source, by nvcc, to a cubin or to PTX; where there is PTX of a cubin's architecture, that
//            PTX to the cubin
// No step depends on where the two roots lie, and neither do the bytes that it makes; with debug lines
// or full, NVIDIA's tools write the source's folder and time into cubins all the same.
#pragma once

#include <vector>

#include "tools/model/plan.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

// One step a unit and target: by unit, then by target, but PTX before the cubin made of it. `hipify` holds the plan's steps so far, which
// start the plan.
std::vector<Step> plan_compile(const Manifest& manifest, const Toolchain& toolchain,
                               const std::vector<Unit>& units, const std::vector<Step>& hipify);

// One step for each PTX target of each module of several sources: all of them in one translation unit.
// Nothing unless the manifest asks for it.
std::vector<Step> plan_joined_ptx(const Manifest& manifest, const Toolchain& toolchain,
                                  const std::vector<Unit>& units);

// A unit's targets of these kinds, sorted.
std::vector<TargetId> sorted_targets(const Manifest& manifest, const Unit& unit,
                                     std::initializer_list<TargetKind> kinds);

// "affine", or "quantized.matvec" for a unit of several: how ids and bundles name it.
std::string step_subject(const Unit& unit);

}  // namespace kiln::tools
