// Where cases run: a device of the runtime, or a fake one.
#pragma once

#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "kiln/catalog.hpp"
#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "kiln/result.hpp"
#include "kiln/runtime.hpp"

namespace kiln::conformance {

struct PieceSize {
  std::size_t bytes;
  bool ends_memory = false;  // nothing of the device's memory lies behind it
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Memory for pieces of these sizes, each aligned to 256 bytes. Valid until the next place().
  virtual Result<std::vector<std::byte*>> place(const std::vector<PieceSize>& sizes) = 0;
  // Copies the contents to the pieces placed last, launches, waits, and copies them back.
  virtual Result<void> run(const ops::Launch& launch,
                           std::vector<std::vector<std::byte>>& contents) = 0;
  // What launches are planned for.
  virtual ops::Gpu gpu() const { return {}; }
};

// The modules of ops::catalog() with the images of one target alone.
struct TargetModules {
  std::deque<ModuleEntry> modules;
  std::deque<std::vector<ImageEntry>> images;  // of each module; without one where it has none

  const ModuleEntry* find(std::string_view name) const;
};
// Made once for each target; lives as long as the program, as modules must.
const TargetModules& modules_of_target(std::string_view target);

// Runs on `device` with the kernels of ops::catalog(), or with those of `target` alone.
std::unique_ptr<Executor> make_device_executor(const Device& device, std::string_view target = {});

}  // namespace kiln::conformance
