#include <algorithm>
#include <map>
#include <mutex>

#include "base/diagnostic.hpp"
#include "kiln/ops/kernels.hpp"
#include "kiln/ops/launcher.hpp"
#include "ops/src/workspace.hpp"
#include "tests/kernels/executor.hpp"

namespace kiln::conformance {
namespace {

// The memory of cases, on any device.
class DeviceExecutor : public Executor {
 public:
  explicit DeviceExecutor(const Device& device) : device_(device) {}

  Result<std::vector<std::byte*>> place(const std::vector<PieceSize>& sizes) override {
    if (pieces_.size() < sizes.size()) pieces_.resize(sizes.size());
    std::vector<std::byte*> addresses;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t bytes = sizes[i].bytes, there = pieces_[i].size();
      if (sizes[i].ends_memory ? there != bytes : there < bytes) {
        KILN_TRY_ASSIGN(pieces_[i], device_.allocate(bytes));
      }
      addresses.push_back(pieces_[i].as<std::byte>());
    }
    return addresses;
  }

  Result<void> run(const ops::Launch& launch,
                   std::vector<std::vector<std::byte>>& contents) override {
    for (std::size_t i = 0; i < contents.size(); ++i) {
      KILN_TRY(device_.copy_to_device(pieces_[i].data(), contents[i].data(), contents[i].size()));
    }
    KILN_TRY(start(launch));
    KILN_TRY(device_.synchronize());
    if (launch.workspace_bytes != 0) KILN_TRY(check_counters());
    for (std::size_t i = 0; i < contents.size(); ++i) {
      KILN_TRY(device_.copy_to_host(contents[i].data(), pieces_[i].data(), contents[i].size()));
    }
    return {};
  }
  ops::Gpu gpu() const override { return ops::Gpu::of(device_.info()); }

 protected:
  virtual Result<void> start(const ops::Launch& launch) = 0;
  // Returns the workspace of the last launch that had one.
  virtual Result<std::byte*> workspace() = 0;
  const Device& device() const { return device_; }

 private:
  // The counters of a workspace are zero after each launch, since other kernels count on it.
  Result<void> check_counters() {
    KILN_TRY_ASSIGN(std::byte* const counters, workspace());
    std::vector<std::byte> content(tuning::kWorkspaceCounters);
    KILN_TRY(device_.copy_to_host(content.data(), counters, content.size()));
    const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
    if (std::all_of(content.begin(), content.end(), is_zero)) return {};
    std::fill(content.begin(), content.end(), std::byte{0});
    KILN_TRY(device_.copy_to_device(counters, content.data(), content.size()));
    return Error{
        ErrorCode::kInternal, "the counters of the workspace are not zero afterwards", {}, {}};
  }

  Device device_;
  std::vector<Buffer> pieces_;  // only grown: allocating for each case would dominate the time
};

// Launches as any program does: the runtime picks the image. Each executor has a stream of its own,
// so that the launches of several threads run side by side.
class UsualExecutor final : public DeviceExecutor {
 public:
  explicit UsualExecutor(const Device& device)
      : DeviceExecutor(device),
        stream_(device.create_stream()),
        launcher_(device, stream_ ? StreamRef(*stream_) : StreamRef()) {}

 private:
  Result<void> start(const ops::Launch& launch) override { return launcher_.run(launch); }
  Result<std::byte*> workspace() override {
    std::byte* begin = nullptr;
    KILN_TRY(launcher_.with_memory(0, [&](void* behind_counters) -> Result<void> {
      begin = static_cast<std::byte*>(behind_counters) - tuning::kWorkspaceCounters;
      return {};
    }));
    return begin;
  }

  Result<Stream> stream_;
  ops::Launcher launcher_;
};

// Launches with the images of one target only: for example PTX, where the runtime prefers machine
// code.
class TargetExecutor final : public DeviceExecutor {
 public:
  TargetExecutor(const Device& device, std::string_view target)
      : DeviceExecutor(device), modules_(modules_of_target(target)), workspace_(device) {}

 private:
  Result<void> start(const ops::Launch& launch) override {
    const ModuleEntry* const module = modules_.find(launch.module);
    if (module == nullptr) {
      return Error{ErrorCode::kNotFound, "no module '" + std::string(launch.module) + "'", {}, {}};
    }
    KILN_TRY_ASSIGN(const Function function, device().get_or_load_func(launch.kernel, *module));
    auto arguments = launch.arguments;
    if (!launch.layout.empty()) {
      std::vector<std::size_t> content(launch.layout.begin(), launch.layout.end());
      Buffer& layout = layouts_[content];
      if (layout.size() == 0) {
        KILN_TRY_ASSIGN(layout, device().upload(content));
      }
      arguments.at(launch.layout_argument) = ops::Argument::of(layout.data());
    }
    if (launch.workspace_bytes != 0) {
      KILN_TRY_ASSIGN(void* const workspace, workspace_.of(launch.workspace_bytes));
      arguments.at(launch.workspace_argument) = ops::Argument::of(workspace);
    }
    std::vector<const void*> addresses;
    for (const ops::Argument& argument : arguments) addresses.push_back(argument.data());
    LaunchConfig config;
    config.grid = launch.grid;
    config.block = launch.block;
    config.shared_bytes = launch.shared_bytes;
    for (std::uint32_t step = 0; step < launch.steps; ++step) {
      if (launch.step_argument != ops::Launch::kNoArgument) addresses.at(launch.step_argument) = &step;
      KILN_TRY(function.launch_raw(config, addresses.data(), addresses.size()));
    }
    return {};
  }

  Result<std::byte*> workspace() override {
    KILN_TRY_ASSIGN(void* const begin, workspace_.of(0));
    return static_cast<std::byte*>(begin);
  }

  const TargetModules& modules_;
  std::map<std::vector<std::size_t>, Buffer> layouts_;
  ops::Workspace workspace_;
};

}  // namespace

const ModuleEntry* TargetModules::find(std::string_view name) const {
  for (const ModuleEntry& module : modules) {
    if (module.name == name) return &module;
  }
  return nullptr;
}

const TargetModules& modules_of_target(std::string_view target) {
  static std::map<std::string, TargetModules, std::less<>> made;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  TargetModules& entries = made[std::string(target)];
  if (!entries.modules.empty()) return entries;
  for (const ModuleEntry* module : ops::catalog().modules) {
    std::vector<ImageEntry>& images = entries.images.emplace_back();
    for (const ImageEntry& image : module->images) {
      if (image.target == target) images.push_back(image);
    }
    entries.modules.push_back(*module);
    entries.modules.back().images = {images.data(), images.size()};
  }
  return entries;
}

std::unique_ptr<Executor> make_device_executor(const Device& device, std::string_view target) {
  if (target.empty()) return std::make_unique<UsualExecutor>(device);
  return std::make_unique<TargetExecutor>(device, target);
}

}  // namespace kiln::conformance
