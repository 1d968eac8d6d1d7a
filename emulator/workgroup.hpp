// Running one workgroup after another, with the same memory for their waves.
#pragma once

#include <memory>

#include "emulator/dispatch.hpp"
#include "emulator/fault.hpp"

namespace kiln::emulator {

class WorkgroupRunner {
 public:
  WorkgroupRunner() = default;
  WorkgroupRunner(const WorkgroupRunner&) = delete;
  WorkgroupRunner& operator=(const WorkgroupRunner&) = delete;
  virtual ~WorkgroupRunner() = default;

  // Runs a workgroup to its end. Throws a Fault.
  virtual Counts run(std::array<u32, 3> id) = 0;
};

// The plan must outlive it.
std::unique_ptr<WorkgroupRunner> make_workgroup_runner(const LaunchPlan& plan);

}  // namespace kiln::emulator
