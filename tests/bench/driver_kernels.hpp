// Kernels that are loaded and launched through the CUDA driver, without the runtime: the original
// cubins, and kiln's images of one target.
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

// An image that contains the kernel of a launch.
struct DriverImage {
  std::string name;  // images with the same name are equal, and loaded once
  std::function<Result<std::vector<std::byte>>()> read;
};
using FindImage = std::function<Result<DriverImage>(const ops::Launch& launch)>;

// FOLDER/<module>.cubin.zst.
FindImage originals_in(std::string folder);
// Images of this build for a target, for example "compute_80".
FindImage ours_for(std::string target);

class DriverKernels {
 public:
  DriverKernels(Device device, CudaClock& clock, FindImage find);

  // Loads everything that the launch needs, so that run() only launches. Errors: kNotFound (no such
  // image or kernel), kDriver (the GPU rejects the image).
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
  void* workspace_ = nullptr;  // for the launches that were prepared last
};

}  // namespace kiln::bench
