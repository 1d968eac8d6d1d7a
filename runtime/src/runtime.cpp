// Runtime: opens a backend when one of its devices is first asked for, and lists devices.
#include "kiln/runtime.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/cache_folder.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "runtime/src/device_state.hpp"
#include "runtime/src/library.hpp"
#include "runtime/src/open_backend.hpp"

namespace kiln {
namespace runtime {
namespace {

constexpr std::array kBackends = {Backend::kCuda, Backend::kHip, Backend::kHost,
                                  Backend::kEmulator};

Error unavailable(std::string message) {
  return Error{ErrorCode::kUnavailable, std::move(message), {}, {}};
}

}  // namespace

class RuntimeState {
 public:
  explicit RuntimeState(OpenOptions options)
      : options_(std::move(options)),
        compiler_(std::make_shared<SourceCompiler>(
            CompilerOptions{options_.nvrtc_library, options_.hiprtc_library, options_.host_compiler,
                            options_.compile_cache == "off" ? "" : options_.compile_cache})) {}

  struct OpenBackend {
    BackendStatus status;
    std::vector<std::shared_ptr<DeviceState>> devices;
  };

  // Opens the backend on the first call. Later calls take no lock.
  const OpenBackend& backend(Backend which) {
    Slot& slot = slots_[static_cast<std::size_t>(which)];
    std::call_once(slot.once, [&] { slot.backend = open(which); });
    return slot.backend;
  }

  struct AllBackends {
    std::vector<BackendStatus> backends;
    std::vector<DeviceInfo> devices;
    std::vector<std::shared_ptr<DeviceState>> states;
  };
  const AllBackends& all_backends() {
    std::call_once(all_once_, [&] {
      AllBackends all;
      for (const Backend which : options_.backends) {
        const OpenBackend& opened = backend(which);
        all.backends.push_back(opened.status);
        for (const auto& device : opened.devices) {
          all.devices.push_back(device->info());
          all.states.push_back(device);
        }
      }
      all_ = std::move(all);
    });
    return all_;
  }

  Result<std::shared_ptr<DeviceState>> find(std::string_view id) {
    const std::optional<Backend> which = backend_of(id);
    if (!which) return unknown_device(id, options_.emulator_library);
    const OpenBackend& opened = backend(*which);
    for (const auto& device : opened.devices) {
      if (device->info().id == id) return device;
    }
    if (id == to_string(*which) && !opened.devices.empty()) return opened.devices.front();
    if (has_unusable_library(opened.status)) return unavailable(opened.status.reasons.front());
    Error error = unavailable("no device '" + std::string(id) + "' on this machine");
    for (const auto& device : opened.devices) error.note("there is " + device->identity());
    add_reasons(error, opened.status);
    if (opened.devices.empty()) hint_at_library(error, opened.status);
    return error;
  }

  Result<std::shared_ptr<DeviceState>> find_default() {
    if (!options_.default_device.empty()) return find(options_.default_device);
    for (const Backend which : options_.backends) {
      const OpenBackend& opened = backend(which);
      if (opened.devices.empty()) continue;
      if (which == Backend::kHost) opened.devices.front()->mark_as_fallback();
      return opened.devices.front();
    }
    Error error = unavailable("no device on this machine that kiln can run kernels on");
    for (const Backend which : options_.backends) add_reasons(error, backend(which).status);
    hint_at_others(error);
    return error;
  }

  static bool is_of_kiln(const BackendStatus& status) {
    return status.backend == Backend::kHost || status.backend == Backend::kEmulator;
  }

  // True if a library of kiln's was found but offers no device; its reasons then say why.
  static bool has_unusable_library(const BackendStatus& status) {
    return is_of_kiln(status) && !status.library.empty() && !status.available;
  }

  // Adds a hint on where to put the library. kiln's own libraries are searched beside the program.
  static void hint_at_library(Error& error, const BackendStatus& status) {
    if (status.available || !is_of_kiln(status)) return hint_at_others(error);
    for (const std::string& reason : status.reasons) {
      if (reason.find(kNeeds) == std::string::npos) continue;
      error.hint("install what it needs, or name its folder in LD_LIBRARY_PATH");
      return;
    }
    const bool is_host = status.backend == Backend::kHost;
    error.hint(std::string("put ") + (is_host ? "libkiln_host.so" : "libkiln_emulator.so") +
               " beside the program, or say where it is: " +
               (is_host ? "KILN_HOST_LIBRARY" : "KILN_EMULATOR_LIBRARY"));
  }

