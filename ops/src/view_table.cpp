#include "view_table.hpp"

#include <algorithm>
#include <array>

#include "kernels/tuning/views.hpp"

namespace kiln::ops {
namespace {

using Table = tuning::ViewTable;

constexpr std::size_t kMostPlaces = 4;  // of three inputs and the output

struct Divisor {
  std::uint32_t multiplier = 0, shift = 0;
};
// Returns m and s such that n / size is (n * m >> 32) >> s for all n below 2^31. With 2^(l-1) <
// size <= 2^l, m is 2^(31+l) / size, rounded up, and s is l - 1. Rounding adds less than n /
// 2^(31+l), which is less than 1 / size, to the quotient. Source: Granlund and Montgomery, Division
// by Invariant Integers using Multiplication, theorem 4.2.
Divisor divisor(std::size_t size) {
  std::uint32_t log = 1;
  while (std::uint64_t{1} << log < size) ++log;
  const std::uint64_t power = std::uint64_t{1} << (31 + log);
  return {static_cast<std::uint32_t>((power + size - 1) / size), log - 1};
}

// A dim of units: their number in it, and the distance between neighbours in each view.
struct UnitDim {
  std::size_t size = 1;
  std::array<std::size_t, kMostPlaces> stride{};
};

// The units of views, and the dims in which they count, the innermost first.
struct Units {
  std::array<UnitDim, Table::kMaxSteps> dims;
  std::size_t rank = 0;
  std::size_t places;  // views, and with groups the output
  std::uint32_t bits = 0;
  UnitDim cut;  // of groups

  Units(const ViewBlock& block, std::size_t views, const TableUnits& units)
      : places(views + (units.cut != TableUnits::kUncut ? 1 : 0)) {
    const bool are_groups = units.cut != TableUnits::kUncut;
    const std::size_t cut_dim = are_groups ? units.cut : block.rank - 1;
    std::size_t inside = 1;  // distance in the output
    for (std::size_t dim = block.rank; dim-- != 0;) {
      const std::size_t of_unit = dim == cut_dim ? units.elements : 1;
      UnitDim here;
      here.size = block.block[dim] / of_unit;
      for (std::size_t view = 0; view < views; ++view) {
        const std::size_t stride = block.block[(1 + view) * block.rank + dim];
        here.stride[view] = stride * of_unit;
        if (of_unit != 1 && stride == (are_groups ? 1 : 0)) bits |= 1u << view;
      }
      here.stride[views] = inside * of_unit;
      inside *= block.block[dim];
      if (are_groups && dim == cut_dim) {
        cut = here;
      } else if (here.size != 1) {
        dims[rank++] = here;
      }
    }
    if (are_groups || rank == 0) dims[rank++] = cut;
  }

  std::size_t count() const {
    std::size_t units = 1;
    for (std::size_t dim = 0; dim < rank; ++dim) units *= dims[dim].size;
    return units;
  }
  // True if the table's numbers have 32 bits, and its units 31.
  bool is_countable() const {
    std::array<std::size_t, kMostPlaces> last{};  // the place of each view's last unit
    for (std::size_t dim = 0; dim < rank; ++dim) {
      for (std::size_t n = 0; n < places; ++n) {
        last[n] += (dims[dim].size - 1) * dims[dim].stride[n];
      }
    }
    return count() != 0 && count() >> 31 == 0 &&
           *std::max_element(last.begin(), last.end()) >> 32 == 0;
  }
};

}  // namespace

std::uint32_t append_table(LayoutBlock& layout, const ViewBlock& block, std::size_t views,
                           const TableUnits& wanted) {
  const bool are_groups = wanted.cut != TableUnits::kUncut;
  const std::size_t start = Table::start(static_cast<unsigned>(views), block.rank);
  if (block.rank == 0 || block.rank > Table::kMaxSteps) return 0;
  const Units units(block, views, wanted);
  const std::size_t words = Table::words_of_entry(static_cast<unsigned>(units.places));
  if (start + (units.rank + are_groups) * words / 2 > LayoutBlock::capacity() ||
      !units.is_countable()) {
    return 0;
  }
  layout.resize(start);
  std::array<std::uint32_t, Table::words_of_entry(kMostPlaces)> entry{};
  const auto append = [&] {
    for (std::size_t w = 0; w < words; w += 2) {
      layout.push_back(entry[w] | std::uint64_t{entry[w + 1]} << 32);
    }
  };
  if (are_groups) {
    entry[0] = static_cast<std::uint32_t>(units.count());
    entry[1] = static_cast<std::uint32_t>(units.cut.stride[views] / wanted.elements);
    for (std::size_t n = 0; n < views; ++n) {
      entry[2 + n] = static_cast<std::uint32_t>(units.cut.stride[n] / wanted.elements);
    }
    append();
  }
  std::array<std::uint32_t, kMostPlaces> counted{};  // distance that a whole row has in each view
  for (std::size_t dim = 0; dim < units.rank; ++dim) {
    const Divisor size = dim == 0 ? Divisor{} : divisor(units.dims[dim - 1].size);
    entry = {size.multiplier, size.shift};
    for (std::size_t n = 0; n < units.places; ++n) {
      const auto stride = static_cast<std::uint32_t>(units.dims[dim].stride[n]);
      entry[2 + n] = stride - counted[n];  // modulo 2^32
      counted[n] = stride * static_cast<std::uint32_t>(units.dims[dim].size);
    }
    append();
  }
  return Table::kExists | (wanted.elements != 1 && !are_groups ? Table::kChunks : 0) |
         (are_groups ? Table::kGroups : 0) |
         static_cast<std::uint32_t>(units.rank - 1) << Table::kLogSteps |
         units.bits << Table::kLogBits;
}

}  // namespace kiln::ops
