#include "kiln/ops/launcher.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "kiln/ops/kernels.hpp"

namespace kiln::ops {
namespace {

// Whether the plan and the kernel agree on the arguments. They are made apart from each other.
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

}  // namespace

struct Launcher::State {
  Device device;
  StreamRef stream;
  std::mutex mutex;  // guards layouts
  std::map<std::vector<std::size_t>, Buffer> layouts;

  // The device address of a layout block with this content.
  Result<const void*> layout_address(const std::vector<std::size_t>& content) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = layouts.find(content);
    if (found == layouts.end()) {
      KILN_TRY_ASSIGN(Buffer block, device.upload(content));
      found = layouts.emplace(content, std::move(block)).first;
    }
    return static_cast<const void*>(found->second.data());
  }

  // The kernel, which takes the launch's arguments.
  Result<Function> find(const Launch& launch) const {
    const ModuleEntry* module = catalog().find(launch.module);
    if (module == nullptr) {
      return Error{ErrorCode::kNotFound,
                   "this build has no module '" + std::string(launch.module) + "'",
                   {},
                   {}};
    }
    KILN_TRY_ASSIGN(const Function function, device.get_or_load_func(launch.kernel, *module));
    KILN_TRY(check_arguments(launch, *function.kernel()));
    return function;
  }
};

Launcher::Launcher(Device device, StreamRef stream)
    : state_(new State{std::move(device), stream, {}, {}}) {}
Launcher::Launcher(Launcher&&) noexcept = default;
Launcher& Launcher::operator=(Launcher&&) noexcept = default;
Launcher::~Launcher() = default;

const Device& Launcher::device() const { return state_->device; }
StreamRef Launcher::stream() const { return state_->stream; }

Result<void> Launcher::prepare(const Launch& launch) const {
  KILN_TRY_ASSIGN(const Function function, state_->find(launch));
  if (!launch.layout.empty()) KILN_TRY(state_->layout_address(launch.layout));
  return function.prepare();
}

Result<void> Launcher::run(const Launch& launch) const {
  KILN_TRY_ASSIGN(const Function function, state_->find(launch));
  std::vector<Argument> arguments = launch.arguments;
  if (!launch.layout.empty()) {
    KILN_TRY_ASSIGN(const void* const block, state_->layout_address(launch.layout));
    arguments.at(launch.layout_argument) = Argument::of(block);
  }
  std::vector<const void*> addresses;
  addresses.reserve(arguments.size());
  for (const Argument& argument : arguments) addresses.push_back(argument.data());

  LaunchConfig config;
  config.grid = launch.grid;
  config.block = launch.block;
  config.shared_bytes = launch.shared_bytes;
  config.stream = state_->stream;
  return function.launch_raw(config, addresses.data(), addresses.size());
}

}  // namespace kiln::ops
