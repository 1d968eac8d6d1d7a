// The driver that a run of the tests is about: KILN_TEST_DRIVER names it.
//
//   fake_cuda, fake_hip   the fakes of tests/fake_drivers, each with two devices
//   cuda, hip, host       the real thing, where there is one
#pragma once

#include <string>

#include "kiln/runtime.hpp"
#include "tests/fake_drivers/fake_machine.hpp"

namespace kiln::testing {

// The machine of a fake driver's library; ends the test program when it cannot be opened.
fake::Machine& machine_of(const std::string& library);

// Two devices each, as the real drivers report them.
fake::Script cuda_script();
fake::Script hip_script();

// Resets the fake's machine and returns options that open the fake alone.
OpenOptions fake_cuda_options(fake::Script script = cuda_script());
OpenOptions fake_hip_options(fake::Script script = hip_script());
fake::Machine& fake_cuda();
fake::Machine& fake_hip();

struct Subject {
  std::string name;                  // as KILN_TEST_DRIVER has it
  fake::Machine* machine = nullptr;  // null: a real driver
  std::string symbol_prefix;         // of the driver's calls: "cu", "hip"
};
const Subject& subject();

// A runtime with the subject's devices, fakes freshly reset. Skips the test, with the reason, where
// a real driver is not there.
Runtime open_subject();

}  // namespace kiln::testing
