#include "formats/ptx.hpp"

#include <catch2/catch_test_macros.hpp>
#include <ctime>
#include <string>
#include <utility>

#include "base/diagnostic.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

constexpr std::string_view kHead = ".version 8.4\n.target sm_80\n.address_size 64\n";

Ptx read(const std::string& text) {
  auto ptx = read_ptx(text);
  if (!ptx) FAIL(render(ptx.error()));
  return std::move(ptx).value();
}

// Returns the only kernel of a PTX file with this text after its head.
KernelInfo kernel_of(const std::string& text) {
  const Ptx ptx = read(std::string(kHead) + text);
  REQUIRE(ptx.kernels.size() == 1);
  return ptx.kernels[0];
}

std::string error_of(const std::string& text) {
  auto ptx = read_ptx(text);
  REQUIRE_FALSE(ptx);
  ptx.error().where.file = "k.ptx";  // as the caller that opened the file would
  return render(ptx.error());
}

}  // namespace

TEST_CASE("read_ptx reads version, target, kernels and their parameters", "[ptx]") {
  const Ptx ptx = read(make_ptx());
  CHECK(ptx.isa == 90);
  CHECK(to_string(ptx.target) == "compute_90a");
  REQUIRE(ptx.kernels.size() == 1);
  const KernelInfo& kernel = ptx.kernels[0];
  CHECK(kernel.name == "scale");
  CHECK(kernel.max_threads == 256u);
  CHECK(kernel.shared_bytes == 384u);
  CHECK_FALSE(kernel.registers);
  const auto is = [&](std::size_t i, unsigned offset, unsigned size, ParameterKind kind) {
    INFO("parameter " << i);
    CHECK(kernel.parameters.at(i).offset == offset);
    CHECK(kernel.parameters.at(i).size == size);
    CHECK(kernel.parameters.at(i).kind == kind);
  };
  REQUIRE(kernel.parameters.size() == 5);
  is(0, 0, 8, ParameterKind::kPointer);
  is(1, 8, 1, ParameterKind::kValue);
  is(2, 16, 40, ParameterKind::kValue);
  is(3, 56, 8, ParameterKind::kValue);
  is(4, 64, 8, ParameterKind::kUnknown);
}

TEST_CASE("read_ptx places parameters at multiples of their alignment", "[ptx]") {
  const KernelInfo kernel = kernel_of(
      ".entry k(.param .b8 a, .param .u16 b, .param .b8 c[3], .param .align 16 .b8 d[5], .param "
      ".f32 e)"
      "{ ret; }");
  const unsigned offsets[] = {0, 2, 4, 16, 24};
  const unsigned sizes[] = {1, 2, 3, 5, 4};
  REQUIRE(kernel.parameters.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(kernel.parameters[i].offset == offsets[i]);
    CHECK(kernel.parameters[i].size == sizes[i]);
  }
}

TEST_CASE("read_ptx takes kernels without parameters, and leaves declarations and functions out",
          "[ptx]") {
  const Ptx ptx =
      read(std::string(kHead) +
           ".extern .entry declared(.param .u64 p);\n"
           ".func (.param .b32 r) helper(.param .u64 .ptr .shared .align 4 p) { { ret; } }\n"
           ".global .align 4 .b8 table[4] = {1, 2, 3, 4};\n"
           ".weak .entry zeta { ret; }\n.visible .entry alpha() { ret; }\n");
  REQUIRE(ptx.kernels.size() == 2);
  CHECK(ptx.kernels[0].name == "alpha");
  CHECK(ptx.kernels[1].name == "zeta");
  CHECK(ptx.kernels[0].shared_bytes == 0u);
}

TEST_CASE("read_ptx adds up shared memory, that of the module where a kernel names it", "[ptx]") {
  const std::string module = ".shared .align 8 .b8 common[100];\n.shared .f32 other;\n";
  CHECK(kernel_of(module + ".entry k() { mov.u32 %r1, common; mov.u32 %r2, common; ret; }")
            .shared_bytes == 100u);
  CHECK(
      kernel_of(module + ".entry k() { .shared .b8 a; .shared .u32 b[2][3]; ret; }").shared_bytes ==
      28u);
  CHECK(kernel_of(module + ".entry k() { ret; }").shared_bytes == 0u);
  CHECK_FALSE(kernel_of(module + ".entry k() { call.uni helper, (); ret; }").shared_bytes);
}

TEST_CASE("read_ptx reads block limits of one to three extents", "[ptx]") {
  CHECK(kernel_of(".entry k() .maxntid 1024 { ret; }").max_threads == 1024u);
  CHECK(kernel_of(".entry k() .reqntid 8, 4 .minnctapersm 2 { ret; }").max_threads == 32u);
  CHECK_FALSE(kernel_of(".entry k() { ret; }").max_threads);
}