  static void hint_at_others(Error& error) {
    error.hint("without a GPU: 'emulated:gfx1100' interprets the images of gfx1100 (so do gfx1030 and gfx90a theirs), 'host' runs "
        "those of host");
  }

  static Error unknown_device(std::string_view id, const std::string& emulator_library) {
    Error error{ErrorCode::kInvalidInput, "'" + std::string(id) + "' names no device", {}, {}};
    std::vector<std::string> names = {"cuda", "cuda:1", "hip:0", "host", "host:wave64"};
    for (EmulatedDevice& device : emulated_devices(emulator_library)) {
      names.push_back(std::move(device.id));
    }
    std::string lower(id);  // all names are in lower case
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string near = nearest(lower, names);
    for (const std::string& name : names) {
      const std::size_t colon = name.find(':');
      if (colon != std::string::npos && lower == std::string_view(name).substr(colon + 1)) near = name;
    }
    if (!near.empty()) error.hint("did you mean '" + near + "'?");
    return error.hint("a device is named by its backend, and a number where there are several: '" +
                      join(names, "', '") + "'");
  }

 private:
  struct Slot {
    std::once_flag once;
    OpenBackend backend;
  };

  OpenBackend open(Backend which) {
    OpenedBackend opened = open_backend(which, library_of(which));
    OpenBackend result;
    result.status = std::move(opened.status);
    const std::string name(to_string(which));
    if (opened.driver != nullptr) list_devices(opened.driver, which, result);
    result.status.device_count = result.devices.size();
    if (options_.trace) {
      if (result.status.available) {
        options_.trace(name + ": opened " + result.status.library + ", " + result.status.version +
                       ", devices: " + std::to_string(result.devices.size()));
      }
      for (const std::string& reason : result.status.reasons) options_.trace(name + ": " + reason);
    }
    return result;
  }

  // Lists the devices. A device that cannot be identified, or that belongs to another backend, is left out, and
  // the reason is recorded.
  void list_devices(const std::shared_ptr<Driver>& driver, Backend which, OpenBackend& result) {
    const Result<int> count = driver->count_devices();
    if (!count) {
      result.status.reasons.push_back(count.error().message);
      return;
    }
    for (int ordinal = 0; ordinal < *count; ++ordinal) {
      Result<DeviceTraits> traits = driver->identify(ordinal);
      if (!traits) {
        result.status.reasons.push_back("device " + std::to_string(ordinal) + ": " +
                                        traits.error().message);
        continue;
      }
      if (backend_of(traits->id) != which) {
        result.status.reasons.push_back(result.status.library + " is the library of '" + traits->id + "'");
        continue;
      }
      result.devices.push_back(std::make_shared<DeviceState>(driver, which, ordinal,
                                                             std::move(*traits), load_options()));
    }
  }

  LoadOptions load_options() const {
    LoadOptions load;
    load.trace = options_.trace;
    load.compiler = compiler_;
    load.emulator_library = options_.emulator_library;
    load.uses_pools = options_.memory_pool != "off";
    for (const std::string_view folder : split(options_.image_path, ':')) {
      if (!folder.empty()) load.image_folders.emplace_back(folder);
    }
    return load;
  }

  const std::string& library_of(Backend which) const {
    switch (which) {
      case Backend::kCuda: return options_.cuda_library;
      case Backend::kHip: return options_.hip_library;
      case Backend::kHost: return options_.host_library;
      case Backend::kEmulator: break;
    }
    return options_.emulator_library;
  }

  static void add_reasons(Error& error, const BackendStatus& status) {
    const std::string name(to_string(status.backend));
    for (const std::string& reason : status.reasons) error.note(name + ": " + reason);
    if (status.available && status.device_count == 0 && status.reasons.empty()) {
      error.note(name + ": " + status.version + " lists no device");
    }
  }

