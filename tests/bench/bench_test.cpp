#include <catch2/catch_test_macros.hpp>

#include "tests/bench/judge.hpp"
#include "tests/bench/recorded.hpp"

namespace kiln::bench {
namespace {

Measurement contiguous(const char* kernel, double us) {
  Measurement measured;
  measured.kernel = kernel;
  measured.us = us;
  measured.copy_us = 256;
  measured.empty_us = 131;
  measured.original_us = 500;
  measured.torch_us = 300;
  return measured;
}

TEST_CASE("judge asks contiguous cases of our geometry for 90% of the copy rate") {
  CHECK(judge(contiguous("uexp_f32", 256)).outcome == Outcome::kPass);
  CHECK(judge(contiguous("uexp_f32", 292)).outcome == Outcome::kPass);  // with 3% for noise
  const Judgement slow = judge(contiguous("uexp_f32", 294));
  CHECK(slow.outcome == Outcome::kFail);
  CHECK(slow.reason == "90% of copy rate: allowed 293.0 us");
}

TEST_CASE("judge asks transcendental half cases and strided ones for PyTorch's speed") {
  CHECK(judge(contiguous("uexp_bf16", 308)).outcome == Outcome::kPass);
  CHECK(judge(contiguous("uexp_bf16", 310)).outcome == Outcome::kFail);
  CHECK(judge(contiguous("urelu_bf16", 308)).outcome == Outcome::kFail);  // not transcendental
  Measurement strided = contiguous("ucopy_f32", 308);
  strided.contiguous = false;
  CHECK(judge(strided).outcome == Outcome::kPass);
  strided.us = 310;
  CHECK(judge(strided).outcome == Outcome::kFail);
  strided.torch_us.reset();
  CHECK(judge(strided).outcome == Outcome::kPass);
  strided.us = 600;  // slower than the original
  CHECK(judge(strided).outcome == Outcome::kFail);
}

TEST_CASE("judge asks the reference geometry for 1.4 times the larger of copy and empty launch") {
  Measurement measured = contiguous("uexp_f16", 358);
  measured.geometry = ops::Geometry::kReference;
  CHECK(judge(measured).outcome == Outcome::kPass);
  measured.us = 359;
  CHECK(judge(measured).outcome == Outcome::kFail);
  measured.empty_us = 300;
  CHECK(judge(measured).outcome == Outcome::kPass);
  measured.original_us = 340;
  CHECK(judge(measured).outcome == Outcome::kFail);
}

TEST_CASE("judge reports cases under 20 us") {
  Measurement measured = contiguous("usilu_bf16", 19.9);
  measured.original_us = 1.5;
  CHECK(judge(measured).outcome == Outcome::kReported);
}

TEST_CASE("the recording's cases can all be launched") {
  const auto recorded = recording();
  REQUIRE(recorded);
  CHECK(recorded->cases.size() == 24);
  for (const RecordedCase& each : recorded->cases) {
    INFO(each.name);
    for (const ops::Geometry geometry : {ops::Geometry::kOwn, ops::Geometry::kReference}) {
      const auto launch = plan(each, nullptr, nullptr, geometry);
      REQUIRE(launch);
      CHECK(launch->kernel == each.kernel);
    }
    const auto operands = operands_of(each);
    REQUIRE(operands);
    CHECK(static_cast<double>(operands->inp_bytes + operands->out_bytes) >= each.min_bytes);
    CHECK(each.original_us > 0);
  }
}

TEST_CASE("a damaged recording is an error that says where") {
  CHECK_FALSE(parse_recording("{"));
  CHECK_FALSE(
      parse_recording(R"({"gpu": "x", "original": "", "torch": "", "how": "", "cases": [{}]})"));
}

}  // namespace
}  // namespace kiln::bench
