// Runs one workgroup after another and reuses the memory of their waves.
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

// The plan must outlive the runner.
std::unique_ptr<WorkgroupRunner> make_workgroup_runner(const LaunchPlan& plan);

}  // namespace kiln::emulator
