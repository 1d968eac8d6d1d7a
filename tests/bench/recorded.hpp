// The cases of h200_reference.json: launches on an NVIDIA H200, and the times of the original
// kernels and of PyTorch.
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
  std::optional<double> torch_us;  // absent if PyTorch does other work
};

struct Recording {
  std::string gpu, original, torch, how;
  std::vector<RecordedCase> cases;
  std::string ggml;                       // version and set-up
  std::map<std::string, double> ggml_us;  // by the name of the case, including the quantization
                                          // of its activations
};

// Returns the recording in this program. Errors: a damaged recording.
Result<Recording> recording();
Result<Recording> parse_recording(std::string_view json);

}  // namespace kiln::bench
