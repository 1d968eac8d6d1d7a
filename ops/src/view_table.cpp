#include "view_table.hpp"

#include <algorithm>
#include <array>

#include "kernels/tuning/views.hpp"

namespace kiln::ops {
namespace {

using Table = tuning::ViewTable;

constexpr std::size_t kMaxInputs = 3;

struct Divisor {
  std::uint32_t multiplier, shift;
};
// Returns m and s such that n / size is (n * m >> 32) >> s for all n below 2^31. With 2^(l-1) <
// size <= 2^l, m is 2^(31+l) / size, rounded up, and s is l - 1. Rounding adds less than n /
// 2^(31+l), which is less than 1 / size, to the quotient. Source: Granlund and Montgomery, Division
// by Invariant Integers using Multiplication, theorem 4.2.
Divisor divisor(std::uint32_t size) {
  std::uint32_t log = 1;
  while (std::uint64_t{1} << log < size) ++log;
  const std::uint64_t power = std::uint64_t{1} << (31 + log);
  return {static_cast<std::uint32_t>((power + size - 1) / size), log - 1};
}

// True if the table's numbers have 32 bits, and its units 31.
bool is_countable(const ViewBlock& block, std::size_t views, std::size_t unit) {
  std::size_t units = 1;
  std::array<std::size_t, kMaxInputs> last{};  // the place of each view's last element
  for (std::size_t dim = 0; dim < block.rank; ++dim) {
    units *= block.block[dim];
    for (std::size_t view = 0; view < views; ++view) {
      last[view] += (block.block[dim] - 1) * block.block[(1 + view) * block.rank + dim];
    }
  }
  return units != 0 && units / unit >> 31 == 0 &&
         *std::max_element(last.begin(), last.end()) >> 32 == 0;
}

}  // namespace

std::uint32_t append_table(LayoutBlock& layout, const ViewBlock& block, std::size_t views,
                           std::size_t unit) {
  const auto count = static_cast<unsigned>(views);
  const std::size_t start = Table::start(count, block.rank), words = Table::words_of_entry(count);
  if (block.rank == 0 || block.rank > Table::kMaxSteps ||
      start + block.rank * words / 2 > LayoutBlock::capacity() ||
      !is_countable(block, views, unit)) {
    return 0;
  }
  layout.resize(start);
  std::uint32_t entries = 0, repeats = 0, inner_size = 1;
  std::array<std::uint32_t, kMaxInputs> counted{};  // distance that a whole row has in each view
  for (std::size_t dim = block.rank; dim-- != 0;) {
    const std::size_t of_unit = dim + 1 == block.rank ? unit : 1;
    const auto size = static_cast<std::uint32_t>(block.block[dim] / of_unit);
    for (std::size_t view = 0; view < views; ++view) {
      if (of_unit != 1 && block.block[(1 + view) * block.rank + dim] == 0) repeats |= 1u << view;
    }
    if (size == 1 && dim != 0) continue;
    std::array<std::uint32_t, 2 + kMaxInputs + 3> entry{};
    if (entries != 0) {
      const auto [multiplier, shift] = divisor(inner_size);
      entry = {multiplier, shift};
    }
    for (std::size_t view = 0; view < views; ++view) {
      const auto stride =
          static_cast<std::uint32_t>(block.block[(1 + view) * block.rank + dim] * of_unit);
      entry[2 + view] = stride - counted[view];  // modulo 2^32
      counted[view] = stride * size;
    }
    for (std::size_t w = 0; w < words; w += 2) {
      layout.push_back(entry[w] | std::uint64_t{entry[w + 1]} << 32);
    }
    inner_size = size;
    ++entries;
  }
  return Table::kExists | (unit != 1 ? Table::kChunks : 0) | (entries - 1) << Table::kLogSteps |
         repeats << Table::kLogRepeats;
}

}  // namespace kiln::ops
