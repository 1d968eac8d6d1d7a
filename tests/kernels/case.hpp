// A conformance case: one launch of one kernel, everything that it reads, and what it may write.
//
// A case is data. It knows neither the device nor the guard bands; the suite puts its operands into
// memory (run_case.cpp), an Executor runs its launch, and the suite judges what lies there
// afterwards.
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

// A piece of device memory that a kernel is given.
struct Operand {
  std::string name;  // the kernel's parameter
  DType dtype = DType::kU8;
  std::vector<std::byte> content;  // before the launch; whole elements
  // The address lies so many elements past one that is aligned to 256 bytes.
  std::size_t misalignment = 0;
  // Nothing lies behind it, no guard band either: what reads on is caught where the device looks.
  bool ends_memory = false;
  // What each element may hold afterwards, in order. Absent: the operand is read only, and stays as
  // it is.
  std::function<std::vector<Expected>()> expected = nullptr;

  std::size_t count() const { return content.size() / size_of(dtype); }
};

// An operand that is read only.
inline Operand input(std::string name, DType dtype, std::vector<std::byte> content,
                     std::size_t misalignment = 0) {
  return {std::move(name), dtype, std::move(content), misalignment, false, nullptr};
}

struct Case {
  std::string name;  // "ugelu_f16/transposed/33x65/own"
  std::vector<Operand> operands;
  // The launch, once the operands' addresses are known; in the order of `operands`.
  std::function<Result<ops::Launch>(const std::vector<void*>& addresses)> plan;
  // In its place where the launch must be the device's own.
  std::function<Result<ops::Launch>(const std::vector<void*>& addresses, const ops::Gpu& gpu)>
      plan_for = nullptr;

  Result<ops::Launch> launch(const std::vector<void*>& addresses, const ops::Gpu& gpu = {}) const {
    return plan_for ? plan_for(addresses, gpu) : plan(addresses);
  }
};

// A case before it is built: building makes the data, which the filter may not want.
struct CaseSpec {
  std::string name;
  std::size_t elements = 0;  // or threads, where there are more: how much work, roughly
  std::function<Case(const Seed& seed)> build;
};

}  // namespace kiln::conformance
