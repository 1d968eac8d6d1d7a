// Rows of values for kernels that sum up, compare or normalise a row; and how far a sum may be off.
#pragma once

#include <cstddef>
#include <vector>

#include "expected.hpp"
#include "values.hpp"

namespace kiln::conformance {

// Rows that differ in kind, by turns: what a row operation may get wrong needs a whole row.
enum class RowKind : std::uint8_t {
  kUniform,     // from 0 to 1
  kWholes,      // small whole numbers of both signs: every sum of them is exact
  kNormal,      // of both signs, around 0
  kBinades,     // of both signs, of magnitudes that lie far apart
  kOffset,      // around a mean that is large against their spread
  kEqual,       // one value: extremes tie
  kZeros,       // of both signs
  kNan,         // one NaN among normal ones
  kInfinity,    // one infinity
  kInfinities,  // both infinities
  kAllNan,
  kAllLowest,  // nothing but -infinity, or the least integer
};
inline constexpr std::size_t kRowKinds = 12;
const char* name(RowKind kind);

// `count` elements of a kind, quiet NaNs only. Integers: of the kinds without them, else any.
std::vector<Bits> row_of(RowKind kind, DType dtype, std::size_t count, Random& random);

// The kinds by turns, row after row.
std::vector<std::byte> rows_of(DType dtype, std::size_t rows, std::size_t columns, Random& random,
                               std::size_t first_kind = 0);

// A sum of floats in the type that `dtype` computes in, in any order that keeps no running sum of
// more than a 32nd of the terms: what it is, and how far off it may be.
struct Sum {
  Real value = 0;
  Real error = 0;  // absolute; 0 where every order is exact
};
Sum sum_of(DType dtype, const std::vector<Real>& terms);

// Roundings on the way of one term into such a sum.
Real sum_depth(std::size_t count);

// Half a unit in the last place of 1: the relative error of one operation of the computing type.
Real rounding_error(DType dtype);

}  // namespace kiln::conformance
