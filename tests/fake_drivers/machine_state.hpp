// A machine with simulated GPUs, which fake_cuda and fake_hip share.
//
// Implements the behaviour behind the calls of both vendors: devices, memory, modules, streams,
// events, and the faults that a test requests. "Device" memory is host memory. The few kernels of
// the tests run immediately on the calling thread, or with the graph that their stream is captured
// into. Every handle is checked, so that use after destruction, or with the wrong device current,
// is an error as on a real machine.
//
// Images are NUL-terminated text: "FAKE <arch>" or PTX on the first lines, then ".entry <name>" for
// each kernel and ".global <name> <bytes>" for each variable (in PTX, a 4-byte variable in PTX
// syntax). The known kernels are kKernels in the .cpp file. Thread-safe, except for reset() and
// script().
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fake_drivers/fake_machine.hpp"

namespace kiln::fake {

const char* status_name(int status, std::string_view prefix, bool camel_case);
const char* status_text(int status);

// The initial state before the first reset: one device. Defined separately for each vendor.
Script default_script();

// The modes of a capture, and of a thread beside captures, as numbered by both vendors.
enum CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

struct Kernel;
int max_threads(const Kernel& kernel);  // in a block
inline constexpr int kStaticShared = 1024;  // bytes, the same for every kernel
struct Module;

class MachineState final : public Machine {
 public:
  explicit MachineState(Script script) : script_(std::move(script)) {}
  ~MachineState() override { drop_handles(); }

  void reset(Script script) override;
  Script& script() override { return script_; }
  void fail(std::string call, int nth, int status) override;
  void fail_any(int nth, int status) override;
  void fail_from(int nth, int status) override;
  void end_driver() override;
  int calls(const std::string& call) const override;
  int all_calls() const override;
  std::string failed_call() const override;
  std::vector<std::string> loads() const override;
  Live live() const override;
  int submit(void* stream, std::function<int()> work) override;

  // --- the operations behind the calls of the vendors -------------------------------------
  // Counts the call. A status other than kSuccess is what the call must return.
  int enter(const char* call);

  // Incremented by each reset, so that a choice that a thread made before does not count
  // afterwards.
  unsigned generation() const { return generation_; }
  int device_count() const { return static_cast<int>(script_.devices.size()); }
  bool valid_device(int device) const { return device >= 0 && device < device_count(); }
  void retain(int device);
  int release(int device);

  int load(int device, const char* image, Module** module, std::string* log);
  int unload(Module* module);
  int find_function(Module* module, const char* name, Kernel** kernel);
  int find_symbol(Module* module, const char* name, void** address, std::size_t* bytes);
  // Returns offset and size of the parameter with that index; kInvalidValue past the last one.
  int parameter(Kernel* kernel, std::size_t index, std::size_t* offset, std::size_t* size);
  // For a block; 48 KiB minus the static shared memory until it is set.
  int dynamic_shared_limit(const Kernel& kernel) const;
  void set_dynamic_shared_limit(Kernel& kernel, int bytes);
  int launch(int device, void* stream, Kernel* kernel, unsigned long long blocks,
             unsigned long long threads_a_block, void** arguments);
  int allocate(int device, std::size_t bytes, void** memory);
  int release_memory(void* memory);  // waits for the work of every stream
  int release_pinned(void* memory);
  // Stream-ordered versions. The stream must not be captured: memory of a graph would be released
  // in another way.
  int allocate_in_order(int device, std::size_t bytes, void* stream, void** memory);
  int release_in_order(void* memory, void* stream);
  // For the default stream, kCaptureImplicit while a stream that waits for it is captured.
  int is_capturing(void* stream, int* captured) const;
  int create_pool(int device, void** pool);
  int destroy_pool(void* pool);
  int check_pool(int device, void* pool) const;
  int allocate_pinned(std::size_t bytes, void** memory);
  int copy(int device, void* stream, void* target, bool target_on_device, const void* source,
           bool source_on_device, std::size_t bytes);
  int fill(int device, void* stream, void* target, int value, std::size_t bytes);
  int create_stream(int device, void** stream, unsigned flags = 0);
  int stream_flags(void* stream, unsigned* flags);  // ends a capture of the stream, as CUDA does
  int destroy_stream(void* stream);
  int create_event(int device, void** event);
  int destroy_event(void* event);
  int check_stream(int device, void* stream) const;
  // Wait for the work of a stream, or of all streams.
  int synchronize_stream(void* stream);
  int synchronize();
  int check_event(void* event) const;
  int record_event(void* event);
  int check_recorded(void* event) const;

  // A graph is the work that was submitted to its stream, in order. Launching needs an executable
  // copy.
  int begin_capture(void* stream, int mode);
  int exchange_capture_mode(int* mode);  // of this thread
  int end_capture(void* stream, void** graph);
  int instantiate(void* graph, void** executable);
  int launch_graph(void* executable);
  int destroy_graph(void* graph);

 private:
  using Graph = std::vector<std::function<int()>>;
  struct Capture {
    int mode = kGlobal;
    std::thread::id thread = std::this_thread::get_id();
    Graph graph;
    bool is_valid = true;
  };

  void drop_handles();  // drops handles that a failed release or the end of the driver left
  bool inside(int device, const void* memory, std::size_t bytes) const;
  int allocate_locked(int device, std::size_t bytes, void** memory);
  int enter_order(void* stream);  // the status if stream-ordered memory is refused
  bool is_non_blocking(const void* stream) const;
  // Return the status of a call that a capture forbids, and invalidate that capture. For a call
  // that may be unsafe during a capture: allocating, freeing, waiting, loading.
  int check_unsafe();
  // For a use of the default stream, which a captured stream waits for.
  int check_default_stream();
  // Invalidates the captures that `ends` selects. False if there is none.
  bool end_captures(const std::function<bool(const void* stream, const Capture&)>& ends);
  void run_pending(const void* stream);
  void run_all_pending();
  void* keep(Graph graph);   // its handle

  mutable std::mutex mutex_;
  std::atomic<unsigned> generation_{0};
  Script script_;
  std::map<std::string, int, std::less<>> calls_;
  std::string fail_call_, failed_call_;
  int fail_nth_ = 0, fail_status_ = 0;
  int any_nth_ = 0, any_status_ = 0, all_calls_ = 0;
  bool any_stays_ = false;  // every later call fails
  bool ended_ = false;
  std::vector<std::string> loads_;
  std::map<const void*, std::pair<int, std::size_t>> allocations_;  // address: device, bytes
  std::map<const void*, std::pair<int, std::size_t>> symbols_;      // the same, for modules
  std::set<Module*> modules_;
  std::map<const void*, int> streams_, events_, pools_;  // handle: device
  std::set<const void*> recorded_;                       // events
  std::map<const void*, unsigned> stream_flags_;
  std::map<const void*, Capture> captures_;               // by stream
  std::map<const void*, Graph> pending_;  // the work of streams that do not wait for the default
  std::map<const void*, std::unique_ptr<Graph>> graphs_;  // by handle, captured or executable
  std::map<int, int> contexts_;                  // device: times retained
};

// The machine of this library.
MachineState& machine();

}  // namespace kiln::fake
