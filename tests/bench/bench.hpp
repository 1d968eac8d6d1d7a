// Measures cases on one device: kiln's kernel in both geometries, the original kernel, an empty
// grid and a copy, on the same data.
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
    std::string originals;      // folder of their cubins; empty: the originals are not measured
    std::string target;         // of kiln's images; empty: the best for the device
    bool is_cached = false;     // operands stay in the L2 cache
  };
  // Allocates room for the largest of the cases. Errors: kUnavailable (no CUDA device), kDriver.
  static Result<Bench> open(const Device& device, const Settings& settings,
                            const std::vector<BenchCase>& cases);

  // True if one set of the operands fits in the L2 cache of any data center GPU.
  static Result<bool> fits_cache(const BenchCase& subject);

  Result<Measurement> measure(const BenchCase& subject);
  // Returns the microseconds of the fastest copy that reads and writes `bytes` in total.
  Result<double> copy_us(double bytes);
  // Returns the microseconds of a kernel that reads `bytes` and does nothing with them.
  Result<double> read_us(double bytes);
  // Runs the case once by kiln's kernel and once by the original. Returns the number of elements
  // that differ by more than rounding, or nothing without originals.
  Result<std::optional<std::size_t>> count_differing(const BenchCase& subject);

 private:
  Bench(const Device& device, const Settings& settings, std::unique_ptr<CudaClock> clock,
        Stream stream);

  // Where the sets of operands lie that launches rotate over.
  struct BufferLayout {
    std::vector<std::size_t> inputs;  // bytes from one set to the next, including padding
    std::size_t output = 0;
    std::size_t sets = 1;
  };
  std::size_t sets_of(std::size_t set_bytes) const;
  BufferLayout layout_of(const Operands& operands) const;
  Addresses addresses_of(const BufferLayout& layout, std::size_t set) const;
  Result<void> fill_inputs(const Operands& operands, const BufferLayout& layout, DataKind kind);
  const std::vector<std::byte>& values_of(const Operand& operand, DataKind kind);
  Result<void> prepare_ours(const ops::Launch& launch);
  Result<void> run_ours(const ops::Launch& launch) const;

  // The launches of a case, one for each set of operands.
  struct Launches {
    std::vector<ops::Launch> own, original_grid;
    std::vector<ops::Launch> original;  // empty: there is none
    std::vector<ops::Launch> before;    // the step before the own launch; empty: there is none
  };
  // Also runs what makes inputs for the launches.
  Result<Launches> plan_launches(const BenchCase& subject, const KernelTraits& traits,
                                 const BufferLayout& layout);
  Device device_;
  Settings settings_;
  std::unique_ptr<CudaClock> clock_;
  Stream stream_;
  ops::Launcher launcher_;
  std::optional<DriverKernels> originals_;
  std::optional<DriverKernels> ours_;  // of the requested target
  Buffer inp_, out_;
  // The properties that determine the values of an operand: dtype, limit and order of numbers,
  // block format, kind.
  using Content = std::tuple<ops::DType, std::size_t, Numbers, std::string_view, DataKind>;
  static Content content(const Operand& operand, DataKind kind);
  std::map<Content, std::vector<std::byte>> values_;
  std::vector<std::tuple<Content, std::size_t, std::size_t>> input_contents_;  // first byte, length
  std::map<std::size_t, double> copies_, reads_;
};

}  // namespace kiln::bench
