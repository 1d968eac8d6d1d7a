#include "tools/stages/include_hip.hpp"

#include <catch2/catch_test_macros.hpp>

using kiln::tools::include_hip;

TEST_CASE("include_hip gives HIP's header to a file that uses words of CUDA's language") {
  const std::string header = "#include \"hip/hip_runtime.h\"\n";
  for (const char* text :
       {"__device__ float f();\n", "#define AT threadIdx.x\n", "__constant__ int x;\n"}) {
    INFO(text);
    CHECK(include_hip(text) == header + text);
    CHECK(include_hip(header + text) == header + text);
    CHECK(include_hip(std::string("#pragma once\n#include <hip/hip_runtime.h>\n") + text) ==
          std::string("#pragma once\n#include <hip/hip_runtime.h>\n") + text);
  }
  CHECK(include_hip("struct Plain { int x; };\n") == "struct Plain { int x; };\n");
}
