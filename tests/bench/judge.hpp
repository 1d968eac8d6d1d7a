// The rules that a measurement is judged by. Pure.
#pragma once

#include <optional>
#include <string>

#include "kiln/ops/launch.hpp"

namespace kiln::bench {

struct Measurement {
  std::string kernel;
  ops::Geometry geometry = ops::Geometry::kOwn;
  bool contiguous = true;
  double us = 0;
  double copy_us = 0;   // the fastest copy of as many bytes
  double empty_us = 0;  // a kernel that does nothing, over the same grid
  double original_us = 0;
  std::optional<double> torch_us;
};

enum class Outcome : unsigned char { kPass, kFail, kReported };

struct Judgement {
  Outcome outcome = Outcome::kReported;
  std::string reason;  // "90% of the copy rate", "under 20 us", ...
};

// Cases under 20 us are reported, not judged. Otherwise, 3% allowed for noise:
//   our geometry        contiguous: at least 90% of the copy rate; transcendental in f16 or bf16:
//                       PyTorch's speed. Strided: PyTorch's speed, where PyTorch was measured.
//   the reference's     contiguous: at most 1.4 times the larger of copy and empty launch.
//   both                not slower than the original.
Judgement judge(const Measurement& measured);

// Below this the machine is not at its own speed, and a run says nothing.
inline constexpr double kVoidBelowBytesPerSecond = 4.0e12;

}  // namespace kiln::bench
