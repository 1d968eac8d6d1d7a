// The cases of h200_reference.json: what was launched, and how long the original kernels and
// PyTorch took for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ops/launch.hpp"
#include "kiln/result.hpp"

namespace kiln::bench {

struct RecordedCase {
  std::string name;
  std::string kernel;
  ops::Layout layout;                            // of the strided operand; copy2d: rows and columns
  std::uint32_t inp_stride = 0, out_stride = 0;  // copy2d
  std::vector<double> scalars;
  double min_bytes = 0;  // what any implementation has to read and write
  double original_us = 0;
  std::optional<double> torch_us;  // absent where PyTorch does other work
};

struct Recording {
  std::string gpu, original, torch, how;
  std::vector<RecordedCase> cases;
};

// The recording that this program carries. Errors: a damaged one.
Result<Recording> recording();
Result<Recording> parse_recording(std::string_view json);

// What a case touches, and the launch for it.
struct Operands {
  ops::DType dtype;
  std::size_t inp_bytes = 0;  // 0: no input
  std::size_t out_bytes = 0;
  bool contiguous = false;
};
Result<Operands> operands_of(const RecordedCase& recorded);
Result<ops::Launch> plan(const RecordedCase& recorded, const void* inp, void* out,
                         ops::Geometry geometry);

}  // namespace kiln::bench
