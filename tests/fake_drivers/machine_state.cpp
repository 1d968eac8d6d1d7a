#include "tests/fake_drivers/machine_state.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

namespace kiln::fake {
namespace {

constexpr int kOfTheProgram = -1;  // the device of page-locked memory

// The work of a kernel launch, with copies of its arguments.
using Work = std::function<void()>;

// float32: out[i] = in[i] * scale + shift for i < n
Work scale_add(unsigned long long threads, void** arguments) {
  const auto n = *static_cast<std::uint64_t*>(arguments[0]);
  const auto* in = *static_cast<const float**>(arguments[1]);
  auto* out = *static_cast<float**>(arguments[2]);
  const float scale = *static_cast<float*>(arguments[3]);
  const float shift = *static_cast<float*>(arguments[4]);
  return [=] {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(n, threads); ++i)
      out[i] = in[i] * scale + shift;
  };
}

Work nothing(unsigned long long, void**) {
  return [] {};
}

// How the vendor treats this thread's calls beside captures.
int& thread_mode() {
  thread_local int mode = kGlobal;
  return mode;
}

using Body = Work (*)(unsigned long long threads, void** arguments);

struct KnownKernel {
  const char* name;
  Body body;
};
constexpr KnownKernel kKernels[] = {{"scale_add", scale_add}, {"nothing", nothing}};

}  // namespace

struct Kernel {
  Module* module = nullptr;
  Body body = nothing;
  int dynamic_shared_limit = 48 * 1024 - kStaticShared;
};

struct Module {
  int device = 0;
  const char* image = nullptr;  // the caller's copy
  std::string copy;             // its bytes at the time of loading
  std::map<std::string, Kernel> kernels;
  std::map<std::string, std::vector<std::byte>> symbols;
};

const char* status_name(int status, std::string_view prefix, bool camel_case) {
  struct Name {
    int status;
    const char* upper;
    const char* camel;
  };
  static constexpr Name kNames[] = {
      {kInvalidValue, "INVALID_VALUE", "InvalidValue"},
      {kOutOfMemory, "OUT_OF_MEMORY", "OutOfMemory"},
      {kDeinitialized, "DEINITIALIZED", "Deinitialized"},
      {kNoDevice, "NO_DEVICE", "NoDevice"},
      {kInvalidImage, "INVALID_IMAGE", "InvalidImage"},
      {kInvalidContext, "INVALID_CONTEXT", "InvalidContext"},
      {kInvalidPtx, "INVALID_PTX", "InvalidPtx"},
      {kInvalidHandle, "INVALID_HANDLE", "InvalidHandle"},
      {kNotFound, "NOT_FOUND", "NotFound"},
      {kLaunchFailed, "LAUNCH_FAILED", "LaunchFailure"},
      {kCaptureUnsupported, "STREAM_CAPTURE_UNSUPPORTED", "StreamCaptureUnsupported"},
      {kCaptureInvalidated, "STREAM_CAPTURE_INVALIDATED", "StreamCaptureInvalidated"},
      {kCaptureImplicit, "STREAM_CAPTURE_IMPLICIT", "StreamCaptureImplicit"},
  };
  static std::mutex mutex;
  static std::map<int, std::string> spelt;
  for (const Name& name : kNames) {
    if (name.status != status) continue;
    const std::lock_guard lock(mutex);
    std::string& text = spelt[status];
    text = std::string(prefix) + (camel_case ? name.camel : name.upper);
    return text.c_str();
  }
  return nullptr;
}

const char* status_text(int status) {
  switch (status) {
    case kInvalidValue: return "invalid argument";
    case kOutOfMemory: return "out of memory";
    case kDeinitialized: return "driver shutting down";
    case kNoDevice: return "no GPU is detected";
    case kInvalidImage: return "device kernel image is invalid";
    case kInvalidContext: return "invalid device context";
    case kInvalidPtx: return "a PTX JIT compilation failed";
    case kInvalidHandle: return "invalid resource handle";
    case kNotFound: return "named symbol not found";
    case kLaunchFailed: return "unspecified launch failure";
    case kCaptureUnsupported: return "operation not permitted when stream is capturing";
    case kCaptureInvalidated: return "operation failed due to a previous error during capture";
    case kCaptureImplicit:
      return "operation would make the legacy stream depend on a capturing one";
    default: return nullptr;
  }
}

