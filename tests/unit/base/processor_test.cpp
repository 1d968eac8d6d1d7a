#include "base/processor.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;

TEST_CASE("a processor's facts are those that compilers ask for, and the same after each boot") {
  CHECK(processor_facts("processor\t: 0\nmodel name\t: One\ncpu MHz\t\t: 2096.010\n"
                        "flags\t\t: sse avx2\nbogomips\t: 4192.02\n\n"
                        "processor\t: 1\nmodel name\t: Two\n") ==
        "model name\t: One\nflags\t\t: sse avx2\n");
  CHECK(processor_facts("").empty());
  CHECK_FALSE(this_processor().empty());
}

TEST_CASE("options that ask for this machine's processor are found in any spelling") {
  CHECK(asks_for_native("-march=native"));
  CHECK(asks_for_native("-O3 -mtune=native"));
  CHECK(asks_for_native("-Xcompiler=-mcpu=native,-O3"));
  CHECK_FALSE(asks_for_native("-march=x86-64-v3"));
}