  const OpenOptions options_;
  const std::shared_ptr<SourceCompiler> compiler_;
  std::array<Slot, kBackends.size()> slots_;
  std::once_flag all_once_;
  AllBackends all_;
};

}  // namespace runtime

using runtime::RuntimeState;

namespace {

// Returns a folder beside the cache of `kiln build`, or "off" if the cache is off or there is no
// place for it.
std::string compile_cache_of_environment() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (variable("KILN_CACHE") == "off") return "off";
  const std::filesystem::path folder = default_cache_folder(variable);
  return folder.empty() ? "off" : (folder / "compiled").string();
}

// Checks that a setting is empty or one of two words.
Result<void> check_word(const char* name, std::string_view value, std::string_view first,
                        std::string_view second) {
  if (value.empty() || value == first || value == second) return {};
  return Error{ErrorCode::kInvalidInput, std::string(name) + " is " + quote(value) + ", not " +
                                             quote(first) + " or " + quote(second)};
}
Result<void> check_variable(const char* variable, std::string_view first, std::string_view second) {
  const char* const given = std::getenv(variable);
  return check_word(variable, given != nullptr ? given : "", first, second);
}

// Reads options from the environment that the program has not set.
void read_environment(OpenOptions& options) {
  const auto take = [](std::string& option, const char* variable) {
    const char* value = std::getenv(variable);
    if (option.empty() && value != nullptr) option = value;
  };
  take(options.cuda_library, "KILN_CUDA_LIBRARY");
  take(options.hip_library, "KILN_HIP_LIBRARY");
  take(options.host_library, "KILN_HOST_LIBRARY");
  take(options.emulator_library, "KILN_EMULATOR_LIBRARY");
  take(options.default_device, "KILN_DEVICE");
  take(options.image_path, "KILN_IMAGE_PATH");
  take(options.memory_pool, "KILN_MEMORY_POOL");
  take(options.nvrtc_library, "KILN_NVRTC_LIBRARY");
  take(options.hiprtc_library, "KILN_HIPRTC_LIBRARY");
  take(options.host_compiler, "KILN_CXX");
  if (options.compile_cache.empty()) options.compile_cache = compile_cache_of_environment();
  const char* trace = std::getenv("KILN_TRACE");
  if (!options.trace && trace != nullptr && std::string_view(trace) == "1") {
    options.trace = [](std::string_view line) {
      std::fprintf(stderr, "kiln: trace: %.*s\n", static_cast<int>(line.size()), line.data());
    };
  }
}

// Refuses a number that a cast made a Backend.
Result<void> check_backends(const std::vector<Backend>& backends) {
  for (const Backend backend : backends) {
    if (std::ranges::count(runtime::kBackends, backend) != 0) continue;
    std::string message = "OpenOptions::backends has " +
                          std::to_string(static_cast<unsigned>(backend)) + ", which is no backend:";
    for (const Backend known : runtime::kBackends) {
      message += (known == runtime::kBackends.front() ? " " : ", ") +
                 std::to_string(static_cast<unsigned>(known)) + " is " +
                 std::string(to_string(known));
    }
    return Error{ErrorCode::kInvalidInput, std::move(message), {}, {}};
  }
  return {};
}

}  // namespace

Result<Runtime> Runtime::open(OpenOptions options) {
  const bool is_of_environment = options.default_device.empty();
  KILN_TRY(check_backends(options.backends));
  KILN_TRY(check_variable("KILN_TRACE", "1", "0"));
  KILN_TRY(check_variable("KILN_MEMORY_POOL", "off", "on"));
  KILN_TRY(check_word("OpenOptions::memory_pool", options.memory_pool, "off", "on"));
  read_environment(options);
  if (!options.default_device.empty()) {
    const std::optional<Backend> named = runtime::backend_of(options.default_device);
    if (!named) {
      Error error = RuntimeState::unknown_device(options.default_device, options.emulator_library);
      if (is_of_environment) error.message += " (KILN_DEVICE)";
      return error;
    }
    auto& listed = options.backends;
    if (std::find(listed.begin(), listed.end(), *named) == listed.end()) listed.push_back(*named);
  }
  return Runtime(std::make_shared<RuntimeState>(std::move(options)));
}

Runtime::Runtime(std::shared_ptr<RuntimeState> state) : state_(std::move(state)) {}
Runtime::Runtime(const Runtime&) noexcept = default;
Runtime& Runtime::operator=(const Runtime&) noexcept = default;
Runtime::~Runtime() = default;

const std::vector<DeviceInfo>& Runtime::devices() const { return state_->all_backends().devices; }
const std::vector<BackendStatus>& Runtime::backends() const {
  return state_->all_backends().backends;
}

Result<Device> Runtime::device(std::size_t index) const {
  const auto& states = state_->all_backends().states;
  if (index >= states.size()) {
    return runtime::unavailable("no device " + std::to_string(index) + ": this machine has " +
                                std::to_string(states.size()));
  }
  states[index]->mark_as_named();
  return Device(states[index]);
}

Result<Device> Runtime::device(std::string_view id) const {
  KILN_TRY_ASSIGN(std::shared_ptr<runtime::DeviceState> state, state_->find(id));
  state->mark_as_named();
  return Device(std::move(state));
}

Result<Device> Runtime::default_device() const {
  KILN_TRY_ASSIGN(std::shared_ptr<runtime::DeviceState> state, state_->find_default());
  return Device(std::move(state));
}

}  // namespace kiln
