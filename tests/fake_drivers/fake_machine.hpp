// What a fake driver lets a test do: set the scene, ask for faults, and see what happened.
//
// A fake driver is a real shared object, opened by the runtime like the vendor's own. A test opens
// it too and gets the same machine from its exported kiln_fake_machine(). The class is abstract
// because its code is in that library, which no test links. Thread-safety: everything but reset()
// and script().
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
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

// What a test sets before it opens the runtime, and may change while it is open.
struct Script {
  std::vector<DeviceScript> devices;
  int version = 0;      // as the vendor's own call reports it
  std::string jit_log;  // what the PTX compiler says when it fails
  bool jit_fails = false;
  std::chrono::microseconds load_time{0};
  bool has_pools = true;  // of memory in the order of a stream
  bool uses_image_in_place = false;  // a launch fails when the image's bytes have changed
};

class Machine {
 public:
  virtual ~Machine() = default;

  // Back to `script`, with nothing counted. No handle of before may live.
  virtual void reset(Script script) = 0;
  virtual Script& script() = 0;

  // --- faults ----------------------------------------------------------------------------
  // The `nth` call of `call` from now on (1: the next) returns `status`, once.
  virtual void fail(std::string call, int nth, int status) = 0;
  // The `nth` call of any function returns `status`, once.
  virtual void fail_any(int nth, int status) = 0;
  // From the `nth` call of any function on, each returns `status`.
  virtual void fail_from(int nth, int status) = 0;
  // As after the driver's own end: each call returns kDeinitialized.
  virtual void end_driver() = 0;

  // --- what happened ---------------------------------------------------------------------
  virtual int calls(const std::string& call) const = 0;
  virtual int all_calls() const = 0;
  // The one that fail_any() met, or the first that fail_from() met.
  virtual std::string failed_call() const = 0;
  // "<ordinal> <first line of the image>", in order.
  virtual std::vector<std::string> loads() const = 0;
  struct Live {
    std::size_t allocations, modules, streams, events, contexts, pools;
    bool operator==(const Live&) const = default;
  };
  virtual Live live() const = 0;

  // --- what a vendor's other libraries do on a stream --------------------------------------
  // Runs `work`, or keeps it for the graph that the stream is captured into. Work of the default
  // stream is refused while another is captured, and ends that capture, as loading and allocating do.
  virtual int submit(void* stream, std::function<int()> work) = 0;
};

}  // namespace kiln::fake

// The machine of a fake driver that was opened; exported by each.
extern "C" kiln::fake::Machine* kiln_fake_machine();
