// Cases of requested shapes.
#include "tests/bench/shapes.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/bench/families.hpp"

using namespace kiln;
using namespace kiln::bench;

namespace {

std::vector<BenchCase> cases(const char* kernel, const char* dims, const char* view) {
  return cases_of_shape({kernel}, parse_dims(dims).value(), parse_view(view).value(),
                        DataKind::kUniform);
}

ops::Extents strides_of_only(const char* kernel, const char* dims, const char* view) {
  const std::vector<BenchCase> found = cases(kernel, dims, view);
  REQUIRE(found.size() == 1);
  return found[0].strides.back();
}

bool equal(const ops::Extents& a, const ops::Extents& b) { return to_string(a) == to_string(b); }

}  // namespace

TEST_CASE("a shape is sizes with an x between them") {
  CHECK(equal(parse_dims("1000x77").value(), {1000, 77}));
  CHECK(equal(parse_dims("2^20").value(), {1 << 20}));
  CHECK(equal(parse_dims("3x2^4x1").value(), {3, 16, 1}));
  for (const char* bad : {"", "x", "0", "7x", "x7", "1000x-1", "2^", "2^41", "2^30x2^30", "7 x 7",
                          "1x1x1x1x1x1x1x1x1", "99999999999999999999"}) {
    INFO(bad);
    const auto dims = parse_dims(bad);
    REQUIRE_FALSE(dims);
    CHECK(dims.error().message.find("like 1000x77 or 2^20") != std::string::npos);
  }
  const Windows windows = parse_windows("64,3,2,0").value();
  CHECK(windows.channels == 64);
  CHECK(windows.size == 3);
  CHECK(windows.stride == 2);
  CHECK(windows.padding == 0);
  for (const char* text : {"", "64", "64,3,1", "64,3,1,1,1", "64,0,1,1", "64,3,1,", "a,3,1,1"}) {
    INFO(text);
    CHECK_FALSE(parse_windows(text));
  }
  CHECK_FALSE(parse_view("diagonal"));
  CHECK_FALSE(parse_kind("gaussian"));
}

TEST_CASE("a view's strides are those of the memory that it looks at") {
  CHECK(equal(strides_of_only("ucopy_f32", "5x7", "transposed"), {1, 5}));
  CHECK(equal(strides_of_only("ucopy_f32", "2x5x7x3", "permuted"), {105, 3, 15, 1}));
  CHECK(equal(strides_of_only("ucopy_f32", "5x7", "narrowed"), {14, 1}));
  CHECK(equal(strides_of_only("ucopy_f32", "5x7", "broadcast"), {0, 1}));
}

TEST_CASE("a shape makes a case of each kernel that takes it") {
  CHECK(cases("softmax_f32", "1000x77", "contiguous").at(0).name() == "softmax_f32 1000x77");
  CHECK(cases("ucopy_f32", "5x7", "transposed").at(0).name() == "ucopy_f32 transposed 5x7");
  CHECK(cases("softmax_f32", "1000", "contiguous").empty());     // needs a matrix
  CHECK(cases("softmax_f32", "1000x77", "transposed").empty());  // does not take strides
  CHECK(cases("ucopy_f32", "1000", "transposed").empty());       // one dim cannot be transposed
  CHECK(cases("const_set_f32", "10x10", "broadcast").empty());   // would write elements twice
}
