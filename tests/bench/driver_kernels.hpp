// Kernels that are loaded and launched through the CUDA driver, beside the runtime: the originals'
// own cubins, and ours of one target.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln/device.hpp"
#include "kiln/ops/launch.hpp"
#include "ops/src/workspace.hpp"
#include "tests/bench/cuda_clock.hpp"

namespace kiln::bench {

// An image that holds a launch's kernel.
struct DriverImage {
  std::string name;  // images of one name are the same, and loaded once
  std::function<Result<std::vector<std::byte>>()> read;
};
using FindImage = std::function<Result<DriverImage>(const ops::Launch& launch)>;

// FOLDER/<module>.cubin.zst.
FindImage originals_in(std::string folder);
// What this build holds for a target, "compute_80" for example.
FindImage ours_for(std::string target);

class DriverKernels {
 public:
  DriverKernels(Device device, CudaClock& clock, FindImage find);

  // Loads what the launch needs; after that run() does nothing but launch. Errors: kNotFound (no
  // such image or kernel), kDriver (the GPU takes no such image).
  Result<void> prepare(const ops::Launch& launch);
  Result<void> run(const ops::Launch& launch, StreamRef stream) const;

 private:
  Device device_;
  CudaClock& clock_;
  FindImage find_;
  std::map<std::string, void*> modules_;
  std::map<std::string, void*> functions_;
  std::map<std::vector<std::size_t>, Buffer> layouts_;
  std::unique_ptr<ops::Workspace> space_;
  void* workspace_ = nullptr;  // of the launches prepared last
};

}  // namespace kiln::bench
