#include "tests/bench/judge.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "tests/kernels/families/family.hpp"

namespace kiln::bench {
namespace {

constexpr double kNoise = 1.03;

bool is_narrow_transcendental(std::string_view kernel) {
  static constexpr std::string_view kOps[] = {
      "ucos",     "uelu",  "uerf",     "uexp",  "ugelu", "ugelu_erf", "ulog",
      "unormcdf", "upowf", "usigmoid", "usilu", "usin",  "utanh",
  };
  const auto parts = conformance::split_dtype(kernel);
  return parts && (parts->dtype == ops::DType::kF16 || parts->dtype == ops::DType::kBF16) &&
         std::find(std::begin(kOps), std::end(kOps), parts->root) != std::end(kOps);
}

Judgement at_most(double us, double limit, const char* rule) {
  if (us <= limit) return {Outcome::kPass, rule};
  char text[96];
  std::snprintf(text, sizeof text, "%s: allowed %.1f us", rule, limit);
  return {Outcome::kFail, text};
}

Judgement judge_own(const Measurement& measured) {
  if (measured.contiguous && !is_narrow_transcendental(measured.kernel)) {
    return at_most(measured.us, measured.copy_us / 0.90 * kNoise, "90% of copy rate");
  }
  if (!measured.torch_us) return {Outcome::kPass, "no PyTorch time"};
  return at_most(measured.us, *measured.torch_us * kNoise, "PyTorch");
}

Judgement judge_reference(const Measurement& measured) {
  if (!measured.contiguous) return {Outcome::kPass, ""};
  return at_most(measured.us, 1.4 * std::max(measured.copy_us, measured.empty_us), "1.4 x floor");
}

}  // namespace

Judgement judge(const Measurement& measured) {
  if (measured.us < 20) return {Outcome::kReported, "under 20 us"};
  const Judgement judgement =
      measured.geometry == ops::Geometry::kOwn ? judge_own(measured) : judge_reference(measured);
  if (judgement.outcome == Outcome::kFail) return judgement;
  const Judgement original = at_most(measured.us, measured.original_us * kNoise, "original");
  return original.outcome == Outcome::kFail || judgement.reason.empty() ? original : judgement;
}

}  // namespace kiln::bench
