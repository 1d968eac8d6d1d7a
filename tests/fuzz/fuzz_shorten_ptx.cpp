#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"
#include "tests/support/shortened_ptx.hpp"
#include "tools/stages/shorten_ptx.hpp"

using namespace kiln::testing;
using kiln::tools::shorten_ptx;

FUZZ_TARGET(shorten_ptx, data, size) {
  const std::string text(text_of(data, size));
  const std::string shortened = shorten_ptx(text);
  promise(shorten_ptx(shortened) == shortened, "shorten twice, and once");
  promise(difference_of_ptx(text, shortened).empty(), "the same tokens");
}

FUZZ_SEEDS(shorten_ptx) {
  return {make_ptx(),
          ".version 8.0 .func (.param .b32 r0) f(.param .b32 f_param_0) ;\n"
          ".entry k ( .param .u64 k_param_0 , .param .v2.b32 k_param_1 )\n{ // p0\n"
          "$L__BB0_1 : { .reg .pred p < 3 > ; @!p1 bra $L__BB0_2 ; } ld.param.b32 %r1, [ k_param_0 "
          "+ 4 ];\n"
          "$L__BB0_2: mov.b32 %r2 , k_param_1.x; /* $1 */ call (r0) , f , ( k_param_10 ) ; }\n"
          ".func k {\n$L__BB1_1: bra $L__BB1_01; .pragma \"nounroll\" ; }\n"};
}
