#include "values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace kiln::conformance {

std::uint64_t Random::bits() {
  std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

std::size_t Random::below(std::size_t limit) { return static_cast<std::size_t>(bits() % limit); }

double Random::uniform(double low, double high) {
  return low + (high - low) * std::ldexp(static_cast<double>(bits() >> 11), -53);
}

Seed seed_for(std::string_view case_name, std::uint64_t run_seed) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char letter : case_name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return {run_seed, Random(hash ^ run_seed).bits()};
}

const std::vector<Bits>& special_values(DType dtype) {
  static const auto list = [](DType each) {
    const std::size_t width = 8 * size_of(each);
    const Bits sign = Bits{1} << (width - 1);
    if (!is_float(each)) {
      return std::vector<Bits>{0, 1, 2, 3, sign - 1, sign, sign + 1, (sign - 1) + sign, 100};
    }
    std::vector<Bits> positive;
    const Bits normal = min_normal(each);
    const Bits last = static_cast<Bits>(max_ordinal(each));
    positive = {0, 1, normal - 1, normal, normal + 1, last - 1, last};
    for (const Real value :
         {0.25L, 0.5L, 0.5L + 0.0009765625L, 0.999L, 1.0L, 1.001L, 1.5L, 2.0L, 2.5L, 3.0L,
          3.14159265358979L, 10.0L, 88.0L, 89.0L, 100.0L, 448.0L, 709.0L, 65504.0L}) {
      positive.push_back(encode(each, value));
    }
    if (last + 1 < sign) {
      positive.push_back(sign - 1);  // a quiet NaN with every bit of its payload
      if (has_signalling_nans(each)) positive.push_back(last + 1);
    }
    std::vector<Bits> all = positive;
    for (const Bits bits : positive) all.push_back(bits | sign);
    return all;
  };
  static const std::vector<std::vector<Bits>> lists = [] {
    std::vector<std::vector<Bits>> made;
    for (const ops::DTypeInfo& each : ops::kDTypes) made.push_back(list(each.dtype));
    return made;
  }();
  return lists[static_cast<std::size_t>(dtype)];
}

namespace {

// Returns a value at or next to the midpoint of two values of a narrower float, where rounding in
// two steps goes wrong.
Bits near_tie(DType dtype, Random& random) {
  const std::size_t beside = random.below(3);  // below, at or above the tie
  if (!is_float(dtype)) {
    const Bits odd = random.below(2) == 0 ? (random.bits() & 0x1ff) | 0x101  // 9 bits: bf16's
                                          : (random.bits() & 0x1ffffff) | 0x1000001;  // 25: f32's
    const std::size_t width = 8 * size_of(dtype);
    return (odd << random.below(width)) + beside - 1;
  }
  static constexpr DType kNarrower[] = {DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF32};
  const DType narrow = kNarrower[random.below(dtype == DType::kF64 ? 4 : 3)];
  const auto finite = static_cast<std::size_t>(max_ordinal(narrow)) - 1;
  const auto position = static_cast<std::int64_t>(random.below(finite));
  const Real low = decode(narrow, from_ordinal(narrow, position));
  const Real high = decode(narrow, from_ordinal(narrow, position + 1));
  const Bits middle = encode(dtype, (low + high) / 2);
  const std::int64_t at = ordinal(dtype, middle) + static_cast<std::int64_t>(beside) - 1;
  return from_ordinal(dtype, random.below(2) == 0 ? at : -at);
}

Bits mixed_value(DType dtype, Random& random) {
  const std::vector<Bits>& special = special_values(dtype);
  const std::size_t kind = random.below(9);
  if (kind == 0) return special[random.below(special.size())];
  if (kind == 8 && size_of(dtype) > 2) return near_tie(dtype, random);
  if (!is_float(dtype)) return kind < 4 ? random.below(100) : random.bits();
  if (kind < 3) return random.bits();  // every binade is equally likely
  static constexpr double kMagnitudes[] = {1, 4, 12, 120, 800, 800};
  const double magnitude = kMagnitudes[kind - 3];
  return encode(dtype, random.uniform(-magnitude, magnitude));
}

// Returns the pool for a seed. There is one pool for each type and thread; it holds the values of
// the last seed.
const std::vector<Bits>& pool_of(DType dtype, std::uint64_t run_seed) {
  struct Pool {
    std::uint64_t seed = 0;
    std::vector<Bits> values;
  };
  static thread_local std::vector<Pool> pools(std::size(ops::kDTypes));
  Pool& pool = pools[static_cast<std::size_t>(dtype)];
  if (pool.values.empty() || pool.seed != run_seed) {
    Random random(run_seed);
    pool.seed = run_seed;
    pool.values.clear();
    for (std::size_t i = 0; i < kPoolSize; ++i) pool.values.push_back(mixed_value(dtype, random));
  }
  return pool.values;
}

}  // namespace

std::vector<std::byte> mixed_values(DType dtype, std::size_t count, const Seed& seed) {
  const std::vector<Bits>& pool = pool_of(dtype, seed.run);
  Random random(seed.own);
  std::vector<std::byte> values(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    store(dtype, pool[random.below(pool.size())], values.data() + i * size_of(dtype));
  }
  return values;
}

std::vector<std::byte> counted_values(DType dtype, std::size_t count, std::size_t repeats) {
  std::vector<std::byte> values(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    store(dtype, i / repeats, values.data() + i * size_of(dtype));
  }
  return values;
}

std::vector<std::byte> poison(std::size_t bytes, Random& random) {
  std::vector<std::byte> content(bytes);
  std::uint64_t word = random.bits();
  for (std::size_t i = 0; i < bytes; i += sizeof word) {
    word = word * 6364136223846793005 + 1442695040888963407;
    std::memcpy(content.data() + i, &word, std::min(sizeof word, bytes - i));
  }
  return content;
}

}  // namespace kiln::conformance