void MachineState::reset(Script script) {
  thread_mode() = kGlobal;
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
  ++generation_;
  calls_.clear();
  fail_call_.clear();
  failed_call_.clear();
  fail_nth_ = any_nth_ = all_calls_ = 0;
  ended_ = false;
  loads_.clear();
  drop_handles();
}

void MachineState::drop_handles() {
  for (const auto& [memory, where] : allocations_) std::free(const_cast<void*>(memory));
  allocations_.clear();
  symbols_.clear();
  for (Module* module : modules_) delete module;
  modules_.clear();
  for (auto* handles : {&streams_, &events_, &pools_}) {
    for (const auto& [handle, device] : *handles) std::free(const_cast<void*>(handle));
  }
  streams_.clear();
  events_.clear();
  recorded_.clear();
  pools_.clear();
  captures_.clear();
  pending_.clear();
  graphs_.clear();
  contexts_.clear();
}

void MachineState::fail(std::string call, int nth, int status) {
  const std::lock_guard lock(mutex_);
  fail_call_ = std::move(call);
  fail_nth_ = nth;
  fail_status_ = status;
}
void MachineState::fail_any(int nth, int status) {
  const std::lock_guard lock(mutex_);
  any_nth_ = nth;
  any_status_ = status;
  any_stays_ = false;
}
void MachineState::fail_from(int nth, int status) {
  fail_any(nth, status);
  const std::lock_guard lock(mutex_);
  any_stays_ = true;
}
void MachineState::end_driver() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

int MachineState::calls(const std::string& call) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  return found == calls_.end() ? 0 : found->second;
}
int MachineState::all_calls() const {
  const std::lock_guard lock(mutex_);
  return all_calls_;
}
std::string MachineState::failed_call() const {
  const std::lock_guard lock(mutex_);
  return failed_call_;
}
std::vector<std::string> MachineState::loads() const {
  const std::lock_guard lock(mutex_);
  return loads_;
}
Machine::Live MachineState::live() const {
  const std::lock_guard lock(mutex_);
  return {allocations_.size(), modules_.size(),  streams_.size(),
          events_.size(),      contexts_.size(), pools_.size()};
}

int MachineState::enter(const char* call) {
  const std::lock_guard lock(mutex_);
  // A call that was made before takes no memory, as tests of its end need it.
  const auto counted = calls_.find(std::string_view(call));
  ++(counted != calls_.end() ? counted->second : calls_[call]);
  ++all_calls_;
  if (ended_) return kDeinitialized;
  if (any_nth_ > 0 && --any_nth_ == 0) {
    if (failed_call_.empty()) failed_call_ = call;
    if (any_stays_) any_nth_ = 1;
    return any_status_;
  }
  if (fail_nth_ > 0 && fail_call_ == call && --fail_nth_ == 0) return fail_status_;
  return kSuccess;
}

void MachineState::retain(int device) {
  const std::lock_guard lock(mutex_);
  ++contexts_[device];
}
int MachineState::release(int device) {
  const std::lock_guard lock(mutex_);
  const auto found = contexts_.find(device);
  if (found == contexts_.end()) return kInvalidContext;
  if (--found->second == 0) contexts_.erase(found);
  return kSuccess;
}

