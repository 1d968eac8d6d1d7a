#include <catch2/catch_test_macros.hpp>

#include "tools/stages/depfile.hpp"

using kiln::tools::is_own_depfile;
using kiln::tools::parse_depfile;
using kiln::tools::write_depfile;
using Paths = std::vector<std::string>;

TEST_CASE("parse_depfile reads what nvcc and clang write") {
  CHECK(parse_depfile("affine.cubin : kernels/affine.cu \\\n    /usr/include/a.h \\\n    b.cuh\n").value() ==
        Paths{"kernels/affine.cu", "/usr/include/a.h", "b.cuh"});
  CHECK(parse_depfile("out.o: a.hip b.h\n").value() == Paths{"a.hip", "b.h"});
  CHECK(parse_depfile("out.o:\r\n").value() == Paths{});
}

TEST_CASE("parse_depfile reads escaped spaces, hashes and dollars") {
  CHECK(parse_depfile("o: my\\ file.h a\\#b.h c$$d.h e\\f.h\n").value() ==
        Paths{"my file.h", "a#b.h", "c$d.h", "e\\f.h"});
}

TEST_CASE("parse_depfile takes several targets, the first rule, and each path once") {
  CHECK(parse_depfile("a b: x y x\n\nx:\n").value() == Paths{"x", "y"});
}

TEST_CASE("parse_depfile refuses text without a rule") {
  for (const char* text : {"", "no colon here\n", "\n"}) {
    CAPTURE(text);
    const auto result = parse_depfile(text);
    REQUIRE_FALSE(result);
    CHECK(result.error().message ==
          "the dependency file has no rule of the form 'target: files'");
  }
}

TEST_CASE("write_depfile writes what parse_depfile reads") {
  const Paths paths = {"/a b/c.cu", "d#e", "f$g", "plain"};
  const std::string text = write_depfile("out/include/k.hpp", paths).value();
  CHECK(text ==
        "out/include/k.hpp: \\\n  /a\\ b/c.cu \\\n  d\\#e \\\n  f$$g \\\n  plain\n"
        "\n/a\\ b/c.cu:\n\nd\\#e:\n\nf$$g:\n\nplain:\n");
  CHECK(parse_depfile(text).value() == paths);
}

// For example, a semicolon starts a command, and a bar ends the list of prerequisites: such a name
// would have an effect, or the file would not be watched.
TEST_CASE("write_depfile refuses names that Make or Ninja takes for more than names") {
  for (const char odd : std::string_view("\"&'*:;<>?[\\]^`{|}\n\x1b\x7f")) {
    CAPTURE(odd);
    const std::string path = std::string("/src/a") + odd + "b.cu";
    CHECK_FALSE(write_depfile(path, {}));
    CHECK_FALSE(write_depfile("k", {"/src/b.cu", path}));
  }
  CHECK(write_depfile("k", {"/src/a b#c$d%e(f)g~h!i,j@k+l-m.cu", "/src/\xc3\xa4"}));
}

TEST_CASE("write_depfile writes paths with an equals sign where they are no assignments") {
  CHECK(write_depfile("/a=b/k", {"/a=b/x.cu", "/usr/bin/nvcc", "/c=d"}).value() ==
        "/a=b/k: \\\n  /usr/bin/nvcc \\\n  /a=b/x.cu \\\n  /c=d\n\n/usr/bin/nvcc:\n");
  CHECK_FALSE(write_depfile("k", {"/a=b/x.cu"}));
}

TEST_CASE("is_own_depfile knows a rule for a stamp, and nothing else") {
  CHECK(is_own_depfile(""));
  CHECK(is_own_depfile(write_depfile("out/include/k.hpp.stamp", {"a.cu"}).value()));
  CHECK(is_own_depfile("out/include/k.hpp.stamp:\n"));
  CHECK_FALSE(is_own_depfile("{\n  \"format\": 1\n}\n"));
  CHECK_FALSE(is_own_depfile("app.o: a.cpp\n"));
}

TEST_CASE("parse_depfile answers or explains at every truncation") {
  const std::string text = "out.o: a\\ b.h \\\n  c$$.h \\\n d.h\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto result = parse_depfile(std::string_view(text).substr(0, size));
    if (!result) CHECK_FALSE(result.error().message.empty());
  }
}
