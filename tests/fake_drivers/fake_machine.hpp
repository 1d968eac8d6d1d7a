// The interface of a fake driver for tests: set the scene, inject faults, and inspect what
// happened.
//
// A fake driver is a real shared object, which the runtime opens like the vendor's library. A test
// opens it as well, and gets the same machine from its exported function kiln_fake_machine(). The
// class is abstract because its code is in that library, which no test links. Thread-safe, except
// for reset() and script().
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kiln::fake {

// Status codes that CUDA and HIP share.
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
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureImplicit = 906,
};

struct DeviceScript {
  std::string name;
  std::string arch;  // CUDA: "90"; HIP: "gfx90a:sramecc+:xnack-"
  int wave_width = 32;
  std::size_t memory_bytes = std::size_t{1} << 30;
};

// The settings of a test. They are set before the runtime is opened, and may change while it is
// open.
struct Script {
  std::vector<DeviceScript> devices;
  int version = 0;      // as reported by the vendor's call
  std::string jit_log;  // log of the PTX compiler when it fails
  bool jit_fails = false;
  std::chrono::microseconds load_time{0};
  bool has_pools = true;  // stream-ordered memory pools
  bool uses_image_in_place = false;  // a launch fails if the bytes of the image have changed
};

class Machine {
 public:
  virtual ~Machine() = default;

  // Resets the machine to `script` and all counters to 0. No handle from before may be in use.
  virtual void reset(Script script) = 0;
  virtual Script& script() = 0;

  // --- faults ----------------------------------------------------------------------------
  // The `nth` call of `call` from now on (1: the next one) returns `status`, once.
  virtual void fail(std::string call, int nth, int status) = 0;
  // The `nth` call of any function returns `status`, once.
  virtual void fail_any(int nth, int status) = 0;
  // From the `nth` call of any function on, every call returns `status`.
  virtual void fail_from(int nth, int status) = 0;
  // Behaves as after the end of the driver: every call returns kDeinitialized.
  virtual void end_driver() = 0;

  // --- what happened ---------------------------------------------------------------------
  virtual int calls(const std::string& call) const = 0;
  virtual int all_calls() const = 0;
  // The call that fail_any() hit, or the first one that fail_from() hit.
  virtual std::string failed_call() const = 0;
  // "<ordinal> <first line of the image>", in the order of the loads.
  virtual std::vector<std::string> loads() const = 0;
  struct Live {
    std::size_t allocations, modules, streams, events, contexts, pools;
    bool operator==(const Live&) const = default;
  };
  virtual Live live() const = 0;

  // --- work of a vendor's other libraries on a stream ----------------------------------------
  // Runs `work`, or records it in the graph that the stream is captured into. While another stream
  // is captured, work on the default stream is refused and ends that capture, as loading and
  // allocating do.
  virtual int submit(void* stream, std::function<int()> work) = 0;
};

}  // namespace kiln::fake

// The machine of a fake driver. Each fake driver exports this function.
extern "C" kiln::fake::Machine* kiln_fake_machine();
