// Rows of values for kernels that sum, compare or normalise a row, and the permitted error of a
// sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "expected.hpp"
#include "values.hpp"

namespace kiln::conformance {

// The kinds of rows. Successive rows have successive kinds, because many faults of a row operation
// only show if a whole row has a property.
enum class RowKind : std::uint8_t {
  kUniform,     // from 0 to 1
  kWholes,      // small integers of both signs: every sum of them is exact
  kNormal,      // of both signs, around 0
  kBinades,     // with magnitudes that are far apart: of both signs, or one large element and many
                // that are lost when they are added to it one by one
  kOffset,      // around a mean that is large relative to the spread
  kEqual,       // a single value, so that extremes tie
  kZeros,       // of both signs
  kNan,         // one NaN among normal values
  kInfinity,    // one infinity
  kInfinities,  // both infinities
  kAllNan,
  kAllLowest,  // only -infinity, or the smallest integer
};
inline constexpr std::size_t kRowKinds = 12;
const char* name(RowKind kind);

// Returns `count` elements of a kind. NaNs are quiet. Integer rows have any values for kinds that
// integers lack.
std::vector<Bits> row_of(RowKind kind, DType dtype, std::size_t count, Random& random);

// Returns rows whose kinds follow one another. Every second uniform row of floats rises from
// element to element instead, so that its maximum changes again and again.
std::vector<std::byte> rows_of(DType dtype, std::size_t rows, std::size_t columns, Random& random,
                               std::size_t first_kind = 0);

// The value of a sum of floats, computed in the computing type of `dtype`, and its permitted error
// if `threads` threads share the sum.
struct Sum {
  Real value = 0;
  Real error = 0;  // absolute; 0 if every order is exact
};
Sum sum_of(DType dtype, const std::vector<Real>& terms, std::uint32_t threads = 32);

// Most roundings that a term passes through in such a sum: n / t + 8, where t is the largest power
// of two, up to 32, that divides `threads`. Each of t threads adds up its terms one by one.
Real sum_depth(std::size_t count, std::uint32_t threads = 32);

// Half a unit in the last place of 1: the relative error of one operation of the computing type.
Real rounding_error(DType dtype);

}  // namespace kiln::conformance
