// Measures cases on one device: our kernels in both geometries, the original kernel, an empty grid
// and a copy, on the same data.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kiln/ops/launcher.hpp"
#include "kiln/runtime.hpp"
#include "tests/bench/cuda_clock.hpp"
#include "tests/bench/driver_kernels.hpp"
#include "tests/bench/judge.hpp"

namespace kiln::bench {

class Bench {
 public:
  struct Settings {
    std::size_t samples = 31;   // of each measurement, at most
    double budget_us = 20'000;  // for the samples of one case
    std::string originals;      // the folder of their cubins; empty: they are not measured
    std::string target;         // of our images; empty: the best for the device
  };
  // Has room for the largest of the cases. Errors: kUnavailable (no CUDA device), kDriver.
  static Result<Bench> open(const Device& device, const Settings& settings,
                            const std::vector<BenchCase>& cases);

  Result<Measurement> measure(const BenchCase& subject);
  // Microseconds of the fastest copy that reads and writes `bytes` in all.
  Result<double> copy_us(double bytes);
  // Microseconds of a kernel that reads `bytes` and does nothing with them.
  Result<double> read_us(double bytes);
  // Runs the case once by ours and once by the original: how many of its elements differ by more
  // than rounding. Nothing without originals.
  Result<std::optional<std::size_t>> count_differing(const BenchCase& subject);

 private:
  Bench(const Device& device, const Settings& settings, std::unique_ptr<CudaClock> clock,
        Stream stream);

  // Where the sets of operands lie that launches rotate over.
  struct Places {
    std::vector<std::size_t> inputs;  // bytes from one set's to the next, padding included
    std::size_t output = 0;
    std::size_t sets = 1;
  };
  Places places_of(const Operands& operands) const;
  Addresses addresses_of(const Places& places, std::size_t set) const;
  Result<void> fill_inputs(const Operands& operands, const Places& places, DataKind kind);
  const std::vector<std::byte>& values(const Operand& operand, DataKind kind);
  Result<void> prepare_ours(const ops::Launch& launch);
  Result<void> run_ours(const ops::Launch& launch) const;

  Device device_;
  Settings settings_;
  std::unique_ptr<CudaClock> clock_;
  Stream stream_;
  ops::Launcher launcher_;
  std::optional<DriverKernels> originals_;
  std::optional<DriverKernels> ours_;  // of a target that was asked for
  Buffer inp_, out_;
  // What operands differ by that hold other values: dtype, limit and order of numbers, format of
  // blocks, kind.
  using Content = std::tuple<ops::DType, std::size_t, Numbers, std::string_view, DataKind>;
  static Content content(const Operand& operand, DataKind kind);
  std::map<Content, std::vector<std::byte>> values_;
  std::vector<std::tuple<Content, std::size_t, std::size_t>> inputs_are_;  // first byte, length
  std::map<std::size_t, double> copies_, reads_;
};

}  // namespace kiln::bench
