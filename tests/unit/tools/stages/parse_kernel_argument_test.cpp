#include "tools/stages/parse_kernel_argument.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;
using namespace kiln::tools;

namespace {

std::string elements(const std::string& text) {
  const auto argument = parse_kernel_argument(text);
  INFO(text);
  REQUIRE(argument);
  return elements_text(argument->type, argument->bytes);
}

std::string complaint(const std::string& text) {
  const auto argument = parse_kernel_argument(text);
  return argument ? "none" : argument.error().message;
}

}  // namespace

TEST_CASE("parse_kernel_argument reads values of each type") {
  CHECK(elements("i8:-128") == "-128");
  CHECK(elements("u8:0xff") == "255");
  CHECK(elements("i16:-2") == "-2");
  CHECK(elements("u32:4294967295") == "4294967295");
  CHECK(elements("i64:-9223372036854775808") == "-9223372036854775808");
  CHECK(elements("u64:18446744073709551615") == "18446744073709551615");
  CHECK(elements("f32:1.5") == "1.5");
  CHECK(elements("f64:0.1") == "0.10000000000000001");
  CHECK(elements("bf16:3") == "3");
  CHECK(elements("f16:65504") == "65504");
  CHECK(elements("f16:inf") == "inf");
  CHECK(elements("f16:-0.5") == "-0.5");
  CHECK(elements("f16:6e-8") == "5.96046448e-08");  // the smallest subnormal
  CHECK(elements("f16:2049") == "2048");            // ties to even
  CHECK(elements("f16:2047.7") == "2048");          // up to the next power of two
}

TEST_CASE("parse_kernel_argument refuses values that a type cannot hold") {
  for (const char* text : {"u32:4294967296", "u32:-1", "i8:128", "i8:-129", "u64:18446744073709551616",
                           "i64:9223372036854775808", "f16:65520", "f32:1e99", "f64:1e999", "bf16:4e38"}) {
    INFO(text);
    CHECK(complaint(text).find(" is no ") != std::string::npos);
  }
}

TEST_CASE("parse_kernel_argument makes buffers") {
  CHECK(elements("buf:u16:4:arange") == "0 1 2 3");
  CHECK(elements("buf:f32:2:ones") == "1 1");
  CHECK(elements("buf:i32:3:const=-7") == "-7 -7 -7");
  CHECK(elements("buf:u8:2:zeros") == "0 0");
  CHECK(elements("buf:i32:50:randint=-3,3") == elements("buf:i32:50:randint=-3,3,0"));
  CHECK(elements("buf:u64:3:rand=1") != elements("buf:u64:3:rand=2"));
  const auto printed = parse_kernel_argument("buf:f32:8:none@-");
  REQUIRE(printed);
  CHECK(printed->is_buffer);
  CHECK_FALSE(printed->is_written);
  CHECK(printed->output == "-");
  CHECK(printed->bytes.size() == 32);
  const auto read = parse_kernel_argument("buf:f32::file=in.bin@out.bin");
  REQUIRE(read);
  CHECK(read->input == "in.bin");
  CHECK_FALSE(read->count);
  CHECK(read->output == "out.bin");
}

TEST_CASE("parse_kernel_argument says what is wrong") {
  CHECK(complaint("5") == "argument '5': it is neither TYPE:VALUE nor a buffer");
  CHECK(complaint("i32:x") == "argument 'i32:x': 'x' is no i32");
  CHECK(complaint("f33:1") == "argument 'f33:1': it is neither TYPE:VALUE nor a buffer");
  CHECK(complaint("hex:123") == "argument 'hex:123': hex wants pairs of digits");
  CHECK(complaint("buf:f32:8") == "argument 'buf:f32:8': a buffer is buf:TYPE:COUNT:CONTENTS");
  CHECK(complaint("buf:f32:many:zeros") ==
        "argument 'buf:f32:many:zeros': 'many' is no count of elements");
  CHECK(complaint("buf:f32:8:noise") == "argument 'buf:f32:8:noise': 'noise' are no contents");
  CHECK(complaint("buf:f64:4294967296:zeros") ==
        "argument 'buf:f64:4294967296:zeros': a buffer has at most 1073741824 bytes, 134217728 of "
        "these elements");
  CHECK(complaint("buf:i8:18446744073709551615:none") ==
        "argument 'buf:i8:18446744073709551615:none': a buffer has at most 1073741824 bytes, "
        "1073741824 of these elements");
  CHECK(complaint("buf:i32:8:randint=5,5") ==
        "argument 'buf:i32:8:randint=5,5': randint wants LO,HI or LO,HI,SEED, with LO below HI");
  CHECK(complaint("buf:i32:8:randint=0,5,1,9") ==
        "argument 'buf:i32:8:randint=0,5,1,9': randint wants LO,HI or LO,HI,SEED, with LO below HI");
  CHECK(complaint("buf:i32:8:randint=0,5,x") == "argument 'buf:i32:8:randint=0,5,x': 'x' is no seed: a whole number");
  CHECK(complaint("buf:f32:8:rand=abc") == "argument 'buf:f32:8:rand=abc': 'abc' is no seed: a whole number");
  CHECK(complaint("buf:f32:8:ones=7") == "argument 'buf:f32:8:ones=7': 'ones' takes no value");
  CHECK(complaint("buf:f32:8:arange=2") == "argument 'buf:f32:8:arange=2': 'arange' takes no value");
}
