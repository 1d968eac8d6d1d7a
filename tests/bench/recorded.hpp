// The cases of h200_reference.json: what was launched on an NVIDIA H200, and how long the original
// kernels and PyTorch took for it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"
#include "tests/bench/cases.hpp"

namespace kiln::bench {

struct RecordedCase {
  BenchCase subject;
  double original_us = 0;
  std::optional<double> torch_us;  // absent where PyTorch does other work
};

struct Recording {
  std::string gpu, original, torch, how;
  std::vector<RecordedCase> cases;
  std::string ggml;                       // version and set-up
  std::map<std::string, double> ggml_us;  // by the name of the case, with its activations'
                                          // quantization
};

// The recording that this program carries. Errors: a damaged one.
Result<Recording> recording();
Result<Recording> parse_recording(std::string_view json);

}  // namespace kiln::bench
