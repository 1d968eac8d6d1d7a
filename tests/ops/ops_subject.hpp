// The device of KILN_TEST_DRIVER (tests/runtime/subject.hpp), with a launcher of the helpers' plans.
#pragma once

#include "kiln/ops.hpp"
#include "subject.hpp"

namespace kiln::ops {

struct OpsSubject {
  Runtime runtime = testing::open_subject();
  Device device = *runtime.default_device();
  Launcher launcher{device};

  bool is_gpu() const {
    return device.info().backend == Backend::kCuda || device.info().backend == Backend::kHip;
  }
};

}  // namespace kiln::ops
