#include "tools/stages/nvcc_define.hpp"

#include <catch2/catch_test_macros.hpp>

using kiln::tools::define_of_nvcc;
using kiln::tools::nvcc_define;

TEST_CASE("nvcc_define leaves a plain define as it is") {
  for (const char* define : {"FAST", "N=", "N=1 + 2", "S=\"text\"", "C='a'", "T=a < b & c | d; *"}) {
    CHECK(nvcc_define(define) == define);
  }
}

TEST_CASE("nvcc_define keeps commas, backslashes and a shell's letters from nvcc and its shell") {
  CHECK(nvcc_define("T=Tile<8,8>") == R"(T=Tile<8\,8>)");
  CHECK(nvcc_define(R"(S="a\n")") == R"(S=\"a\\\\n\")");
  CHECK(nvcc_define(R"(C='"')") == R"(C='\"')");
  CHECK(nvcc_define("S=\"$HOME\"") == R"(S=\"\\$HOME\")");
  CHECK(nvcc_define("S=`ls`") == R"(S=\\`ls\\`)");
}

TEST_CASE("define_of_nvcc is the define that was given") {
  for (const char* define : {"FAST", "S=\"text\"", "T=Tile<8,8>", R"(S="a\n\\b\"c,")", R"(C='"')", "S=\"$HOME`ls`\\\""}) {
    CHECK(define_of_nvcc(nvcc_define(define)) == define);
  }
}