int MachineState::load(int device, const char* image, Module** module, std::string* log) {
  auto loaded = std::make_unique<Module>();
  loaded->device = device;
  loaded->image = image;
  loaded->copy = image;
  const bool is_ptx = loaded->copy.find(".version") != std::string::npos;
  if (!is_ptx && loaded->copy.rfind("FAKE ", 0) != 0) return kInvalidImage;

  std::istringstream words(loaded->copy);
  for (std::string word; words >> word;) {
    if (word == ".entry") {
      words >> word;
      word = word.substr(0, word.find('('));
      Kernel& kernel = loaded->kernels[word];
      kernel.module = loaded.get();
      for (const KnownKernel& known : kKernels) {
        if (word == known.name) kernel.body = known.body;
      }
    } else if (word == ".global" && is_ptx) {  // .global .align 4 .f32 name = value;
      words >> word >> word >> word >> word;
      loaded->symbols[word].resize(4);
    } else if (word == ".global") {
      std::string bytes;
      words >> word >> bytes;
      loaded->symbols[word].resize(std::stoul(bytes));
    }
  }
  if (script_.load_time.count() > 0) std::this_thread::sleep_for(script_.load_time);

  const std::lock_guard lock(mutex_);
  if (const int status = check_unsafe(); status != kSuccess) return status;
  if (is_ptx && script_.jit_fails) {
    if (log != nullptr) *log = script_.jit_log;
    return kInvalidPtx;
  }
  loads_.push_back(std::to_string(device) + " " + loaded->copy.substr(0, loaded->copy.find('\n')));
  *module = loaded.release();
  modules_.insert(*module);
  return kSuccess;
}

int MachineState::unload(Module* module) {
  const std::lock_guard lock(mutex_);
  if (modules_.erase(module) == 0) return kInvalidHandle;
  for (const auto& [name, bytes] : module->symbols) symbols_.erase(bytes.data());
  delete module;
  return kSuccess;
}

int MachineState::find_function(Module* module, const char* name, Kernel** kernel) {
  const std::lock_guard lock(mutex_);
  if (modules_.count(module) == 0) return kInvalidHandle;
  const auto found = module->kernels.find(name);
  if (found == module->kernels.end()) return kNotFound;
  *kernel = &found->second;
  return kSuccess;
}

int MachineState::find_symbol(Module* module, const char* name, void** address,
                              std::size_t* bytes) {
  const std::lock_guard lock(mutex_);
  if (modules_.count(module) == 0) return kInvalidHandle;
  const auto found = module->symbols.find(name);
  if (found == module->symbols.end()) return kNotFound;
  *address = found->second.data();
  *bytes = found->second.size();
  symbols_[*address] = {module->device, *bytes};
  return kSuccess;
}

int MachineState::parameter(Kernel* kernel, std::size_t index, std::size_t* offset,
                            std::size_t* size) {
  constexpr std::size_t kOffsets[] = {0, 8, 16, 24, 28, 32};  // of scale_add
  if (kernel->body != scale_add || index + 1 >= std::size(kOffsets)) return kInvalidValue;
  *offset = kOffsets[index];
  *size = kOffsets[index + 1] - kOffsets[index];
  return kSuccess;
}

int max_threads(const Kernel& kernel) { return kernel.body == nothing ? 256 : 1024; }

int MachineState::dynamic_shared_limit(const Kernel& kernel) const {
  const std::lock_guard lock(mutex_);
  return kernel.dynamic_shared_limit;
}
void MachineState::set_dynamic_shared_limit(Kernel& kernel, int bytes) {
  const std::lock_guard lock(mutex_);
  kernel.dynamic_shared_limit = bytes;
}

int MachineState::launch(int device, void* stream, Kernel* kernel, unsigned long long blocks,
                         unsigned long long threads_a_block, void** arguments) {
  std::unique_lock lock(mutex_);
  const bool known = std::any_of(modules_.begin(), modules_.end(), [&](Module* module) {
    return std::any_of(module->kernels.begin(), module->kernels.end(),
                       [&](auto& entry) { return &entry.second == kernel; });
  });
  if (!known || kernel->module->device != device) return kInvalidHandle;
  const Module& module = *kernel->module;
  if (script_.uses_image_in_place && module.copy != module.image) return kLaunchFailed;
  if (threads_a_block > static_cast<unsigned>(max_threads(*kernel))) return kInvalidValue;
  Work work = kernel->body(blocks * threads_a_block, arguments);
  lock.unlock();
  return submit(stream, [this, work = std::move(work)] {
    const std::lock_guard running(mutex_);
    work();
    return static_cast<int>(kSuccess);
  });
}

