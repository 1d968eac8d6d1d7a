#include "tools/stages/shorten_ptx.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "formats/ptx.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/sample_images.hpp"
#include "tests/support/shortened_ptx.hpp"

using namespace kiln;
using namespace kiln::testing;
using kiln::tools::shorten_ptx;

namespace {

const std::string kHead = ".version 8.4\n.target sm_80\n.address_size 64\n";

// Returns what becomes of a text after a head.
std::string shortened(const std::string& text) {
  const std::string before = kHead + text, after = shorten_ptx(before);
  CHECK(difference_of_ptx(before, after).empty());
  CHECK(shorten_ptx(after) == after);
  REQUIRE(after.starts_with(kHead));
  return after.substr(kHead.size());
}

bool stays(const std::string& text) { return shorten_ptx(text) == text; }

}  // namespace

TEST_CASE("shorten_ptx removes comments, blank lines and blanks at the ends of lines") {
  CHECK(shorten_ptx("//\n// made by a compiler\n//\n\n.version 8.4\r\n  .target sm_80 \n\n\n") ==
        ".version 8.4\n.target sm_80\n");
  CHECK(shortened("// a \\\n\t.reg .b32 \t%r<3>; // b\n/* c\n d */ ret; /* e */") ==
        ".reg .b32 %r<3>;\nret;\n");
  CHECK(shortened("") == "");
}

TEST_CASE("shorten_ptx removes blanks beside a mark, and keeps one between words") {
  CHECK(shortened(".func f(){mov.b64 \t{%r1, %r2}, %rd1 ;}\n") ==
        ".func f(){mov.b64{%r1,%r2},%rd1;}\n");
  CHECK(shortened(".func f(){ld.global.v2.u32 {%r1, _}, [ %rd1+-8 ];}") ==
        ".func f(){ld.global.v2.u32{%r1,_},[%rd1+-8];}\n");
  CHECK(shortened("call.uni (retval0), f, (param0, param1);") ==
        "call.uni(retval0),f,(param0,param1);\n");
  CHECK(shortened("@!%p1  bra\tL1;\nL1:  setp.eq.s32 %p1|%p2, %r1, -4;") ==
        "@!%p1 bra L1;\nL1: setp.eq.s32 %p1|%p2,%r1,-4;\n");
  CHECK(shortened("a/**/b 0f3F800000 /**/ 0d3FF0000000000000 5 % 3 5 %(3)") ==
        "a b 0f3F800000 0d3FF0000000000000 5 % 3 5 %(3)\n");
  // With or without these, another token might begin.
  CHECK(shortened("x = 1e -3 + / / - > =;") == "x = 1e -3 + / / - > =;\n");
  CHECK(shortened(".global .align 4 .b8 x[4] = {1, 2};") == ".global .align 4 .b8 x[4]={1,2};\n");
}

TEST_CASE("shorten_ptx keeps what strings say, and lines") {
  CHECK(shortened(".pragma  \"no  unroll // ;\" ;\n\n.file\t1 \"/a b/*.cu\"\n.loc\t1 2  3\n") ==
        ".pragma \"no  unroll // ;\";\n.file 1 \"/a b/*.cu\"\n.loc 1 2 3\n");
  CHECK(shortened(".entry k\n(\n  .param .u64 a\n)\n{ ret; exit; }") ==
        ".entry k\n(\n.param .u64 a\n)\n{ret;exit;}\n");
}

TEST_CASE("shorten_ptx gives labels of a body short names") {
  CHECK(shortened(".entry k{\n$L__BB0_1:\n{ @%p1 bra $L__BB0_12; }\n$L__BB0_12: bra $L__BB0_1;}\n"
                  ".func f{$L__BB1_1: $L_brx_0: .branchtargets $L__BB1_1,$L__BB1_2;$L__BB1_2:}") ==
        ".entry k{\n$1:\n{@%p1 bra $12;}\n$12: bra $1;}\n"
        ".func f{$1: $L_brx_0: .branchtargets $1,$2;$2:}\n");
  // "$3" might be such a label.
  CHECK(shortened(".entry k{$L__BB0_1: bra $L__BB0_1; $3:}") == ".entry k{$L1: bra $L1;$3:}\n");
  CHECK(shortened(".entry k{$L__BB0_1: $0: $L0: .reg .b32 $B<2>; $_9:}") ==
        ".entry k{$L__BB0_1: $0: $L0: .reg .b32 $B<2>;$_9:}\n");
  for (const char* text : {".entry k{$L__BB0_1: $L__BB1_1:}\n",  // of two bodies
                           ".global .u64 x[1]={$L__BB0_1};\n.entry k{$L__BB0_1:}\n",  // of none
                           ".entry k{$L__BB_1: $L__BB1: $L__BB: $L__BBx_1: $L__BB1_x:}\n"}) {
    CHECK(shortened(text) == text);
  }
}

