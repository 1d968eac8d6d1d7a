#include "tests/bench/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace kiln::bench {
namespace {

using ops::Geometry;

constexpr Geometry kGeometries[] = {Geometry::kOwn, Geometry::kReference};

double with_noise(double us) { return us * (us < 5 ? 1.05 : 1.03); }

bool is_short_and_common(const Measurement& measured) {
  constexpr std::string_view kMaps[] = {"affine", "binary", "cast", "fill", "unary"};
  const std::size_t width = size_of(measured.dtype);
  return std::ranges::find(kMaps, measured.module) != std::end(kMaps) && measured.cost != Cost::kLong &&
         (width == 2 || width == 4);
}

class Judge {
 public:
  explicit Judge(const Measurement& measured) : measured_(measured) {}

  void check_limit(Geometry geometry, double limit_us, const char* reason) {
    const double us = measured_.us(geometry), allowed = with_noise(limit_us);
    if (us > allowed) failures_.push_back({geometry, reason, us, allowed});
  }

  std::vector<Failure> run() && {
    if (!measured_.chosen) return {};
    for (const Geometry geometry : kGeometries) {
      if (measured_.stands_for_original && geometry == Geometry::kReference) continue;
      if (measured_.original_us) {
        check_limit(geometry, *measured_.original_us, "slower than the original");
      }
      judge_small(geometry);
      if (measured_.us(geometry) >= kLongCaseUs) judge_long(geometry);
    }
    judge_reads();
    return std::move(failures_);
  }

 private:
  void judge_reads() {
    constexpr double kLarge = 48e6;
    if (measured_.bound != Bound::kReads || measured_.read_us == 0) return;
    if (measured_.min_bytes >= kLarge) {
      check_limit(Geometry::kOwn, measured_.read_us / 0.90, "90% of the rate of a bare read");
    } else {
      check_limit(Geometry::kOwn, measured_.read_us / 0.85, "85% of the rate of a bare read");
    }
  }

  void judge_small(Geometry geometry) {
    constexpr double kRoundTripUs = 0.60;
    if (!measured_.contiguous || measured_.subject.count() != 4096) return;
    if (!is_short_and_common(measured_)) return;
    check_limit(geometry, measured_.empty_us + kRoundTripUs, "0.60 us above the empty node");
  }

  void judge_long(Geometry geometry) {
    const View view = measured_.subject.view;
    const std::size_t width = size_of(measured_.dtype);
    const bool is_f64_function =
        measured_.dtype == ops::DType::kF64 && measured_.cost == Cost::kLong;
    if (geometry == Geometry::kOwn && measured_.contiguous && measured_.copy_us > 0 &&
        measured_.bound == Bound::kMemory && measured_.subject.kind == DataKind::kUniform &&
        !is_f64_function) {
      check_limit(geometry, measured_.copy_us / 0.90, "90% of the copy rate");
    }
    if (view != View::kTransposed) return;
    if (measured_.cost != Cost::kMove) {
      if (measured_.original_us) {
        check_limit(geometry, *measured_.original_us / 1.3, "1.3 times the original");
      }
    } else if (geometry == Geometry::kReference && measured_.subject.kernel.starts_with("ucopy")) {
      if ((width == 2 || width == 4) && measured_.copy_us > 0) {
        check_limit(geometry, 2 * measured_.copy_us, "half the copy rate");
      }
      if (width == 1) check_limit(geometry, 1.6 * measured_.empty_us, "1.6 times the empty grid");
    }
  }

  const Measurement& measured_;
  std::vector<Failure> failures_;
};

class GeometricMean {
 public:
  void add(double ratio) {
    sum_ += std::log(ratio);
    ++count_;
  }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return std::exp(sum_ / static_cast<double>(count_));
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

const char* name(Geometry geometry) { return geometry == Geometry::kOwn ? "own" : "original's"; }

std::string compared(const Measurement& normal, const Measurement& uniform, Geometry geometry) {
  char text[160];
  std::snprintf(text, sizeof text, "%s, %s geometry: %.2f us, %.2f times uniform data",
                normal.subject.name().c_str(), name(geometry), normal.us(geometry),
                normal.us(geometry) / uniform.us(geometry));
  return text;
}

}  // namespace

std::string to_string(const Failure& failure) {
  char text[160];
  std::snprintf(text, sizeof text, "%s: %s: %.2f us, allowed %.2f", name(failure.geometry),
                failure.reason.c_str(), failure.us, failure.allowed_us);
  return text;
}

std::vector<Failure> judge(const Measurement& measured) { return Judge(measured).run(); }

Summary summarize(const std::vector<Measurement>& all) {
  GeometricMean own, original_grid, torch;
  std::map<std::string, const Measurement*> uniform;
  for (const Measurement& each : all) {
    if (each.subject.kind == DataKind::kUniform) uniform[each.subject.name()] = &each;
    if (each.torch_us && *each.torch_us >= kLongCaseUs) torch.add(*each.torch_us / each.own_us);
    if (!each.original_us || *each.original_us < kLongCaseUs || !each.chosen) continue;
    own.add(*each.original_us / each.own_us);
    if (!each.stands_for_original) original_grid.add(*each.original_us / each.original_grid_us);
  }
  Summary summary{own.value(), original_grid.value(), torch.value(), {}, {}};
  for (const Measurement& each : all) {
    if (each.subject.kind != DataKind::kNormal) continue;
    BenchCase same = each.subject;
    same.kind = DataKind::kUniform;
    const auto found = uniform.find(same.name());
    if (found == uniform.end()) continue;
    for (const Geometry geometry : kGeometries) {
      const double limit = 1.15 * found->second->us(geometry);
      if (each.us(geometry) <= (limit < 5 ? with_noise(limit) : limit)) continue;
      summary.slow_on_normal.push_back(compared(each, *found->second, geometry));
    }
  }
  if (summary.original_grid_speedup && *summary.original_grid_speedup < 2.5) {
    char text[96];
    std::snprintf(text, sizeof text,
                  "original's geometry: geometric mean %.2f, at least 2.5 wanted",
                  *summary.original_grid_speedup);
    summary.failures.push_back(text);
  }
  for (const std::string& each : summary.slow_on_normal) summary.failures.push_back(each);
  return summary;
}

}  // namespace kiln::bench
