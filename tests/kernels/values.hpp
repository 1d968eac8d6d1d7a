// Seeded input values.
//
// The same seed gives the same bytes on every machine and with every standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "number_format.hpp"

namespace kiln::conformance {

// SplitMix64 (Steele, Lea, Flood 2014): 64 well-mixed bits a call, any seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  std::size_t below(std::size_t limit);     // 0 to limit - 1
  double uniform(double low, double high);  // low <= x < high

 private:
  std::uint64_t state_;
};

// The seeds of a case.
struct Seed {
  std::uint64_t run;  // for the pool of values; the same for all cases of a run
  std::uint64_t own;  // for the choice from the pool, and for everything else
};
// A case has the same values when it runs alone as in a whole run.
Seed seed_for(std::string_view case_name, std::uint64_t run_seed);

// Returns the values where implementations differ: zeros, ones, the smallest and largest
// subnormals, normals and integers, infinities and NaNs of both signs, a signalling NaN.
const std::vector<Bits>& special_values(DType dtype);

// Returns a mix of special values, small and large magnitudes, for floats values of every binade,
// and for 32- and 64-bit types values at or next to a tie of a narrower float. All come from a pool
// of kPoolSize values, so that a reference can cache its answers: the expensive references take
// longer than the device.
inline constexpr std::size_t kPoolSize = 32768;
std::vector<std::byte> mixed_values(DType dtype, std::size_t count, const Seed& seed);

// Returns every bit pattern of an 8- or 16-bit type, in order and repeating from the start, each
// `repeats` times in a row.
std::vector<std::byte> counted_values(DType dtype, std::size_t count, std::size_t repeats = 1);

// Returns the initial content of outputs and guard bands: bytes that differ from element to
// element, and that no kernel would produce.
std::vector<std::byte> poison(std::size_t bytes, Random& random);

}  // namespace kiln::conformance
