// The rules that measurements are judged by. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ops/launch.hpp"
#include "tests/bench/cases.hpp"
#include "tests/bench/families.hpp"

namespace kiln::bench {

// The times of one case, in microseconds.
struct Measurement {
  BenchCase subject;
  Cost cost = Cost::kBrief;
  std::string_view module;
  ops::DType dtype = ops::DType::kF32;
  Bound bound = Bound::kMemory;
  bool contiguous = true;
  bool chosen = true;               // kiln's helpers choose this kernel for the case
  // The kernel has a name of kiln's own, so the reference geometry is not judged.
  bool stands_for_original = false;
  double min_bytes = 0;

  double own_us = 0;            // kiln's kernel in its own geometry
  double original_grid_us = 0;  // kiln's kernel in the reference geometry
  double empty_us = 0;          // a kernel that does nothing, in the reference geometry
  double copy_us = 0;           // the fastest copy of as many bytes; 0: not measured
  double read_us = 0;           // a kernel that reads as many bytes; 0: not measured
  std::optional<double> original_us;
  std::optional<double> torch_us;
  // Own geometry, including the launch that prepares an input: the quantization of the activations
  // of a product.
  std::optional<double> with_step_before_us;
  std::optional<double> ggml_us;  // the same work by ggml, recorded

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

// Returns the rules that a measurement fails; none if kiln's helpers choose another kernel. Noise
// of 5% is allowed below 5 us, otherwise 3%. The rules:
//   both geometries      not slower than the original
//   contiguous, 4,096    short maps of 1 or 2 operands, 2 or 4 bytes: 0.60 us above the empty node
//   product of a vector  own geometry: 85% of the rate of a bare read of 33 MB, 90% from 48 MB on
//   20 us and more:
//   own geometry         contiguous, uniform data: 90% of the copy rate, except for f64 functions
//                        and convolutions
//   reference geometry   transposing copies: half the copy rate for 2 and 4 bytes, 1.6 times the
//                        empty grid for 1 byte
//   both geometries      other operations on transposed views: 1.3 times as fast as the original
std::vector<Failure> judge(const Measurement& measured);

// The results over all cases.
struct Summary {
  // Geometric means over the cases of 20 us and more; absent if there are none.
  std::optional<double> own_speedup, original_grid_speedup, own_to_torch;
  // Cases in which normal data took more than 1.15 times as long as uniform data.
  std::vector<std::string> slow_on_normal;
  // Failed rules over all cases. The mean of the reference geometry must be at least 2.5.
  std::vector<std::string> failures;
};
Summary summarize(const std::vector<Measurement>& all);

// A product that reads at least so many bytes is compared with the rate of a bare read.
inline constexpr double kJudgedReadBytes = 33e6;
// A case that takes at least so long is compared with rates.
inline constexpr double kLongCaseUs = 20;

}  // namespace kiln::bench
