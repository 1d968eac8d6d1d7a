// Where cases run: a device of the runtime, or a fake one.
#pragma once

#include <memory>
#include <vector>

#include "kiln/ops/launch.hpp"
#include "kiln/result.hpp"
#include "kiln/runtime.hpp"

namespace kiln::conformance {

class Executor {
 public:
  virtual ~Executor() = default;
  // Memory for pieces of these sizes, each aligned to 256 bytes. Valid until the next place().
  virtual Result<std::vector<std::byte*>> place(const std::vector<std::size_t>& sizes) = 0;
  // Copies the contents to the pieces placed last, launches, waits, and copies them back.
  virtual Result<void> run(const ops::Launch& launch,
                           std::vector<std::vector<std::byte>>& contents) = 0;
};

// Runs on `device` with the kernels of ops::catalog().
std::unique_ptr<Executor> make_device_executor(const Device& device);

}  // namespace kiln::conformance
