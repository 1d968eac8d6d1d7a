#include "kiln/ops/launcher.hpp"

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include "base/diagnostic.hpp"
#include "kernels/tuning/workspace.hpp"
#include "kiln/ops/kernels.hpp"
#include "layout_store.hpp"
#include "own_kernels.hpp"
#include "workspace.hpp"

namespace kiln::ops {
namespace {

// Checks that the plan and the kernel agree on the arguments. They come from different sources.
Result<void> check_arguments(const Launch& launch, const KernelEntry& kernel) {
  bool same = launch.arguments.size() == kernel.parameters.size();
  for (std::size_t i = 0; same && i < kernel.parameters.size(); ++i) {
    same = launch.arguments[i].size() == kernel.parameters[i].size;
  }
  if (same) return {};
  const auto sizes = [](std::size_t count, auto size_of_one) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(size_of_one(i));
    }
    return text;
  };
  return Error{ErrorCode::kInvalidInput,
               "the arguments of '" + to_string(launch) + "' are not those of the kernel",
               {},
               {}}
      .note("given: " +
            sizes(launch.arguments.size(), [&](auto i) { return launch.arguments[i].size(); }) +
            " bytes")
      .note("taken: " +
            sizes(kernel.parameters.size(), [&](auto i) { return kernel.parameters[i].size; }) +
            " bytes");
}

// Checks that the layout, the workspace and the step have places among the arguments.
Result<void> check_places(const Launch& launch) {
  const std::size_t count = launch.arguments.size();
  const auto is_outside = [&](std::size_t place) {
    return place != Launch::kNoArgument && place >= count;
  };
  bool is_wrong = is_outside(launch.workspace_argument) || is_outside(launch.step_argument);
  for (const Launch::WorkspacePart& part : launch.workspace_parts)
    is_wrong |= part.argument >= count;
  if (!launch.layout.empty()) is_wrong |= launch.layout_argument >= count;
  if (!is_wrong) return {};
  return Error{ErrorCode::kInvalidInput,
               "layout, workspace or step of '" + to_string(launch) + "' has no place among its " +
                   std::to_string(count) + " arguments",
               {},
               {}};
}

Error moved_from() {
  return Error{ErrorCode::kInvalidInput, "a launch by a Launcher that was moved from", {}, {}};
}

}  // namespace

struct Launcher::State {
  Device device;
  StreamRef stream;
  LayoutStore layouts;
  Workspace workspace;
  // Held by users of the workspace until their launches are queued on the stream.
  std::recursive_mutex working = {};

  State(Device on, StreamRef to) : device(on), stream(to), layouts(on), workspace(std::move(on)) {}

  // Returns the kernel, after checking that it takes the launch's arguments.
  Result<Function> find(const Launch& launch) const {
    KILN_TRY_ASSIGN(const Function function, load(launch));
    KILN_TRY(check_arguments(launch, *function.kernel()));
    KILN_TRY(check_places(launch));
    return function;
  }

  Result<Function> load(const Launch& launch) const {
    if (launch.own_kernel != Launch::kByName) {
      KILN_TRY_ASSIGN(const TypedFunction<> own, device.function(own_kernel(launch.own_kernel)));
      return static_cast<Function>(own);
    }
    const ModuleEntry* module = catalog().find(launch.module);
    if (module == nullptr) {
      return Error{ErrorCode::kNotFound,
                   "this build has no module '" + std::string(launch.module) + "'",
                   {},
                   {}};
    }
    return device.get_or_load_func(launch.kernel, *module);
  }
};

Launcher::Launcher(Device device, StreamRef stream)
    : state_(new State(std::move(device), stream)) {}
Launcher::Launcher(Launcher&&) noexcept = default;
Launcher& Launcher::operator=(Launcher&&) noexcept = default;
Launcher::~Launcher() = default;

Gpu Launcher::gpu() const { return state_ != nullptr ? Gpu::of(state_->device.info()) : Gpu(); }
const Device& Launcher::device() const { return state_->device; }
StreamRef Launcher::stream() const { return state_->stream; }

Result<void> Launcher::prepare(const Launch& launch) const {
  if (state_ == nullptr) return moved_from();
  KILN_TRY_ASSIGN(const Function function, state_->find(launch));
  if (!launch.layout.empty()) KILN_TRY(state_->layouts.prepare(launch.layout));
  if (launch.workspace_bytes != 0) KILN_TRY(state_->workspace.of(launch.workspace_bytes));
  return function.prepare();
}

Result<void> Launcher::run(const Launch& launch) const {
  if (state_ == nullptr) return moved_from();
  KILN_TRY_ASSIGN(const Function function, state_->find(launch));
  LaunchConfig config;
  config.grid = launch.grid;
  config.block = launch.block;
  config.shared_bytes = launch.shared_bytes;
  config.stream = state_->stream;
  InlineList<const void*, kMaxArguments> addresses;
  for (const Argument& argument : launch.arguments) addresses.push_back(argument.data());
  void* workspace = nullptr;
  std::array<void*, Launch::kMaxWorkspaceParts> parts;
  std::unique_lock<std::recursive_mutex> lock;
  if (launch.workspace_bytes != 0) {
    lock = std::unique_lock(state_->working);
    KILN_TRY_ASSIGN(workspace, state_->workspace.of(launch.workspace_bytes));
    if (launch.workspace_argument != Launch::kNoArgument) {
      addresses[launch.workspace_argument] = &workspace;
    }
    for (std::size_t i = 0; i < launch.workspace_parts.size(); ++i) {
      const Launch::WorkspacePart& part = launch.workspace_parts[i];
      parts[i] = static_cast<std::byte*>(workspace) + part.offset;
      addresses[part.argument] = &parts[i];
    }
  }
  const auto run_steps = [&]() -> Result<void> {
    for (std::uint32_t step = 0; step < launch.steps; ++step) {
      if (launch.step_argument != Launch::kNoArgument) addresses[launch.step_argument] = &step;
      KILN_TRY(function.launch_raw(config, addresses.data(), addresses.size()));
    }
    return {};
  };
  if (launch.layout.empty()) return run_steps();
  return state_->layouts.use(launch.layout, [&](const void* block) {
    addresses[launch.layout_argument] = &block;
    return run_steps();
  });
}

Result<void> Launcher::run(const LaunchSequence& sequence) const {
  if (state_ == nullptr) return moved_from();
  const std::lock_guard<std::recursive_mutex> lock(state_->working);
  for (const Launch& each : sequence.launches) KILN_TRY(run(each));
  return {};
}

Result<void> Launcher::prepare(const LaunchSequence& sequence) const {
  for (const Launch& each : sequence.launches) KILN_TRY(prepare(each));
  return {};
}

Result<void> Launcher::with_memory(std::size_t bytes,
                                   const std::function<Result<void>(void*)>& work) const {
  if (state_ == nullptr) return moved_from();
  const std::lock_guard<std::recursive_mutex> lock(state_->working);
  KILN_TRY_ASSIGN(void* const begin, state_->workspace.of(tuning::kWorkspaceCounters + bytes));
  return work(static_cast<std::byte*>(begin) + tuning::kWorkspaceCounters);
}

}  // namespace kiln::ops