TEST_CASE("shorten_ptx gives parameters of an entry or a function short names") {
  CHECK(shortened(
            ".visible .entry k(.param .u64 .ptr .global .align 16 k_param_0,.param .align 8 .b8 "
            "k_param_10[20]){ld.param.u64 %rd1,[k_param_0];ld.param.u32 %r1,[k_param_10+4];}") ==
        ".visible .entry k(.param .u64 .ptr .global .align 16 p0,.param .align 8 .b8 "
        "p10[20]){ld.param.u64 %rd1,[p0];ld.param.u32 %r1,[p10+4];}\n");
  // Declarations, and functions with a result. A call has names of its own.
  CHECK(
      shortened(".extern .func (.param .b32 func_retval0) f (.param .b32 f_param_0) ;\n"
                ".weak .func .noreturn g(.param .b32 g_param_0)\n{\n{\n.param .b32 param0;\n"
                "call (retval0), f, (param0);\n}\nmov.b32 %r1, g_param_0.x;\n}\n.alias h, g;\n") ==
      ".extern .func(.param .b32 func_retval0)f(.param .b32 p0);\n"
      ".weak .func .noreturn g(.param .b32 p0)\n{\n{\n.param .b32 param0;\n"
      "call(retval0),f,(param0);\n}\nmov.b32 %r1,p0.x;\n}\n.alias h,g;\n");
  // Only the function's own: not those of another, and no variable that is called alike.
  CHECK(
      shortened(".global .u32 k_param_7;.entry k(.param .u64 k_param_0,.param .u64 f_param_0)"
                "{mov.u64 %r1,k_param_7;mov.u64 %r2,f_param_0;}.func g{mov.u64 %r3,k_param_0;}") ==
      ".global .u32 k_param_7;.entry k(.param .u64 p0,.param .u64 f_param_0)"
      "{mov.u64 %r1,k_param_7;mov.u64 %r2,f_param_0;}.func g{mov.u64 %r3,k_param_0;}\n");
  // A prototype names nothing; a register of a nested scope may be called p.
  CHECK(shortened(
            ".entry k(.param .u64 k_param_0){P: .callprototype (.param .b32 _) _ (.param .b64 _);"
            "{.reg .pred p; @p bra L; }}") ==
        ".entry k(.param .u64 p0){P: .callprototype(.param .b32 _)_(.param .b64 _);"
        "{.reg .pred p;@p bra L;}}\n");
  for (const char* other :
       {".reg .pred p7", ".reg .pred p<3>", "mov.b32 p1.x", ".reg .b32 p <2>", ".align 4p0"}) {
    INFO(other);
    const std::string text = ".entry k(.param .u64 k_param_0){" + std::string(other) + ";}\n";
    CHECK(shortened(text).starts_with(".entry k(.param .u64 q0)"));
  }
  CHECK(shortened(".entry p0(.param .u64 p0_param_0){.reg .b32 q<2>, p_<2>; q_1: }") ==
        ".entry p0(.param .u64 p0_param_0){.reg .b32 q<2>,p_<2>;q_1:}\n");
}

TEST_CASE("shorten_ptx keeps parameters whose names ptxas writes into the cubin") {
  for (const char* type : {".texref", ".samplerref", ".surfref"}) {
    const std::string text = ".entry k(.param " + std::string(type) + " k_param_0){";
    CHECK(shortened(text + "ret;}") == text + "ret;}\n");
  }
}

TEST_CASE("shorten_ptx returns a text that it does not understand as it is") {
  for (const char* rest : {".section .debug_str { }",
                           ".pragma \"a",
                           "/* a",
                           ".pragma \"a\\\"b\";",
                           ".pragma \"a\nb\";",
                           "#define A 1",
                           "a \\ b",
                           "a ' b",
                           "\xc3\xa4 ;",
                           "{ ( } )",
                           "}",
                           ")",
                           "{",
                           ".entry",
                           ".entry k",
                           ".entry ;",
                           ".entry { }",
                           ".entry k .entry l;",
                           ".func () { }",
                           ".entry k() .pragma \"nounroll\"; { ret; }"}) {
    INFO(rest);
    CHECK(stays(kHead + "  " + rest));
  }
  CHECK(stays(kHead + "  ret;" + std::string(1, '\0') + "  ret;"));
  for (const char* text : {"", "  ", "// .version", "  .target sm_80", "BC\xc0\xde",
                           "\x7f"
                           "ELF  "}) {
    CHECK(stays(text));
  }
}

TEST_CASE("shorten_ptx changes nothing that kiln reads") {
  const auto before = read_ptx(make_ptx()), after = read_ptx(shorten_ptx(make_ptx()));
  REQUIRE(before);
  REQUIRE(after);
  CHECK(after->isa == before->isa);
  CHECK(after->target == before->target);
  REQUIRE(after->kernels.size() == 1);
  CHECK(after->kernels[0].name == before->kernels[0].name);
  const auto same = [](const Parameter& a, const Parameter& b) {
    return a.offset == b.offset && a.size == b.size && a.kind == b.kind;
  };
  CHECK(std::ranges::equal(after->kernels[0].parameters, before->kernels[0].parameters, same));
  CHECK(after->kernels[0].shared_bytes == before->kernels[0].shared_bytes);
  CHECK(after->kernels[0].max_threads == before->kernels[0].max_threads);
}

TEST_CASE("shorten_ptx keeps the tokens of damaged texts") {
  const auto check = [](std::span<const std::byte> bytes) {
    const std::string before(as_text(bytes)), after = shorten_ptx(before);
    CHECK(difference_of_ptx(before, after) == "");
    CHECK(shorten_ptx(after) == after);
  };
  cut_everywhere(make_ptx(), check);
  change_bytes(make_ptx(), 1, 500, check);
}
