// Fails the Nth call, as the tests of SQLite do: N = 1, 2, 3 ... until no call fails any more.
#pragma once

#include <atomic>
#include <cstdint>

namespace kiln::testing {

// Counts calls and decides which ones fail. Thread-safe.
class Faults {
 public:
  enum class Kind : std::uint8_t { kOnce, kFromThenOn };

  // From now on, the `nth` call fails; 1 is the next call, 0 means none.
  void fail(unsigned nth, Kind kind = Kind::kOnce) {
    calls_ = 0;
    hits_ = 0;
    nth_ = nth;
    kind_ = kind;
  }

  // True if the current call must fail.
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
