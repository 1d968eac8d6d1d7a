#include "tools/stages/line_directive.hpp"

#include <catch2/catch_test_macros.hpp>

using kiln::tools::add_line_directive;

TEST_CASE("add_line_directive names the source before its first line") {
  CHECK(add_line_directive("hipA;\nb\n", "cudaA;\nb\n", "k/a.cu") ==
        "#line 1 \"k/a.cu\"\nhipA;\nb\n");
  CHECK(add_line_directive("", "", "a.cu") == "#line 1 \"a.cu\"\n");
}

TEST_CASE("add_line_directive leaves the include that the converter added before the first line") {
  CHECK(add_line_directive("#include \"hip/hip_runtime.h\"\n#include \"a.cuh\"\n",
                           "#include \"a.cuh\"\n", "a.cu") ==
        "#include \"hip/hip_runtime.h\"\n#line 1 \"a.cu\"\n#include \"a.cuh\"\n");
}

TEST_CASE("add_line_directive does not name lines that the converter did not keep") {
  CHECK(add_line_directive("a\nb\nc\n", "a\nbc\n", "a.cu") == "a\nb\nc\n");
  CHECK(add_line_directive("ab\n", "a\nb\n", "a.cu") == "ab\n");
}

TEST_CASE(
    "add_line_directive writes any path, and leaves a byte order mark out, which would no longer "
    "be first") {
  CHECK(add_line_directive("x\n", "x\n", "a \"b\"\\c.cu") ==
        "#line 1 \"a \\\"b\\\"\\\\c.cu\"\nx\n");
  CHECK(add_line_directive("\xef\xbb\xbfx\n", "\xef\xbb\xbfx\n", "a.cu") ==
        "#line 1 \"a.cu\"\nx\n");
  CHECK(add_line_directive("#include \"hip/hip_runtime.h\"\n\xef\xbb\xbfx\n", "\xef\xbb\xbfx\n",
                           "a.cu") == "#include \"hip/hip_runtime.h\"\n#line 1 \"a.cu\"\nx\n");
  CHECK(add_line_directive("#include \"hip/hip_runtime.h\"\n\xef\xbb\xbfx\n\n", "\xef\xbb\xbfx\n",
                           "a.cu") == "#include \"hip/hip_runtime.h\"\nx\n\n");
}
