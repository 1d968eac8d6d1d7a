// Prints measurements as a table for people and as JSON for documents. Also writes the input and
// reads the output of torch_times.py.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tests/bench/judge.hpp"

namespace kiln::bench {

std::string table_heading();
// "ugelu_f32 2^22   8.31  9.90  11.0  8.4  0.8  97%  1.32x 1.11x  ok"
std::string table_row(const Measurement& measured, const std::vector<Failure>& failures);

// Returns the worst case relative to the original for each kind of data, geometric means, and the
// failed rules over all cases.
std::string conclusion(const std::vector<Measurement>& all, const Summary& summary);

// Describes a run.
struct RunInfo {
  std::string gpu, target, driver, date;  // date: 2026-11-27
  double copy_bytes_per_second = 0;
  std::size_t samples = 0;
  double seconds = 0;
};
std::string to_json(const RunInfo& info, const std::vector<Measurement>& all);

// cases_as_json() writes the cases for torch_times.py; parse_torch_times() reads its times, by the
// name of the case.
std::string cases_as_json(const std::vector<BenchCase>& cases);
Result<std::map<std::string, double>> parse_torch_times(const std::string& json);

}  // namespace kiln::bench
