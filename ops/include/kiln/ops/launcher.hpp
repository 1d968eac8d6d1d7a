// Runs launches on one device.
//
//   kiln::ops::Launcher launcher(device);
//   kiln::ops::Unary gelu;
//   gelu.op = kiln::ops::UnaryOp::kGeluTanh;
//   gelu.layout = {{rows, columns}, {1, rows}};   // a transposed view
//   gelu.inp = x.data(), gelu.out = y.data();
//   auto done = launcher.launch(gelu);
//
// Layout blocks are kept in device memory, so launching the same shape again copies and allocates
// nothing. The Launcher remembers about a thousand shapes that were only run, and all shapes of
// prepared launches.
//
// Some launches use the Launcher's scratch memory. It grows as needed and is freed with the
// Launcher. After prepare(), such a launch may be captured like any other; graphs captured from the
// same Launcher must then run one after the other.
//
// Ownership: a Launcher keeps its device open. One that was moved from may be assigned to or
// destroyed; its launches are errors, kInvalidInput, and it has neither device nor stream.
// Thread-safety: any thread may call run(), launch() and prepare(). The order on the stream is the
// order of the calls. No thread may move or destroy a Launcher that another uses.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "kiln/device.hpp"
#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

class Launcher {
 public:
  // Launches go to `stream`, a stream of `device` that must outlive the Launcher.
  explicit Launcher(Device device, StreamRef stream = {});
  Launcher(Launcher&&) noexcept;
  Launcher& operator=(Launcher&&) noexcept;
  ~Launcher();

  const Device& device() const;
  StreamRef stream() const;

  // Starts the launch and returns. Errors of the running kernel are returned when the stream is
  // waited for. Errors: kNotFound (this build has no such kernel), kInvalidInput (the number or
  // sizes of the arguments differ from the kernel's parameters), and those of Device::function and
  // Function::launch.
  Result<void> run(const Launch& launch) const;

  // Run or prepare the launches in order. No other launch uses the scratch memory meanwhile. Errors:
  // those of a single launch; the launches after it are left out.
  Result<void> run(const LaunchSequence& sequence) const;
  Result<void> prepare(const LaunchSequence& sequence) const;

  // Loads the launch's kernel and stores its layout block, but starts nothing. Afterwards run()
  // makes no other driver call than the launch, so it can be captured into a CUDA or HIP graph. The
  // graph must not be used after the Launcher is destroyed. Errors: those of run().
  Result<void> prepare(const Launch& launch) const;

  // Calls `work` with the address of `bytes` bytes of the scratch memory. What `work` starts on the
  // stream has the memory to itself until something else of this Launcher starts. Errors: those of
  // `work`, and of allocating memory.
  Result<void> with_memory(std::size_t bytes, const std::function<Result<void>(void*)>& work) const;

  // Plan for this device, and run or prepare the result. `call` is an Affine, a Unary, a Fill, ...
  template <typename Call>
  Result<void> launch(const Call& call) const {
    auto planned = plan(call, gpu());
    if (!planned) return std::move(planned).error();
    return run(*planned);
  }
  template <typename Call>
  Result<void> prepare(const Call& call) const {
    auto planned = plan(call, gpu());
    if (!planned) return std::move(planned).error();
    return prepare(*planned);
  }

 private:
  Gpu gpu() const;  // that of the device

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::ops
