// A machine with GPUs that are not there: what fake_cuda and fake_hip are two faces of.
//
// Owns the behaviour behind both vendors' calls: devices, memory, modules, streams, events, and the
// faults that a test asks for. "Device" memory is host memory, and the few kernels that tests
// launch run at once, on the calling thread, or with the graph that their stream is captured into.
// Every handle is checked, so that a use after its end, or with the wrong device current, is an error
// as it would be on a real machine.
//
// Images are texts, NUL-terminated: "FAKE <arch>" or PTX on the first lines, then ".entry <name>"
// for each kernel and ".global <name> <bytes>" for each variable (in PTX: as PTX spells a 4-byte
// one). Known kernels: kKernels in the .cpp. Thread-safety: everything but reset() and script().
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
#include <utility>
#include <vector>

#include "tests/fake_drivers/fake_machine.hpp"

namespace kiln::fake {

const char* status_name(int status, std::string_view prefix, bool camel_case);
const char* status_text(int status);

// What a machine is before its first reset: one device. Each vendor's face defines it.
Script default_script();

struct Kernel;
int max_threads(const Kernel& kernel);  // of a block
inline constexpr int kStaticShared = 1024;  // bytes, of every kernel
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

  // --- the verbs behind the vendors' calls -----------------------------------------------
  // Counts the call; a status other than kSuccess is what it has to return.
  int enter(const char* call);

  // Grows with each reset, so that what a thread chose before does not count after.
  unsigned generation() const { return generation_; }
  int device_count() const { return static_cast<int>(script_.devices.size()); }
  bool valid_device(int device) const { return device >= 0 && device < device_count(); }
  void retain(int device);
  int release(int device);

  int load(int device, const char* image, Module** module, std::string* log);
  int unload(Module* module);
  int find_function(Module* module, const char* name, Kernel** kernel);
  int find_symbol(Module* module, const char* name, void** address, std::size_t* bytes);
  // Of the parameter of that index; kInvalidValue past the last.
  int parameter(Kernel* kernel, std::size_t index, std::size_t* offset, std::size_t* size);
  // Of a block; 48 KiB less the static shared memory until it is set.
  int dynamic_shared_limit(const Kernel& kernel) const;
  void set_dynamic_shared_limit(Kernel& kernel, int bytes);
  int launch(int device, void* stream, Kernel* kernel, unsigned long long blocks,
             unsigned long long threads_a_block, void** arguments);
  int allocate(int device, std::size_t bytes, void** memory);
  int release_memory(void* memory);
  // The same in the order of a stream, which must not be captured: as a graph's own memory it would go back
  // in another way.
  int allocate_in_order(int device, std::size_t bytes, void* stream, void** memory);
  int release_in_order(void* memory, void* stream);
  // Of the default stream kCaptureImplicit while another is captured.
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
  int check_event(void* event) const;
  int record_event(void* event);
  int check_recorded(void* event) const;

  // A graph is what was submitted to its stream, in order. One that can be launched is a copy.
  int begin_capture(void* stream);
  int end_capture(void* stream, void** graph);
  int instantiate(void* graph, void** executable);
  int launch_graph(void* executable);
  int destroy_graph(void* graph);

 private:
  using Graph = std::vector<std::function<int()>>;
  struct Capture {
    Graph graph;
    bool is_valid = true;
  };

  void drop_handles();  // what a failed release, or the driver's end, left
  bool inside(int device, const void* memory, std::size_t bytes) const;
  int allocate_locked(int device, std::size_t bytes, void** memory);
  int enter_order(void* stream);  // what memory in a stream's order is refused for
  bool ends_a_capture();   // invalidates what is captured; false: nothing is
  void* keep(Graph graph);   // its handle

  mutable std::mutex mutex_;
  std::atomic<unsigned> generation_{0};
  Script script_;
  std::map<std::string, int> calls_;
  std::string fail_call_, failed_call_;
  int fail_nth_ = 0, fail_status_ = 0;
  int any_nth_ = 0, any_status_ = 0, all_calls_ = 0;
  bool any_stays_ = false;  // every call from then on
  bool ended_ = false;
  std::vector<std::string> loads_;
  std::map<const void*, std::pair<int, std::size_t>> allocations_;  // address: device, bytes
  std::map<const void*, std::pair<int, std::size_t>> symbols_;      // the same, of modules
  std::set<Module*> modules_;
  std::map<const void*, int> streams_, events_, pools_;  // handle: device
  std::set<const void*> recorded_;                       // events
  std::map<const void*, unsigned> stream_flags_;
  std::map<const void*, Capture> captures_;               // by stream
  std::map<const void*, std::unique_ptr<Graph>> graphs_;  // by handle, captured or executable
  std::map<int, int> contexts_;                  // device: times retained
};

// The machine of the library that this is part of.
MachineState& machine();

}  // namespace kiln::fake
