// The driver under test: KILN_TEST_DRIVER names it.
//
//   fake_cuda, fake_hip         the fakes of tests/fake_drivers, each with two devices
//   fake_cuda_11, fake_hip_5    the same as older releases, which lack later additions
//   cuda, hip, host, emulator   the real driver, if there is one
#pragma once

#include <string>

#include "kiln/runtime.hpp"
#include "tests/fake_drivers/fake_machine.hpp"

namespace kiln::testing {

// Returns the machine of the library of a fake driver. Ends the test program if it cannot be
// opened.
fake::Machine& machine_of(const std::string& library);

// Scripts with two devices each, as the real drivers report them.
fake::Script cuda_script();
fake::Script hip_script();

// Reset the machine of the fake driver and return options that open only this driver.
OpenOptions fake_cuda_options(fake::Script script = cuda_script());
OpenOptions fake_hip_options(fake::Script script = hip_script());
fake::Machine& fake_cuda();
fake::Machine& fake_hip();

struct Subject {
  std::string name;  // as in KILN_TEST_DRIVER
  Backend backend = Backend::kCuda;
  std::string library;               // of a fake driver; empty: the usual library
  fake::Machine* machine = nullptr;  // null: a real driver
};
// Ends the program if there is no such name.
Subject subject_named(const std::string& name);
const Subject& subject();

// Returns options that open only the subject. A fake driver is reset.
OpenOptions options_for(const Subject& subject);

// Returns a runtime with the devices of the subject. Skips the test, with the reason, if a real
// driver does not exist.
Runtime open_subject();

// Returns a function of the driver's own library, for programs that create their own streams.
void* vendor_function(const Runtime& runtime, const char* name);
template <typename Function>
Function* vendor_function(const Runtime& runtime, const char* name) {
  return reinterpret_cast<Function*>(vendor_function(runtime, name));
}

}  // namespace kiln::testing
