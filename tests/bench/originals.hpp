// The original kernels: their own cubins, loaded through the CUDA driver and launched as their host
// launches them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kiln/device.hpp"
#include "kiln/ops/launch.hpp"
#include "tests/bench/cuda_clock.hpp"

namespace kiln::bench {

class Originals {
 public:
  // `folder` holds a <module>.cubin.zst for each module that is to be measured.
  Originals(Device device, CudaClock& clock, std::string folder);

  // Loads what the launch needs; after that run() does nothing but launch. Errors: kNotFound (no
  // such file or kernel), kDriver (the GPU takes no such image).
  Result<void> prepare(const ops::Launch& launch);
  Result<void> run(const ops::Launch& launch, StreamRef stream) const;

 private:
  Device device_;
  CudaClock& clock_;
  std::string folder_;
  std::map<std::string, void*> modules_;
  std::map<std::string, void*> functions_;
  std::map<std::vector<std::size_t>, Buffer> layouts_;
};

}  // namespace kiln::bench
