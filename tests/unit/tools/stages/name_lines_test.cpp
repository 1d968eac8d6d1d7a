#include "tools/stages/name_lines.hpp"

#include <catch2/catch_test_macros.hpp>

using kiln::tools::name_lines;

TEST_CASE("name_lines names the source before its first line") {
  CHECK(name_lines("hipA;\nb\n", "cudaA;\nb\n", "k/a.cu") == "#line 1 \"k/a.cu\"\nhipA;\nb\n");
  CHECK(name_lines("", "", "a.cu") == "#line 1 \"a.cu\"\n");
}

TEST_CASE("name_lines leaves the include that the converter added before the first line") {
  CHECK(name_lines("#include \"hip/hip_runtime.h\"\n#include \"a.cuh\"\n", "#include \"a.cuh\"\n",
                   "a.cu") ==
        "#include \"hip/hip_runtime.h\"\n#line 1 \"a.cu\"\n#include \"a.cuh\"\n");
}

TEST_CASE("name_lines does not name lines that the converter did not keep") {
  CHECK(name_lines("a\nb\nc\n", "a\nbc\n", "a.cu") == "a\nb\nc\n");
  CHECK(name_lines("ab\n", "a\nb\n", "a.cu") == "ab\n");
}

TEST_CASE("name_lines writes any path, and leaves a byte order mark out, which would no longer be first") {
  CHECK(name_lines("x\n", "x\n", "a \"b\"\\c.cu") == "#line 1 \"a \\\"b\\\"\\\\c.cu\"\nx\n");
  CHECK(name_lines("\xef\xbb\xbfx\n", "\xef\xbb\xbfx\n", "a.cu") ==
        "#line 1 \"a.cu\"\nx\n");
  CHECK(name_lines("#include \"hip/hip_runtime.h\"\n\xef\xbb\xbfx\n", "\xef\xbb\xbfx\n", "a.cu") ==
        "#include \"hip/hip_runtime.h\"\n#line 1 \"a.cu\"\nx\n");
  CHECK(name_lines("#include \"hip/hip_runtime.h\"\n\xef\xbb\xbfx\n\n", "\xef\xbb\xbfx\n", "a.cu") ==
        "#include \"hip/hip_runtime.h\"\nx\n\n");
}
