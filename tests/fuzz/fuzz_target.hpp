// What a fuzz target is: a reader that is given bytes, and the files to start from.
//
// Each fuzz_*.cpp defines both. With KILN_BUILD_FUZZERS (clang) it becomes a libFuzzer program;
// always, it becomes a fast test with driver.cpp, which changes the seeds in the same way each
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kiln::testing {

std::vector<std::string> fuzz_seeds();

}  // namespace kiln::testing