int MachineState::allocate(int device, std::size_t bytes, void** memory) {
  const std::lock_guard lock(mutex_);
  if (const int status = check_unsafe(); status != kSuccess) return status;
  return allocate_locked(device, bytes, memory);
}

int MachineState::allocate_locked(int device, std::size_t bytes, void** memory) {
  std::size_t used = bytes;
  for (const auto& [address, where] : allocations_) {
    if (where.first == device) used += where.second;
  }
  if (bytes > script_.devices[static_cast<std::size_t>(device)].memory_bytes ||
      used > script_.devices[static_cast<std::size_t>(device)].memory_bytes) {
    return kOutOfMemory;
  }
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  allocations_[*memory] = {device, bytes};
  return kSuccess;
}

int MachineState::release_memory(void* memory) {
  {
    const std::lock_guard lock(mutex_);
    if (const int status = check_unsafe(); status != kSuccess) return status;
  }
  run_all_pending();
  return release_pinned(memory);
}

int MachineState::release_pinned(void* memory) {
  const std::lock_guard lock(mutex_);
  if (const int status = check_unsafe(); status != kSuccess) return status;
  if (allocations_.erase(memory) == 0) return kInvalidValue;
  std::free(memory);
  return kSuccess;
}

int MachineState::allocate_in_order(int device, std::size_t bytes, void* stream, void** memory) {
  if (const int status = enter_order(stream); status != kSuccess) return status;
  const std::lock_guard lock(mutex_);
  return allocate_locked(device, bytes, memory);
}

int MachineState::release_in_order(void* memory, void* stream) {
  if (const int status = enter_order(stream); status != kSuccess) return status;
  return release_pinned(memory);
}

int MachineState::enter_order(void* stream) {
  const std::lock_guard lock(mutex_);
  if (stream == nullptr) {
    if (const int status = check_default_stream(); status != kSuccess) return status;
  }
  if (end_captures([&](const void* captured, const Capture&) { return captured == stream; })) {
    return kCaptureUnsupported;
  }
  return check_unsafe();
}

int MachineState::is_capturing(void* stream, int* captured) const {
  const std::lock_guard lock(mutex_);
  *captured = 0;
  if (stream == nullptr) {
    const bool is_free = std::all_of(captures_.begin(), captures_.end(), [&](const auto& entry) {
      return is_non_blocking(entry.first);
    });
    return is_free ? kSuccess : kCaptureImplicit;
  }
  if (streams_.count(stream) == 0) return kInvalidHandle;
  *captured = captures_.count(stream) != 0 ? 1 : 0;
  return kSuccess;
}

int MachineState::allocate_pinned(std::size_t bytes, void** memory) {
  const std::lock_guard lock(mutex_);
  if (const int status = check_unsafe(); status != kSuccess) return status;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  allocations_[*memory] = {kOfTheProgram, bytes};
  return kSuccess;
}

bool MachineState::inside(int device, const void* memory, std::size_t bytes) const {
  for (const auto* ranges : {&allocations_, &symbols_}) {
    auto after = ranges->upper_bound(memory);
    if (after == ranges->begin()) continue;
    --after;
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(memory) -
                                                 static_cast<const char*>(after->first));
    if (after->second.first == device && offset + bytes <= after->second.second) return true;
  }
  return false;
}

int MachineState::copy(int device, void* stream, void* target, bool target_on_device,
                       const void* source, bool source_on_device, std::size_t bytes) {
  return submit(stream, [=, this]() -> int {
    const std::lock_guard lock(mutex_);
    if (target_on_device && !inside(device, target, bytes)) return kInvalidValue;
    if (source_on_device && !inside(device, source, bytes)) return kInvalidValue;
    std::memmove(target, source, bytes);
    return kSuccess;
  });
}

