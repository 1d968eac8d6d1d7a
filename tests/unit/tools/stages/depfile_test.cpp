#include <catch2/catch_test_macros.hpp>

#include "tools/stages/depfile.hpp"

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
  const std::string text = write_depfile("out/include/k.hpp", paths);
  CHECK(text ==
        "out/include/k.hpp: \\\n  /a\\ b/c.cu \\\n  d\\#e \\\n  f$$g \\\n  plain\n"
        "\n/a\\ b/c.cu:\n\nd\\#e:\n\nf$$g:\n\nplain:\n");
  // A name with a newline would be a rule of its own.
  CHECK(write_depfile("k", {"a\nall: ; echo"}) == "k:\n");
  CHECK(parse_depfile(text).value() == paths);
}

TEST_CASE("parse_depfile answers or explains at every truncation") {
  const std::string text = "out.o: a\\ b.h \\\n  c$$.h \\\n d.h\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto result = parse_depfile(std::string_view(text).substr(0, size));
    if (!result) CHECK_FALSE(result.error().message.empty());
  }
}
