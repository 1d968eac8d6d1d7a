// References that cache their answers: the same value occurs many times, and an answer takes
// hundreds of nanoseconds.
#pragma once

#include <functional>
#include <vector>

#include "expected.hpp"

namespace kiln::conformance {

// A reference of one input, for ElementwiseKernel. Caches the last answer of each slot of a table;
// 16-bit types have a slot for every value. Not thread-safe.
class Memo {
 public:
  Memo(DType dtype, std::function<Expected(Bits)> reference)
      : dtype_(dtype), reference_(std::move(reference)) {}

  Expected operator()(Bits inp) {
    if (slots_.empty()) slots_.resize(kSlots);
    Slot& slot = slots_[slot_of(inp)];
    if (!slot.is_filled || slot.inp != inp) slot = {inp, true, reference_(inp)};
    return slot.answer;
  }

 private:
  struct Slot {
    Bits inp = 0;
    bool is_filled = false;
    Expected answer = Expected::exactly(0);
  };
  static constexpr std::size_t kSlots = 65536;

  std::size_t slot_of(Bits inp) const {
    return size_of(dtype_) <= 2 ? inp : inp * 0x9e3779b97f4a7c15 >> 48;
  }

  DType dtype_;
  std::function<Expected(Bits)> reference_;
  std::vector<Slot> slots_;
};

}  // namespace kiln::conformance
