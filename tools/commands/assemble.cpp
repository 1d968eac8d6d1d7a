#include "tools/commands/assemble.hpp"

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/build_output.hpp"
#include "tools/commands/opened_folder.hpp"
#include "tools/commands/prepare.hpp"
#include "tools/commands/shared_store.hpp"
#include "tools/engine/build_memory.hpp"
#include "tools/engine/finish.hpp"
#include "tools/engine/old_images.hpp"
#include "tools/engine/out_folder.hpp"

namespace kiln::tools {
namespace {

// Checks that every image, bundle and log of the plan is in place.
Result<void> check_in_place(const Plan& plan, const Files& files) {
  std::vector<Error> errors;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kHipify) continue;
    for (const std::string& path : {step.output, log_path(step)}) {
      if (files.kind(expand(path, plan)) == PathKind::kFile) continue;
      errors.push_back(
          Error{ErrorCode::kBuildFailed,
                quote(below_out(path)) + " is missing: " + quote(step.id) + " has not run"}
              .hint("run ninja on the file that 'kiln plan --ninja' wrote, or 'kiln build'"));
      break;
    }
  }
  if (!errors.empty()) return merge_errors(std::move(errors));
  return {};
}

}  // namespace

Result<int> run_assemble(const AssembleOptions& options, World& world) {
  KILN_TRY_ASSIGN(const Prepared prepared, prepare(options.selection, world));
  const Plan& plan = prepared.plan;
  KILN_TRY(check_out_folder(world.files, plan.out_root, options.selection.out));
  KILN_TRY(check_in_place(plan, world.files));
  KILN_TRY_ASSIGN(const StorePolicies policies, store_policies(world.environment));
  KILN_TRY_ASSIGN(const OpenedFolder opened, open_out_folder(plan.out_root, world));
  SandboxedFiles& files = *opened.files;
  BuildMemory memory(files, plan, world.environment);
  const BuildContext context{plan, prepared.toolchain, world.environment, memory.digests};

  // Images for other targets may be Ninja's, about which nothing is known here.
  if (extent_of(options.selection, prepared) == BuildExtent::kWhole) {
    (void)remove_old_images(BuildExtent::kWhole, context, memory.state, files);
  }
  std::vector<std::string> modules;
  for (const ModuleSpec& module : prepared.manifest.modules) {
    modules.push_back(module.name.value);
  }
  SharedStore store(StoreUse::kFolder, policies, opened.cache, world);  // keeps compressed images
  KILN_TRY_ASSIGN(const Finished finished,
                  finish({prepared.manifest, prepared.units, prepared.missing_targets, modules,
                          store.get(), FailurePolicy::kStopBeforeBundles},
                         context, memory.state, files));
  KILN_TRY(memory.save());
  if (!finished.was_up_to_date) {
    world.out << counted(finished.kernels, "kernel") << " in " << counted(finished.images, "image")
              << ": " << spell_emitted(options.selection.out, prepared.manifest.embed) << "\n";
  }
  return 0;
}

}  // namespace kiln::tools
