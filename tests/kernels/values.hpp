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

// What a case draws its values from.
struct Seed {
  std::uint64_t run;  // of the pool of values, the same for all cases of a run
  std::uint64_t own;  // of the choice among them, and of everything else
};
// A case gives the same values alone as in the whole run.
Seed seed_for(std::string_view case_name, std::uint64_t run_seed);

// The values where implementations differ: zeros, ones, the ends of the subnormals, of the normals
// and of the integers, infinities and NaNs of both signs, a signalling NaN.
const std::vector<Bits>& special_values(DType dtype);

// Elements that mix specials, small and large magnitudes, for floats every binade, and for types of 32
// and 64 bits what lies at a tie of a narrower float or next to it. They come
// from a pool of kPoolSize values, so that a reference can remember its answers: the expensive ones
// take longer than the device does.
inline constexpr std::size_t kPoolSize = 32768;
std::vector<std::byte> mixed_values(DType dtype, std::size_t count, const Seed& seed);

// Every bit pattern of an 8- or 16-bit type, in order and again from the first: `repeats` times
// each.
std::vector<std::byte> counted_values(DType dtype, std::size_t count, std::size_t repeats = 1);

// What outputs and guard bands hold before a launch: bytes that differ from element to element, and
// that no kernel would produce.
std::vector<std::byte> poison(std::size_t bytes, Random& random);

}  // namespace kiln::conformance
