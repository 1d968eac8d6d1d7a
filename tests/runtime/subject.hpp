// The driver that a run of the tests is about: KILN_TEST_DRIVER names it.
//
//   fake_cuda, fake_hip         the fakes of tests/fake_drivers, each with two devices
//   fake_cuda_11, fake_hip_5    the same as older releases, which lack what was added since
//   cuda, hip, host, emulator   the real thing, where there is one
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
  std::string name;  // as KILN_TEST_DRIVER has it
  Backend backend = Backend::kCuda;
  std::string library;               // of a fake, else empty: the usual one
  fake::Machine* machine = nullptr;  // null: a real driver
};
// Ends the program for a name that is none.
Subject subject_named(const std::string& name);
const Subject& subject();

// Options that open the subject alone; a fake is freshly reset.
OpenOptions options_for(const Subject& subject);

// A runtime with the subject's devices. Skips the test, with the reason, where a real driver is not
// there.
Runtime open_subject();

// A function of the driver's own library, as a program calls it that makes its own streams.
void* vendor_function(const Runtime& runtime, const char* name);
template <typename Function>
Function* vendor_function(const Runtime& runtime, const char* name) {
  return reinterpret_cast<Function*>(vendor_function(runtime, name));
}

}  // namespace kiln::testing
