#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln::conformance {
namespace {

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

Real value_of(RowKind kind, std::size_t i, Random& random) {
  switch (kind) {
    case RowKind::kUniform: return random.uniform(0, 1);
    case RowKind::kWholes: return static_cast<Real>(random.below(17)) - 8;
    case RowKind::kBinades:
      return std::ldexp(static_cast<Real>(random.uniform(-1, 1)),
                        static_cast<int>(random.below(17)) - 12);
    case RowKind::kOffset: return 100 + static_cast<Real>(random.uniform(-1, 1));
    case RowKind::kZeros: return i % 3 == 1 ? -0.0L : 0.0L;
    case RowKind::kAllNan: return std::numeric_limits<Real>::quiet_NaN();
    case RowKind::kAllLowest: return -kInfinity;
    default: {
      // The sum of four uniform values is close enough to a normal distribution.
      Real sum = 0;
      for (int k = 0; k < 4; ++k) sum += static_cast<Real>(random.uniform(-1.7, 1.7));
      return sum;
    }
  }
}

// Replaces every second row by one large element and many that are lost one by one in a sum of the
// elements, of their squares, or of their exponentials. Draws no number that other rows depend on.
void swallow(DType dtype, std::vector<Bits>& row) {
  Random random(row.front());
  if (random.below(2) == 0) return;
  const Real half = rounding_error(dtype);
  const Real few[] = {half, std::sqrt(half), 1 + std::log(half) - 0x1p-8L};
  const Bits small = encode(dtype, few[random.below(3)]);
  std::fill(row.begin(), row.end(), small);
  row[random.below(2) == 0 ? 0 : random.below(row.size())] = encode(dtype, 1);
}

// Makes every second row rise. Draws no number that other rows depend on.
void raise(DType dtype, std::vector<Bits>& row) {
  Random random(row.front());
  if (random.below(2) == 0) return;
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = encode(dtype, static_cast<Real>(i) / 79);
}

// Returns an integer as the bits of an integer type.
Bits integer_of(RowKind kind, DType dtype, Real value, Random& random) {
  const Bits sign = Bits{1} << (8 * size_of(dtype) - 1);
  const bool is_signed = ops::info(dtype).kind == ops::NumberKind::kSigned;
  if (kind == RowKind::kAllLowest) return is_signed ? sign : 0;
  if (kind == RowKind::kWholes || kind == RowKind::kEqual || kind == RowKind::kOffset) {
    return static_cast<Bits>(static_cast<std::int64_t>(value)) & (sign - 1 + sign);
  }
  if (kind == RowKind::kZeros) return 0;
  return random.bits() & (sign - 1 + sign);
}

}  // namespace

const char* name(RowKind kind) {
  static constexpr const char* kNames[kRowKinds] = {
      "uniform", "wholes", "normal",   "binades",    "offset",  "equal",
      "zeros",   "nan",    "infinity", "infinities", "all-nan", "all-lowest"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Bits> row_of(RowKind kind, DType dtype, std::size_t count, Random& random) {
  std::vector<Bits> row;
  const Real first = value_of(kind, 0, random);
  for (std::size_t i = 0; i < count; ++i) {
    const Real value = kind == RowKind::kEqual ? first : value_of(kind, i, random);
    row.push_back(is_float(dtype) ? encode(dtype, value) : integer_of(kind, dtype, value, random));
  }
  if (!is_float(dtype) || count == 0) return row;
  const auto put = [&](Real value) { row[random.below(count)] = encode(dtype, value); };
  if (kind == RowKind::kBinades) swallow(dtype, row);
  if (kind == RowKind::kNan) {
    const std::size_t at = random.below(2) == 0 ? 0 : random.below(count);
    row[at] = encode(dtype, std::numeric_limits<Real>::quiet_NaN());
  }
  if (kind == RowKind::kInfinity) put(random.below(2) == 0 ? kInfinity : -kInfinity);
  if (kind == RowKind::kInfinities) {
    put(kInfinity);
    put(-kInfinity);
  }
  return row;
}

std::vector<std::byte> rows_of(DType dtype, std::size_t rows, std::size_t columns, Random& random,
                               std::size_t first_kind) {
  std::vector<std::byte> content(rows * columns * size_of(dtype));
  std::byte* at = content.data();
  for (std::size_t r = 0; r < rows; ++r) {
    const auto kind = static_cast<RowKind>((first_kind + r) % kRowKinds);
    std::vector<Bits> row = row_of(kind, dtype, columns, random);
    if (kind == RowKind::kUniform && is_float(dtype) && columns != 0) raise(dtype, row);
    for (const Bits bits : row) {
      store(dtype, bits, at);
      at += size_of(dtype);
    }
  }
  return content;
}

Real rounding_error(DType dtype) { return unit_in_last_place(compute_dtype(dtype), 1) / 2; }

Real sum_depth(std::size_t count, std::uint32_t threads) {
  const std::uint32_t both = threads | 32, share = both & (0 - both);
  const auto roundings = static_cast<Real>((count + share - 1) / share + 8);
  return std::min(roundings, static_cast<Real>(count == 0 ? 0 : count - 1));
}

Sum sum_of(DType dtype, const std::vector<Real>& terms, std::uint32_t threads) {
  Real sum = 0, lost = 0, magnitude = 0;
  int lowest_bit = std::numeric_limits<int>::max();  // exponent of the lowest bit that is set
  for (const Real term : terms) {
    const Real before = sum;
    sum += term;
    if (std::isfinite(sum)) {
      // Neumaier's compensation.
      lost += std::fabs(before) >= std::fabs(term) ? (before - sum) + term : (term - sum) + before;
    }
    magnitude += std::fabs(term);
    if (term == 0 || !std::isfinite(term)) continue;
    int exponent = 0;
    const auto mantissa =
        static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(term), &exponent), 64));
    lowest_bit = std::min(lowest_bit, exponent - 64 + __builtin_ctzll(mantissa));
  }
  if (!std::isfinite(sum)) return {sum, 0};
  const int bits = compute_dtype(dtype) == DType::kF64 ? 53 : 24;
  const bool is_exact = magnitude == 0 || magnitude <= std::ldexp(1.0L, lowest_bit + bits);
  return {sum + lost,
          is_exact ? 0 : sum_depth(terms.size(), threads) * rounding_error(dtype) * magnitude};
}

}  // namespace kiln::conformance
