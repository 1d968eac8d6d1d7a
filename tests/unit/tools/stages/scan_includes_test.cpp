#include "tools/stages/scan_includes.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_files.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

std::vector<std::string> paths(std::string_view text) {
  std::vector<std::string> found;
  for (const Include& include : find_includes(text)) found.push_back(include.path);
  return found;
}
using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("find_includes finds both forms with their place") {
  const auto found = find_includes("#pragma once\n  # include \"a.h\" // one\n#include <b.h>\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].path == "a.h");
  CHECK(found[0].is_quoted);
  CHECK(found[0].line == 2);
  CHECK(found[0].column == 13);
  CHECK(found[1].path == "b.h");
  CHECK_FALSE(found[1].is_quoted);
}

TEST_CASE("find_includes passes over comments, strings and other uses of the word") {
  CHECK(paths("// #include \"a\"\n/* \n#include \"b\"\n*/ #include \"c\"\n") == Paths{"c"});
  CHECK(paths("const char* s = \"\\\"\\n#include \\\"a\\\"\";\n#include \"b\"\n") == Paths{"b"});
  CHECK(paths("auto s = R\"x(\n#include \"a\"\n)\" )x\";\n#include \"b\"\n") == Paths{"b"});
  CHECK(paths("int n = 1'000'000;\n#include \"a\"\n") == Paths{"a"});
  CHECK(paths("// a comment \\\n#include \"a\"\n#include \"b\"\n") == Paths{"b"});
  CHECK(paths("#inc\\\nlude \"a\"\n#define INCLUDE \"b\"\n#include HEADER\n").empty());
  CHECK(paths("#if 0\n#include \"a\"\n#endif\nint x; #include \"b\"\n") == Paths{"a"});
  CHECK(paths("#include \"unfinished\n#include \"a\"") == Paths{"a"});
  CHECK(paths("\xef\xbb\xbf#include \"a\"\n") == Paths{"a"});  // a byte order mark
}

TEST_CASE("find_includes ends on any text cut short") {
  const std::string text = "#include \"a\"\n/* c */ auto s = R\"d(e)d\"; 'f' \"g\\\"\" \\\n// h\n#include <i>";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    CHECK(find_includes(std::string_view(text).substr(0, size)).size() <= 2);
  }
}

TEST_CASE("IncludeScanner follows local headers as compilers do, and leaves the rest alone") {
  testing::FakeFiles files;
  const auto put = [&](const std::string& name, std::string_view text) {
    REQUIRE(files.write("/p/" + name, text));
  };
  put("k/a.cu", "#include \"x.h\"\n#include <lib/y.h>\n#include <cuda_fp16.h>\n#include \"hip/z.h\"\n");
  put("k/x.h", "#include \"../k/x.h\"\n");
  put("x.h", "");
  put("inc/lib/y.h", "#include \"w.h\"\n");
  put("inc/lib/w.h", "");
  put("inc/w.h", "");
  Manifest manifest;
  manifest.path = "targets.json";
  manifest.directory = "/p";
  IncludeScanner scanner(manifest, files);
  const auto closure = scanner.closure("k/a.cu", {"inc"});
  REQUIRE(closure);
  CHECK(*closure == Paths{"inc/lib/w.h", "inc/lib/y.h", "k/a.cu", "k/x.h"});
  const auto without = scanner.closure("k/a.cu", {});
  REQUIRE(without);
  CHECK(*without == Paths{"k/a.cu", "k/x.h"});
}