TEST_CASE("read_ptx is not led astray by comments, strings and NULs", "[ptx]") {
  const std::string text =
      "/* .version 1.0 */ // .target sm_20\n" + std::string(kHead) +
      "/* .entry a() {} */ .entry k() // {\n{ .pragma \"}{\"; /* } */ ret; }\n";
  CHECK(read(text).kernels.size() == 1);
  CHECK(read(text + std::string("\0.entry m() {", 13)).kernels.size() == 1);
}

TEST_CASE("read_ptx says in which line and column it is lost", "[ptx]") {
  const std::string head(kHead);
  const std::pair<std::string, std::string> kCases[] = {
      {"", "1:1: the PTX ends where '.version' should be"},
      {".version nine\n", "1:10: found 'nine' where a version like '9.0' should be"},
      {".version 9.0\n.target sm_2\n", "2:9: found 'sm_2' where a target like 'sm_80' should be"},
      {".version 9.0\n.target sm_80\n.entry",
       "3:1: found '.entry' where '.address_size' should be"},
      {".version 9.0 .target sm_80 .address_size 32 ",
       "1:45: PTX with addresses of 32 bits: kiln reads 64 alone"},
      {head + ".entry k(.param .u64 a .param .u64 b) {}",
       "4:24: found '.param' where ',' or ')' should be"},
      {head + ".entry k(.reg .u64 a) {}", "4:10: found '.reg' where '.param' or ')' should be"},
      {head + ".entry k(.param a) {}", "4:17: found 'a' where a type should be"},
      {head + ".entry k(.param .u64) {}", "4:21: found ')' where a variable's name should be"},
      {head + ".entry k(.param .b8 a[x]) {}", "4:23: found 'x' where a number should be"},
      {head + ".entry k(.param .b8 a[99999999999]) {}",
       "4:23: found '99999999999' where a number of at most 32 bits should be"},
      {head + ".entry k(.param .b8 a[70000]) {}",
       "4:29: kernel 'k' has more than 65535 bytes of parameters"},
      {head + ".entry k(.param .align 3 .b8 a[4]) {}", "4:26: alignment 3 is not a power of two up to 65536"},
      {head + ".entry k(.param .align 131072 .b8 a[4]) {}", "4:31: alignment 131072 is not a power of two up to 65536"},
      {head + ".entry k() .maxntid 0 {}", "4:23: a block of 0 threads"},
      {head + ".entry k() { ret;", "4:18: the PTX ends where the end of kernel 'k' should be"},
      {head + ".entry k() { ret; }\n.func _Z1f", "5:11: the PTX ends where the rest of '_Z1f' should be"},
      {head + ".func f(", "4:9: the PTX ends where the rest of '(' should be"},
      {head + ".entry k()", "4:11: the PTX ends where the body of kernel 'k' should be"},
      {head + "/* no end",
       "4:1: found '/* no end' where the end of the string or comment should be"},
  };
  for (const auto& [text, message] : kCases) {
    CHECK(error_of(text) == "kiln: error: k.ptx:" + message + "\n");
  }
}

TEST_CASE("read_ptx goes over 6 MB once", "[ptx]") {
  std::string body;
  for (int i = 0; i < 2000; ++i) {
    body +=
        "\tld.global.nc.f32 \t%f" + std::to_string(i) + ", [%rd6+" + std::to_string(4 * i) + "];\n";
  }
  std::string text(kHead);
  int kernels = 0;
  while (text.size() < 6u << 20) {
    text += ".visible .entry k" + std::to_string(kernels++) + "(.param .u64 p) {\n" + body + "}\n";
  }
  const std::clock_t start = std::clock();  // processor time, because the machine may be busy
  const Ptx ptx = read(text);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(ptx.kernels.size() == static_cast<std::size_t>(kernels));
  // Forty times as long as an optimised build takes, for instrumented builds. A reader that is not
  // linear takes minutes.
  CHECK(seconds < 4);
}

TEST_CASE("read_ptx survives every cut and many changes", "[ptx]") {
  const std::string file = make_ptx();
  int errors = 0;
  cut_everywhere(file, [&](Bytes bytes) { errors += read_ptx(as_text(bytes)) ? 0 : 1; });
  CHECK(errors > static_cast<int>(file.size() / 2));
  change_bytes(file, 5, 20000, [](Bytes bytes) { (void)read_ptx(as_text(bytes)); });
}

TEST_CASE("is_ptx looks at the first directive", "[ptx]") {
  CHECK(is_ptx(make_ptx()));
  CHECK(is_ptx(".version"));
  CHECK_FALSE(is_ptx(""));
  CHECK_FALSE(is_ptx("// .version 9.0"));
  CHECK_FALSE(is_ptx(".target sm_80 .version 9.0"));
  CHECK_FALSE(is_ptx("/* .version"));
}
