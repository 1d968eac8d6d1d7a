#include "tests/bench/judge.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/bench/report.hpp"

namespace kiln::bench {
namespace {

using ops::Geometry;

Measurement measured(const char* kernel, std::size_t count, double own_us, double original_grid_us,
                     double original_us) {
  Measurement result;
  result.subject = *sized_case(kernel, count);
  const KernelTraits traits = *traits_of(kernel);
  result.module = traits.module;
  result.cost = traits.cost;
  result.dtype = traits.dtype;
  result.own_us = own_us;
  result.original_grid_us = original_grid_us;
  result.original_us = original_us;
  result.empty_us = 0.75;
  return result;
}

Measurement large(const char* kernel, double own_us, double original_grid_us) {
  Measurement result = measured(kernel, std::size_t{1} << 27, own_us, original_grid_us, 500);
  result.copy_us = 256;
  result.empty_us = 131;
  return result;
}

Measurement transposed(const char* kernel, double own_us, double original_grid_us) {
  Measurement result = large(kernel, own_us, original_grid_us);
  result.subject.view = View::kTransposed;
  result.contiguous = false;
  return result;
}

std::vector<std::string> reasons(const Measurement& measurement) {
  std::vector<std::string> list;
  for (const Failure& failure : judge(measurement)) {
    list.push_back((failure.geometry == Geometry::kOwn ? "own: " : "original's: ") +
                   failure.reason);
  }
  return list;
}
using Reasons = std::vector<std::string>;

TEST_CASE("no case may be slower than the original, in neither geometry") {
  CHECK(judge(measured("uexp_f32", 131072, 1.57, 1.57, 1.5)).empty());  // 5% noise below 5 us
  CHECK(reasons(measured("uexp_f32", 131072, 1.58, 1.58, 1.5)) ==
        Reasons{"own: slower than the original", "original's: slower than the original"});
  CHECK(judge(measured("uexp_f32", 1 << 20, 10.3, 10.2, 10)).empty());  // 3% above
  CHECK(reasons(measured("uexp_f32", 1 << 20, 10, 10.4, 10)) ==
        Reasons{"original's: slower than the original"});
  Measurement unknown = measured("uexp_f32", 131072, 9, 9, 0);
  unknown.original_us.reset();
  CHECK(judge(unknown).empty());
}

TEST_CASE("4,096 elements of short operations take 0.60 us beside the empty node") {
  CHECK(judge(measured("uneg_f32", 4096, 1.41, 1.41, 2)).empty());
  // The original is slower still.
  CHECK(reasons(measured("uneg_f32", 4096, 1.43, 1.41, 2)) ==
        Reasons{"own: 0.60 us above the empty node"});
  CHECK(judge(measured("uneg_f64", 4096, 1.5, 1.5, 2)).empty());
  CHECK(judge(measured("uexp_f32", 4096, 1.5, 1.5, 2)).empty());
  CHECK(judge(measured("gather_u32_f32", 4096, 1.5, 1.5, 2)).empty());
}

TEST_CASE("our geometry reaches 90% of the copy rate on uniform contiguous data") {
  CHECK(judge(large("uexp_f32", 292, 290)).empty());
  CHECK(reasons(large("uexp_f32", 294, 290)) == Reasons{"own: 90% of the copy rate"});
  CHECK(judge(large("uexp_f64", 400, 400)).empty());  // exempt: compute-bound
  CHECK_FALSE(judge(large("uneg_f64", 400, 400)).empty());
  Measurement normal = large("uexp_f32", 294, 290);
  normal.subject.kind = DataKind::kNormal;
  CHECK(judge(normal).empty());
}

TEST_CASE("transposing copies are held to the copy rate in the original's geometry") {
  CHECK(judge(transposed("ucopy_f32", 450, 520)).size() == 1);  // slower than the original's 500
  CHECK(reasons(transposed("ucopy_f32", 450, 530)) ==
        Reasons{"original's: slower than the original", "original's: half the copy rate"});
  CHECK(judge(transposed("ucopy_u8", 200, 215)).empty());
  CHECK(reasons(transposed("ucopy_u8", 200, 217)) ==
        Reasons{"original's: 1.6 times the empty grid"});
  CHECK(judge(transposed("ugelu_f32", 390, 390)).empty());
  CHECK(reasons(transposed("ugelu_f32", 390, 400)) ==
        Reasons{"original's: 1.3 times the original"});
}

TEST_CASE("the summary knows geometric means and data that takes longer") {
  Measurement uniform = large("upowf_f32", 250, 125);
  Measurement normal = uniform;
  normal.subject.kind = DataKind::kNormal;
  normal.own_us = 288;
  normal.original_grid_us = 140;
  const Summary summary = summarize({uniform, normal});
  REQUIRE(summary.own_speedup);
  CHECK(summary.slow_on_normal.size() == 1);
  CHECK(summary.failures.size() == 1);
  CHECK(*summary.original_grid_speedup > 2.5);
  CHECK_FALSE(summary.own_to_torch);

  const Summary slow = summarize({large("uexp_f32", 250, 250)});
  CHECK(*slow.own_speedup == 2);
  CHECK(slow.failures.size() == 1);
  CHECK_FALSE(summarize({measured("uneg_f32", 4096, 1, 1, 1)}).own_speedup);
}

TEST_CASE("the conclusion names the worst case of each kind of data") {
  Measurement good = large("uexp_f32", 250, 125), bad = large("uneg_f32", 400, 400);
  bad.subject.kind = DataKind::kNegative;
  const std::string text = conclusion({good, bad}, summarize({good, bad}));
  CHECK(text.find("uniform  data, own        geometry: 2.00x") != std::string::npos);
  CHECK(text.find("1.25x the original's speed: uneg_f32 2^27 negative") != std::string::npos);
  CHECK(table_row(bad, judge(bad)).find("FAIL") == std::string::npos);
  CHECK(to_json({}, {good, bad}).find("\"case\": \"uneg_f32 2^27 negative\"") != std::string::npos);
}

TEST_CASE("a kernel that our helpers do not choose for a case is not judged") {
  Measurement beside = measured("split_extreme_u8", 256, 3.2, 3.2, 2);
  beside.stands_for_original = true;
  CHECK(reasons(beside) == Reasons{"own: slower than the original"});  // own geometry only
  beside.chosen = false;
  CHECK(judge(beside).empty());
  CHECK(table_row(beside, judge(beside)).find("other kernel") != std::string::npos);
}

TEST_CASE("PyTorch's times are read by name") {
  const auto times = parse_torch_times(R"({"us": {"uneg_f32 2^22": 3.5, "fill_u8 1": null}})");
  REQUIRE(times);
  CHECK(times->size() == 1);
  CHECK(times->at("uneg_f32 2^22") == 3.5);
  CHECK_FALSE(parse_torch_times("{}"));
}

TEST_CASE("a product of one vector is held to the rate of a bare read") {
  Measurement product = measured("mul_mat_vec_q4_0_q8_1_cuda1", 1 << 20, 13.9, 13.9, 20);
  product.bound = traits_of("mul_mat_vec_q4_0_q8_1_cuda1")->bound;
  product.min_bytes = 33e6;
  product.read_us = 11.5;
  CHECK(judge(product).empty());
  product.min_bytes = 48e6;
  CHECK(reasons(product) == Reasons{"own: 90% of the rate of a bare read"});
  product.own_us = 14.2;
  product.min_bytes = 33e6;
  CHECK(reasons(product) == Reasons{"own: 85% of the rate of a bare read"});
  CHECK(traits_of("mul_mat_vec_q4_0_q8_1_cuda2")->bound == Bound::kArithmetic);

  product.with_step_before_us = 16;
  product.ggml_us = 20;
  const std::string row = table_row(product, {});
  CHECK(row.find("\n    81% of the rate of a bare read, 11.50 us\n") != std::string::npos);
  CHECK(row.find("its activations: 16.00 us; ggml, recorded: 20.00 us, 1.25x\n") !=
        std::string::npos);
}

}  // namespace
}  // namespace kiln::bench
