// The kiln runtime: finds the GPUs of this machine and runs the kernels of a generated header.
//
//   auto runtime = kiln::Runtime::open();
//   auto device = runtime->default_device();
//   auto affine = device->function(kernels::affine_f32);       // from the generated header
//   auto launched = affine->launch({{blocks}, {256}}, n, dims, info, *in, *out, 2.f, 1.f);
//
// The runtime does not link CUDA or HIP. It opens their libraries when a device is first asked for,
// and works on machines that have neither. docs/RUNTIME.md has the rules.
//
// An option that the program leaves empty is taken from an environment variable: KILN_DEVICE,
// KILN_TRACE and the others of docs/RUNTIME.md. Runtime::open reads them once.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "narrow_floats.hpp"
#include "result.hpp"

namespace kiln {

namespace runtime {
class RuntimeState;
}

// With -D_GLIBCXX_DEBUG, vectors have another layout, and with -D_GLIBCXX_USE_CXX11_ABI=0, strings.
// This tag becomes a part of the name of Runtime::open, so that such a program links only with a
// kiln that was compiled in the same way.
#if !defined(__GLIBCXX__) || (_GLIBCXX_USE_CXX11_ABI && !defined(_GLIBCXX_DEBUG))
#define KILN_LAYOUT
#elif _GLIBCXX_USE_CXX11_ABI
#define KILN_LAYOUT [[gnu::abi_tag("GLIBCXX_DEBUG")]]
#elif !defined(_GLIBCXX_DEBUG)
#define KILN_LAYOUT [[gnu::abi_tag("OLD_STRINGS")]]
#else
#define KILN_LAYOUT [[gnu::abi_tag("GLIBCXX_DEBUG", "OLD_STRINGS")]]
#endif

struct KILN_LAYOUT OpenOptions {
  // Backends to use; their devices are listed in this order. The emulator is opened only if this
  // list, `default_device`, KILN_DEVICE or a call of Runtime::device() names it.
  std::vector<Backend> backends = {Backend::kCuda, Backend::kHip, Backend::kHost};
  // Paths of libraries. If a path is set, no other is tried.
  std::string cuda_library, hip_library, host_library, emulator_library;
  std::string default_device;  // like KILN_DEVICE
  std::string image_path;      // like KILN_IMAGE_PATH
  std::string memory_pool;     // like KILN_MEMORY_POOL
  // For modules that embed their source: the paths of libnvrtc, of libhiprtc and of the host's
  // compiler (if set, no other is tried), and the folder that keeps compiled images, or "off".
  std::string nvrtc_library, hiprtc_library, host_compiler, compile_cache;
  // Receives one line, without a newline, for each decision. It is called from the thread that
  // decided, possibly from several threads at once, and while a module is being loaded. It must not
  // call kiln, or throw.
  std::function<void(std::string_view line)> trace;
};

#undef KILN_LAYOUT

// Describes one backend: if it could be opened, and what was tried.
struct BackendStatus {
  Backend backend = Backend::kCuda;
  bool available = false;
  std::string library;               // path of the opened library; empty if none was opened
  std::string version;               // "CUDA 12.8"
  std::size_t device_count = 0;
  std::vector<std::string> reasons;  // for each path or call that failed, why
};

// Ownership: drivers stay open, and modules loaded, until the runtime and everything that it gave
// out (devices, functions, buffers, streams, events) are gone. Copies of a Runtime refer to the same
// one, and a move copies. A program may open several.
// Thread-safety: all members may be called from any thread, except open(), moves and destruction.
// open() reads the environment, so no other thread may change the environment meanwhile.
class Runtime {
 public:
  // Reads the options and the environment. Opens no library yet, so it takes microseconds. Only for
  // a name that is no device's does it open the emulator's, to list its devices in the error.
  // Errors: kInvalidInput (a name that is no device's, a number that is no Backend, or an unknown
  // word in KILN_TRACE or KILN_MEMORY_POOL).
  static Result<Runtime> open(OpenOptions options = {});

  Runtime(const Runtime&) noexcept;
  Runtime& operator=(const Runtime&) noexcept;
  ~Runtime();

  // Devices of all listed backends, in order. Empty if there are none; backends() says why. Both
  // lists live as long as the runtime, and do not change.
  // The first call of any of these functions opens drivers, which takes 0.1 to 0.2 s with an NVIDIA
  // GPU.
  const std::vector<DeviceInfo>& devices() const;
  const std::vector<BackendStatus>& backends() const;

  // Returns a device by its position in devices(), or by its id, such as "cuda:0". The name of a
  // backend, such as "cuda", means its first device. Errors: kUnavailable (no such device on this
  // machine), kInvalidInput (a name that is no device's).
  Result<Device> device(std::size_t index) const;
  Result<Device> device(std::string_view id) const;
  // Returns the device that OpenOptions::default_device or KILN_DEVICE names. Without a name,
  // returns the first device. Errors: kUnavailable with every reason.
  Result<Device> default_device() const;

 private:
  explicit Runtime(std::shared_ptr<runtime::RuntimeState> state);
  std::shared_ptr<runtime::RuntimeState> state_;
};

}  // namespace kiln