int MachineState::fill(int device, void* stream, void* target, int value, std::size_t bytes) {
  return submit(stream, [=, this]() -> int {
    const std::lock_guard lock(mutex_);
    if (!inside(device, target, bytes)) return kInvalidValue;
    std::memset(target, value, bytes);
    return kSuccess;
  });
}

int MachineState::submit(void* stream, std::function<int()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto captured = captures_.find(stream); captured != captures_.end()) {
      captured->second.graph.push_back(std::move(work));
      return kSuccess;
    }
    if (stream == nullptr) {
      if (const int status = check_default_stream(); status != kSuccess) return status;
    }
    if (is_non_blocking(stream)) {
      pending_[stream].push_back(std::move(work));
      return kSuccess;
    }
  }
  return work();
}

bool MachineState::is_non_blocking(const void* stream) const {
  const auto flags = stream_flags_.find(stream);
  return flags != stream_flags_.end() && (flags->second & 1) != 0;
}

int MachineState::check_unsafe() {
  const int mode = thread_mode();
  const bool is_refused = end_captures([&](const void*, const Capture& capture) {
    if (mode == kRelaxed || capture.mode == kRelaxed) return false;
    const bool is_own = capture.thread == std::this_thread::get_id();
    return is_own || (mode == kGlobal && capture.mode == kGlobal);
  });
  return is_refused ? kCaptureUnsupported : kSuccess;
}

int MachineState::check_default_stream() {
  const bool is_refused =
      end_captures([&](const void* stream, const Capture&) { return !is_non_blocking(stream); });
  return is_refused ? kCaptureImplicit : kSuccess;
}

bool MachineState::end_captures(
    const std::function<bool(const void* stream, const Capture&)>& ends) {
  bool has_ended = false;
  for (auto& [stream, capture] : captures_) {
    if (!ends(stream, capture)) continue;
    capture.is_valid = false;
    has_ended = true;
  }
  return has_ended;
}

void MachineState::run_pending(const void* stream) {
  Graph work;
  {
    const std::lock_guard lock(mutex_);
    work = std::exchange(pending_[stream], {});
  }
  for (const auto& one : work) (void)one();
}

void MachineState::run_all_pending() {
  std::vector<const void*> streams;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [stream, work] : pending_) streams.push_back(stream);
  }
  for (const void* stream : streams) run_pending(stream);
}

int MachineState::synchronize_stream(void* stream) {
  {
    const std::lock_guard lock(mutex_);
    if (stream == nullptr) {
      if (const int status = check_default_stream(); status != kSuccess) return status;
    }
    if (const int status = check_unsafe(); status != kSuccess) return status;
  }
  run_pending(stream);
  return kSuccess;
}

int MachineState::synchronize() {
  {
    const std::lock_guard lock(mutex_);
    if (end_captures([](const void*, const Capture&) { return true; })) return kCaptureUnsupported;
  }
  run_all_pending();
  return kSuccess;
}

int MachineState::exchange_capture_mode(int* mode) {
  std::swap(thread_mode(), *mode);
  return kSuccess;
}

int MachineState::begin_capture(void* stream, int mode) {
  const std::lock_guard lock(mutex_);
  if (stream == nullptr) return kCaptureUnsupported;
  const auto [capture, is_new] = captures_.try_emplace(stream);
  if (!is_new) return kInvalidValue;
  capture->second.mode = mode;
  return kSuccess;
}

int MachineState::end_capture(void* stream, void** graph) {
  const std::lock_guard lock(mutex_);
  *graph = nullptr;
  auto captured = captures_.extract(stream);
  if (captured.empty()) return kInvalidValue;
  if (!captured.mapped().is_valid) return kCaptureInvalidated;
  *graph = keep(std::move(captured.mapped().graph));
  return kSuccess;
}

