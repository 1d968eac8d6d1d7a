// Fails the Nth call, as SQLite's tests do: N = 1, 2, 3 ... until nothing fails any more.
#pragma once

#include <atomic>
#include <cstdint>

namespace kiln::testing {

// Counts calls and says which ones fail. Safe from several threads.
class Faults {
 public:
  enum class Kind : std::uint8_t { kOnce, kFromThenOn };

  // From now on, the `nth` call (1 is the next one) fails; 0 none.
  void fail(unsigned nth, Kind kind = Kind::kOnce) {
    calls_ = 0;
    hits_ = 0;
    nth_ = nth;
    kind_ = kind;
  }

  // Whether the call being made fails.
  bool strike() {
    const unsigned call = ++calls_;
    const bool hit = nth_ != 0 && (call == nth_ || (kind_ == Kind::kFromThenOn && call > nth_));
    if (hit) ++hits_;
    return hit;
  }

  bool was_hit() const { return hits_ != 0; }
  unsigned calls() const { return calls_; }

 private:
  std::atomic<unsigned> calls_{0}, hits_{0};
  unsigned nth_ = 0;
  Kind kind_ = Kind::kOnce;
};

}  // namespace kiln::testing
