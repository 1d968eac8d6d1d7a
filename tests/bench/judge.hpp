// The rules that measurements are judged by. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ops/launch.hpp"
#include "tests/bench/cases.hpp"
#include "tests/bench/families.hpp"

namespace kiln::bench {

// Microseconds of one case.
struct Measurement {
  BenchCase subject;
  Cost cost = Cost::kBrief;
  std::string_view module;
  ops::DType dtype = ops::DType::kF32;
  Bound bound = Bound::kMemory;
  bool contiguous = true;
  bool chosen = true;               // by our helpers, for this case
  bool stands_for_original = false;  // so that the original's geometry is no matter
  double min_bytes = 0;

  double own_us = 0;            // ours, in our geometry
  double original_grid_us = 0;  // ours, in the original's
  double empty_us = 0;          // a kernel that does nothing, in the original's
  double copy_us = 0;           // the fastest copy of as many bytes; 0: not measured
  double read_us = 0;           // a kernel that reads as many bytes; 0: not measured
  std::optional<double> original_us;
  std::optional<double> torch_us;
  // Ours, with what makes an input of it: the quantization of a product's activations.
  std::optional<double> with_step_before_us;
  std::optional<double> ggml_us;  // the same by ggml, recorded

  double us(ops::Geometry geometry) const {
    return geometry == ops::Geometry::kOwn ? own_us : original_grid_us;
  }
};

struct Failure {
  ops::Geometry geometry = ops::Geometry::kOwn;
  std::string reason;  // "slower than the original"
  double us = 0;
  double allowed_us = 0;
};
std::string to_string(const Failure& failure);

// Nothing where our helpers choose another kernel. Else, with 5% allowed for noise under 5 us, or 3%:
//   both geometries      not slower than the original
//   contiguous, 4,096    short maps of one or two operands, on 2 and 4 bytes: 0.60 us above the empty node
//   products of a vector our geometry: 85% of the rate of a bare read of 33 MB, 90% from 48 MB on
//   20 us and more:
//   our geometry         contiguous, uniform data: 90% of the copy rate, f64 functions and
//                        convolutions excepted
//   original's geometry  transposing copies: half the copy rate for 2 and 4 bytes, 1.6 times the
//                        empty grid for 1 byte
//   both                 other operations on transposed views: at least 1.3 times the original
std::vector<Failure> judge(const Measurement& measured);

// What can be said of all cases together.
struct Summary {
  // Geometric means over the cases of 20 us and more; nothing where there are none.
  std::optional<double> own_speedup, original_grid_speedup, own_to_torch;
  // Normal data that took more than 1.15 times the uniform data's time.
  std::vector<std::string> slow_on_normal;
  std::vector<std::string> failures;  // of the rules for all: the original's geometry at 2.5
};
Summary summarize(const std::vector<Measurement>& all);

// From here on a product is held to the rate of a bare read.
inline constexpr double kJudgedReadBytes = 33e6;
// From here on a case is long enough to be held to rates.
inline constexpr double kLongCaseUs = 20;

}  // namespace kiln::bench
