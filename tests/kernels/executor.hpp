// Runs cases on a device of the runtime, or on a fake one.
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
  bool ends_memory = false;  // no device memory follows it
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Returns memory for pieces of these sizes, each aligned to 256 bytes. Valid until the next
  // place().
  virtual Result<std::vector<std::byte*>> place(const std::vector<PieceSize>& sizes) = 0;
  // Copies the contents to the pieces that were placed last, launches, waits, and copies the
  // contents back.
  virtual Result<void> run(const ops::Launch& launch,
                           std::vector<std::vector<std::byte>>& contents) = 0;
  // The GPU that launches are planned for.
  virtual ops::Gpu gpu() const { return {}; }
};

// The modules of ops::catalog() with only the images of one target.
struct TargetModules {
  std::deque<ModuleEntry> modules;
  std::deque<std::vector<ImageEntry>> images;  // of each module; empty if it has no image

  const ModuleEntry* find(std::string_view name) const;
};
// Made once for each target, and kept for the lifetime of the program, which modules require.
const TargetModules& modules_of_target(std::string_view target);

// Runs on `device`, with the kernels of ops::catalog() or, if `target` is given, only with the
// images of that target.
std::unique_ptr<Executor> make_device_executor(const Device& device, std::string_view target = {});

}  // namespace kiln::conformance
