// Runs launches on one device.
//
//   kiln::ops::Launcher launcher(device);
//   kiln::ops::Unary gelu;
//   gelu.op = kiln::ops::UnaryOp::kGeluTanh;
//   gelu.layout = {{rows, columns}, {1, rows}};   // a transposed view
//   gelu.inp = x.data(), gelu.out = y.data();
//   auto done = launcher.launch(gelu);
//
// Layout blocks live in device memory, one per content: launching the same shape again copies and
// allocates nothing. Of shapes that were only run, the last thousand or so are remembered; those of
// prepared launches as long as the Launcher lives.
// Some launches work in memory of the Launcher's, which grows with them and is never given back.
// Prepared, such a launch may be captured like any other; graphs of one Launcher then run one after
// the other.
// Thread-safety: run() and launch() may be called from several threads; the order on the stream is
// the order of the calls.
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
  // Launches go to `stream`, which must be the device's and outlive the Launcher.
  explicit Launcher(Device device, StreamRef stream = {});
  Launcher(Launcher&&) noexcept;
  Launcher& operator=(Launcher&&) noexcept;
  ~Launcher();

  const Device& device() const;
  StreamRef stream() const;

  // Starts the launch and returns; its own errors surface when the stream is waited for.
  // Errors: kNotFound (no such kernel in this build), kInvalidInput (arguments that differ from the
  // kernel's parameters in number or size), and those of Device::get_or_load_func and
  // Function::launch.
  Result<void> run(const Launch& launch) const;

  // The same for launches in turn. Nothing else of this Launcher works in its memory meanwhile.
  Result<void> run(const LaunchSequence& sequence) const;
  Result<void> prepare(const LaunchSequence& sequence) const;

  // Does what the launch needs done once, loading its kernel and storing its layout block, and
  // starts nothing. After that run() asks nothing of the driver but the launch: so it may be
  // captured into a CUDA or HIP graph, which lives no longer than the Launcher. Errors: those of
  // run().
  Result<void> prepare(const Launch& launch) const;

  // Calls `work` with so many bytes of the memory that launches work in. What it starts on the stream
  // has them for itself, until what is started next. Errors: those of `work`, and of an allocation.
  Result<void> with_memory(std::size_t bytes, const std::function<Result<void>(void*)>& work) const;

  // Plans for this device and runs, or prepares: `call` is an Affine, a Unary, a Fill, ...
  template <typename Call>
  Result<void> launch(const Call& call) const {
    auto planned = plan(call, Gpu::of(device().info()));
    if (!planned) return std::move(planned).error();
    return run(*planned);
  }
  template <typename Call>
  Result<void> prepare(const Call& call) const {
    auto planned = plan(call, Gpu::of(device().info()));
    if (!planned) return std::move(planned).error();
    return prepare(*planned);
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::ops
