#include "tests/bench/families.hpp"

#include <catch2/catch_test_macros.hpp>

namespace kiln::bench {
namespace {

bool equal(const ops::Launch& a, const ops::Launch& b) {
  if (a.kernel != b.kernel || a.module != b.module || a.layout != b.layout) return false;
  if (a.arguments.size() != b.arguments.size()) return false;
  for (std::size_t i = 0; i < a.arguments.size(); ++i) {
    const ops::Argument &left = a.arguments[i], &right = b.arguments[i];
    if (left.size() != right.size() || std::memcmp(left.data(), right.data(), left.size()) != 0)
      return false;
  }
  return a.grid.x == b.grid.x && a.block.x == b.block.x && a.shared_bytes == b.shared_bytes;
}

BenchCase transposed(const char* kernel) {
  BenchCase subject = contiguous_case(kernel, 4096);
  subject.dims = {32, 128};
  subject.strides = {{1, 32}};
  return subject;
}

// Two descriptions of one launch, made apart from each other.
TEST_CASE("the original's launch is what our helpers plan in its geometry") {
  int memory[2];
  Addresses addresses{{&memory[0]}, &memory[1]};
  BenchCase rows = contiguous_case("copy2d_f16", 1);
  rows.dims = {300, 40};
  rows.strides = {{64, 1}, {80, 1}};
  for (const BenchCase& subject :
       {contiguous_case("affine_f32", 4096), contiguous_case("affine_i64", 1),
        contiguous_case("uneg_f16", 4097), contiguous_case("upowf_f64", 1000),
        contiguous_case("uelu_fp8_e4m3", 5), contiguous_case("ucopy_u8", std::size_t{1} << 28),
        contiguous_case("fill_bf16", 4096), contiguous_case("const_set_f8_e4m3", 77),
        transposed("affine_u8"), transposed("ucopy_i64"), transposed("const_set_f32"), rows}) {
    INFO(subject.name());
    const auto ours = plan_ours(subject, addresses, ops::Geometry::kReference);
    const auto original = plan_original(subject, addresses);
    REQUIRE(ours);
    REQUIRE(original);
    CHECK(equal(*ours, *original));
  }
}

TEST_CASE("a case touches what its operands hold, a repeated element once") {
  const auto bytes = [](const BenchCase& subject) { return operands_of(subject)->min_bytes(); };
  CHECK(bytes(contiguous_case("affine_f32", 4096)) == 32768);
  CHECK(bytes(contiguous_case("fill_f64", 4096)) == 32768);
  CHECK(bytes(transposed("ucopy_u8")) == 8192);
  BenchCase broadcast = transposed("ucopy_f32");
  broadcast.strides = {{0, 1}};
  CHECK(bytes(broadcast) == 4 * (128 + 4096));
  BenchCase rows = contiguous_case("copy2d_f16", 1);
  rows.dims = {300, 40};
  rows.strides = {{64, 1}, {80, 1}};
  CHECK(bytes(rows) == 2 * 2 * 300 * 40);
  CHECK(operands_of(rows)->inputs[0].bytes() == 2 * (299 * 64 + 40));
  CHECK_FALSE(operands_of(rows)->is_contiguous());
}

TEST_CASE("a kernel of no family is an error that names it") {
  CHECK_FALSE(traits_of("frobnicate_f32"));
  CHECK_FALSE(traits_of("uneg"));
  CHECK(traits_of("upowf_f32")->cost == Cost::kLong);
  CHECK(traits_of("ugelu_erf_bf16")->cost == Cost::kFunction);
}

}  // namespace
}  // namespace kiln::bench
