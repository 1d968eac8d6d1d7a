// A conformance case: one launch of one kernel, everything that the launch reads, and what it may
// write.
//
// A case is data. It depends neither on the device nor on the guard bands. The suite puts its
// operands into memory (run_case.cpp), an Executor runs its launch, and the suite then judges the
// content of the memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expected.hpp"
#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "kiln/result.hpp"
#include "values.hpp"

namespace kiln::conformance {

// A piece of device memory that is passed to a kernel.
struct Operand {
  std::string name;  // name of the kernel's parameter
  DType dtype = DType::kU8;
  std::vector<std::byte> content;  // before the launch; whole elements
  // The address is this number of elements past an address that is aligned to 256 bytes.
  std::size_t misalignment = 0;
  // Nothing follows the operand, not even a guard band, so that devices that check accesses detect
  // reads past its end.
  bool ends_memory = false;
  // Returns the permitted values of each element after the launch, in order. Absent: the operand is
  // read only and must not change.
  std::function<std::vector<Expected>()> expected = nullptr;

  std::size_t count() const { return content.size() / size_of(dtype); }
};

// Makes a read-only operand.
inline Operand input(std::string name, DType dtype, std::vector<std::byte> content,
                     std::size_t misalignment = 0) {
  return {std::move(name), dtype, std::move(content), misalignment, false, nullptr};
}

struct Case {
  std::string name;  // "ugelu_f16/transposed/33x65/own"
  std::vector<Operand> operands;
  // Plans the launch for the addresses of the operands, which are in the order of `operands`.
  std::function<Result<ops::Launch>(const std::vector<void*>& addresses)> plan;
  // Used instead of `plan` if the launch depends on the device.
  std::function<Result<ops::Launch>(const std::vector<void*>& addresses, const ops::Gpu& gpu)>
      plan_for = nullptr;

  Result<ops::Launch> launch(const std::vector<void*>& addresses, const ops::Gpu& gpu = {}) const {
    return plan_for ? plan_for(addresses, gpu) : plan(addresses);
  }
};

// A case that is not yet built. Building makes the data, which is only needed if the filter selects
// the case.
struct CaseSpec {
  std::string name;
  std::size_t elements = 0;  // or threads, if there are more: a measure of the work
  std::function<Case(const Seed& seed)> build;
};

}  // namespace kiln::conformance
