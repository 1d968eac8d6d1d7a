// A machine with GPUs that are not there: what fake_cuda and fake_hip are two faces of.
//
// Owns the behaviour behind both vendors' calls: devices, memory, modules, streams, events, and the
// faults that a test asks for. "Device" memory is host memory, and the few kernels that tests launch
// run at once, on the calling thread. Every handle is checked, so that a use after its end, or with
// the wrong device current, is an error as it would be on a real machine.
//
// A fake driver is a real shared object, opened by the runtime like the vendor's own. A test opens it
// too and gets the same machine from its exported kiln_fake_machine().
//
// Images are texts, NUL-terminated: "FAKE <arch>" or PTX on the first lines, then ".entry <name>" for
// each kernel and ".global <name> <bytes>" for each variable (in PTX: as PTX spells a 4-byte one). Known kernels: kernels() in the .cpp.
// Thread-safety: everything but reset().
#pragma once

#include <atomic>
#include <chrono>
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

namespace kiln::fake {

// Status numbers that CUDA and HIP share.
enum Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kInvalidPtx = 218,
  kInvalidHandle = 400,
  kNotFound = 500,
  kLaunchFailed = 719,
};
const char* status_name(int status, std::string_view prefix, bool camel_case);
const char* status_text(int status);

struct DeviceScript {
  std::string name;
  std::string arch;  // CUDA: "90"; HIP: "gfx90a:sramecc+:xnack-"
  int wave_width = 32;
  std::size_t memory_bytes = std::size_t{1} << 30;
};

// What a test sets before it opens the runtime, and may change while it is open.
struct Script {
  std::vector<DeviceScript> devices;
  int version = 0;           // as the vendor's own call reports it
  std::string jit_log;       // what the PTX compiler says when it fails
  bool jit_fails = false;
  std::chrono::microseconds load_time{0};
  bool uses_image_in_place = false;  // a launch fails when the image's bytes have changed
};

// What a machine is before its first reset: one device. Each vendor's face defines it.
Script default_script();

struct Kernel;
struct Module;

// What a test calls is virtual: the code is in the fake driver's library, which no test links.
class Machine {
 public:
  explicit Machine(Script script) : script_(std::move(script)) {}
  virtual ~Machine() = default;

  // Back to `script`, with nothing counted. No handle of before may live.
  virtual void reset(Script script);

  // --- faults -------------------------------------------------------------------------------------
  // The `nth` call of `call` from now on (1: the next) returns `status`, once.
  virtual void fail(std::string call, int nth, int status);
  // The `nth` call of any function returns `status`, once.
  virtual void fail_any(int nth, int status);
  // As after the driver's own end: each call returns kDeinitialized.
  virtual void end_driver();

  // --- what happened ------------------------------------------------------------------------------
  virtual int calls(const std::string& call) const;
  virtual int all_calls() const;
  virtual std::string failed_call() const;  // the one that fail_any() met
  virtual std::vector<std::string> loads() const;  // "<ordinal> <first line of the image>", in order
  struct Live {
    std::size_t allocations, modules, streams, events, contexts;
    bool operator==(const Live&) const = default;
  };
  virtual Live live() const;

  // --- the verbs behind the vendors' calls ----------------------------------------------------------
  // Counts the call; a status other than kSuccess is what it has to return.
  int enter(const char* call);

  virtual Script& script() { return script_; }
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
  int launch(int device, Kernel* kernel, unsigned long long threads, void** arguments);
  int allocate(int device, std::size_t bytes, void** memory);
  int release_memory(void* memory);
  int copy(int device, void* target, bool target_on_device, const void* source,
           bool source_on_device, std::size_t bytes);
  int fill(int device, void* target, int value, std::size_t bytes);
  int create_stream(int device, void** stream);
  int destroy_stream(void* stream);
  int create_event(int device, void** event);
  int destroy_event(void* event);
  int check_stream(int device, void* stream) const;
  int check_event(void* event) const;

 private:
  bool inside(int device, const void* memory, std::size_t bytes) const;

  mutable std::mutex mutex_;
  std::atomic<unsigned> generation_{0};
  Script script_;
  std::map<std::string, int> calls_;
  std::string fail_call_, failed_call_;
  int fail_nth_ = 0, fail_status_ = 0;
  int any_nth_ = 0, any_status_ = 0, all_calls_ = 0;
  bool ended_ = false;
  std::vector<std::string> loads_;
  std::map<const void*, std::pair<int, std::size_t>> allocations_;  // address: device, bytes
  std::map<const void*, std::pair<int, std::size_t>> symbols_;      // the same, of modules
  std::set<Module*> modules_;
  std::map<const void*, int> streams_, events_;  // handle: device
  std::map<int, int> contexts_;                  // device: times retained
};

}  // namespace kiln::fake

// The machine of a fake driver that was opened; exported by each.
extern "C" kiln::fake::Machine* kiln_fake_machine();
