#include "tools/stages/scan_includes.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_files.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

std::vector<std::string> paths(std::string_view text) {
  std::vector<std::string> found;
  for (const Include& include : find_includes(text).includes) found.push_back(include.path);
  return found;
}
using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("find_includes finds both forms with their place") {
  const auto found =
      find_includes("#pragma once\n  # include \"a.h\" // one\n#include <b.h>\n").includes;
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
    CHECK(find_includes(std::string_view(text).substr(0, size)).includes.size() <= 2);
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
  CHECK(closure->local == Paths{"inc/lib/w.h", "inc/lib/y.h", "k/a.cu", "k/x.h"});
  const auto without = scanner.closure("k/a.cu", {});
  REQUIRE(without);
  CHECK(without->local == Paths{"k/a.cu", "k/x.h"});
}

namespace {

// The local files that a.cu of this text reaches, in a folder of these files.
Paths reached(std::string_view text, const std::vector<std::pair<std::string, std::string>>& others,
              const Paths& directories = {}, const Paths& defines = {}) {
  testing::FakeFiles files;
  REQUIRE(files.write("/p/a.cu", text));
  for (const auto& [name, other] : others) REQUIRE(files.write("/p/" + name, other));
  Manifest manifest;
  manifest.path = "targets.json";
  manifest.directory = "/p";
  const auto closure = IncludeScanner(manifest, files).closure("a.cu", directories, defines);
  REQUIRE(closure);
  return closure->local;
}

}  // namespace

TEST_CASE("IncludeScanner follows an include by a macro to each header that the macro may name") {
  CHECK(reached("#define HEADER \"x.h\"\n#include HEADER\n", {{"x.h", ""}}) ==
        Paths{"a.cu", "x.h"});
  CHECK(reached("#if A\n#define HEADER \"x.h\"\n#else\n# define HEADER <y.h> // "
                "y\n#endif\n#include HEADER\n",
                {{"x.h", ""}, {"inc/y.h", ""}}, {"inc"}) == Paths{"a.cu", "inc/y.h", "x.h"});
  CHECK(reached("#define A B\n#define B \\\n \"./x.h\"\n#define C A\n#include /**/ C\n",
                {{"x.h", ""}}) == Paths{"a.cu", "x.h"});
  // The macro and its use may be in different files, and lead to further ones.
  CHECK(reached("#include \"set.h\"\n#include \"use.h\"\n",
                {{"set.h", "#define HEADER \"x.h\"\n"},
                 {"use.h", "#include HEADER\n#include NEXT\n"},
                 {"x.h", "#define NEXT \"y.h\"\n"},
                 {"y.h", ""}}) == Paths{"a.cu", "set.h", "use.h", "x.h", "y.h"});
  CHECK(reached("#include HEADER\n", {{"x.h", ""}}, {}, {"HEADER=\"x.h\""}) ==
        Paths{"a.cu", "x.h"});
  // Macros that name each other, a header that is not there, parameters, and a macro of other use.
  CHECK(reached("#define A B\n#define B A\n#include A\n#define C \"./none.h\"\n#include C\n"
                "#define D(x) \"x.h\"\n#include D(1)\n#define TABLE \"x.h\"\n",
                {{"x.h", ""}}) == Paths{"a.cu"});
}

TEST_CASE("IncludeScanner counts the headers that __has_include finds") {
  const std::vector<std::pair<std::string, std::string>> others = {{"x.h", ""}, {"inc/y.h", ""}};
  CHECK(reached("#if __has_include(\"x.h\")\n#endif\n", others) == Paths{"a.cu", "x.h"});
  CHECK(reached("#if 0\n#elif 1'000 && defined(X) && __has_include( <y.h> )\n#endif\n", others,
                {"inc"}) == Paths{"a.cu", "inc/y.h"});
  CHECK(reached("#define HAS __has_include(\"x.h\") // c\n", others) == Paths{"a.cu", "x.h"});
  CHECK(reached("#define X \"x.h\"\n#if 'a' && __has_include(X)\n#endif\n", others) ==
        Paths{"a.cu", "x.h"});
  CHECK(reached("#ifdef __has_include\n#if __has_include(\"./none.h\") // "
                "__has_include(\"x.h\")\n#endif\n#endif\n",
                others) == Paths{"a.cu"});
}

TEST_CASE("IncludeScanner takes every header that an #include_next may mean") {
  CHECK(reached("#include <x.h>\n", {{"a/x.h", "#include_next <x.h>\n"}, {"b/x.h", ""}},
                {"a", "b"}) == Paths{"a.cu", "a/x.h", "b/x.h"});
}

TEST_CASE(
    "IncludeScanner tells which headers __has_include finds outside of the manifest's folder") {
  testing::FakeFiles files;
  REQUIRE(files.write(
      "/p/a.cu", "#if __has_include(<x.h>) || __has_include(<y.h>)\n#endif\n#include <z.h>\n"));
  REQUIRE(files.write("/lib/x.h", ""));
  REQUIRE(files.write("/lib/z.h", ""));
  REQUIRE(files.write("/other/x.h", ""));
  Manifest manifest;
  manifest.path = "targets.json";
  manifest.directory = "/p";
  const auto closure = IncludeScanner(manifest, files).closure("a.cu", {"/lib", "../other"});
  REQUIRE(closure);
  CHECK(closure->local == Paths{"a.cu"});
  CHECK(closure->outside == Paths{"../other/x.h", "/lib/x.h"});
}