int MachineState::instantiate(void* graph, void** executable) {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return kInvalidValue;
  *executable = keep(*found->second);
  return kSuccess;
}

int MachineState::launch_graph(void* executable) {
  Graph work;
  {
    const std::lock_guard lock(mutex_);
    const auto found = graphs_.find(executable);
    if (found == graphs_.end()) return kInvalidValue;
    work = *found->second;
  }
  for (const auto& one : work) {
    if (const int status = one(); status != kSuccess) return status;
  }
  return kSuccess;
}

int MachineState::destroy_graph(void* graph) {
  const std::lock_guard lock(mutex_);
  return graphs_.erase(graph) != 0 ? kSuccess : kInvalidValue;
}

void* MachineState::keep(Graph graph) {
  auto kept = std::make_unique<Graph>(std::move(graph));
  void* const handle = kept.get();
  graphs_.emplace(handle, std::move(kept));
  return handle;
}

namespace {

int take_out(std::map<const void*, int>& handles, void* handle) {
  if (handles.erase(handle) == 0) return kInvalidHandle;
  std::free(handle);
  return kSuccess;
}

}  // namespace

int MachineState::create_stream(int device, void** stream, unsigned flags) {
  const std::lock_guard lock(mutex_);
  streams_[*stream = std::malloc(1)] = device;
  stream_flags_[*stream] = flags;
  return kSuccess;
}
int MachineState::stream_flags(void* stream, unsigned* flags) {
  const std::lock_guard lock(mutex_);
  if (end_captures([&](const void* captured, const Capture&) { return captured == stream; })) {
    return kCaptureUnsupported;
  }
  const auto found = stream_flags_.find(stream);
  if (found == stream_flags_.end()) return kInvalidHandle;
  *flags = found->second;
  return kSuccess;
}
int MachineState::destroy_stream(void* stream) {
  run_pending(stream);
  const std::lock_guard lock(mutex_);
  captures_.erase(stream);
  pending_.erase(stream);
  stream_flags_.erase(stream);
  return take_out(streams_, stream);
}
int MachineState::create_event(int device, void** event) {
  const std::lock_guard lock(mutex_);
  events_[*event = std::malloc(1)] = device;
  return kSuccess;
}
int MachineState::destroy_event(void* event) {
  const std::lock_guard lock(mutex_);
  recorded_.erase(event);
  return take_out(events_, event);
}
int MachineState::create_pool(int device, void** pool) {
  const std::lock_guard lock(mutex_);
  pools_[*pool = std::malloc(1)] = device;
  return kSuccess;
}
int MachineState::destroy_pool(void* pool) {
  const std::lock_guard lock(mutex_);
  return take_out(pools_, pool);
}
int MachineState::check_pool(int device, void* pool) const {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(pool);
  return found != pools_.end() && found->second == device ? kSuccess : kInvalidHandle;
}
int MachineState::check_stream(int device, void* stream) const {
  if (stream == nullptr) return kSuccess;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  return found != streams_.end() && found->second == device ? kSuccess : kInvalidHandle;
}
int MachineState::check_event(void* event) const {
  const std::lock_guard lock(mutex_);
  return events_.count(event) != 0 ? kSuccess : kInvalidHandle;
}
int MachineState::record_event(void* event) {
  const std::lock_guard lock(mutex_);
  if (events_.count(event) == 0) return kInvalidHandle;
  recorded_.insert(event);
  return kSuccess;
}
int MachineState::check_recorded(void* event) const {
  const std::lock_guard lock(mutex_);
  return recorded_.count(event) != 0 ? kSuccess : kInvalidHandle;
}

MachineState& machine() {
  static MachineState machine(default_script());
  return machine;
}

}  // namespace kiln::fake

extern "C" __attribute__((visibility("default"))) kiln::fake::Machine* kiln_fake_machine() {
  return &kiln::fake::machine();
}
