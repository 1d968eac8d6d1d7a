#include "draw.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace kiln::conformance {
namespace {

std::string joined(const ops::Extents& numbers) {
  std::string text;
  for (const std::size_t& each : numbers) {
    text += (text.empty() ? "" : ",") + std::to_string(each);
  }
  return text;
}

}  // namespace

std::size_t Draw::of_magnitude(unsigned log, std::size_t most) {
  const std::size_t power = std::size_t{1} << log;
  std::size_t size = power + below(power);
  static constexpr std::size_t kUnits[] = {4, 8, 16, 32, 64, 128, 256, 1024};
  const std::size_t unit = one_of(kUnits);
  if (one_in(2) && size >= unit) size = size / unit * unit + below(3) - 1;
  return std::clamp(size, std::size_t{1}, std::max<std::size_t>(most, 1));
}

std::size_t Draw::size(std::size_t most) {
  const auto bits = static_cast<std::size_t>(std::bit_width(std::max<std::size_t>(most, 1)));
  return of_magnitude(static_cast<unsigned>(below(bits)), most);
}

ops::Extents Draw::dims(std::size_t min_rank, std::size_t max_rank, std::size_t most) {
  const std::size_t rank = between(min_rank, max_rank);
  // Each dim has a share in the magnitude of all.
  double shares[ops::kMaxRank] = {}, sum = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    shares[d] = one_in(8) ? 0 : uniform(0.01, 1);
    sum += shares[d];
  }
  // The larger of two sizes, for most small ones differ in nothing.
  std::size_t left = size(most), sizes[ops::kMaxRank] = {};
  left = std::max(left, size(most));
  const auto bits = static_cast<double>(std::bit_width(left));
  for (std::size_t d = 0; d < rank; ++d) {
    sizes[d] =
        shares[d] == 0 ? 1 : of_magnitude(static_cast<unsigned>(bits * shares[d] / sum), left);
    left /= sizes[d];
  }
  return {sizes, rank};
}

ops::Layout Draw::strided(const ops::Extents& dims) {
  const std::size_t rank = dims.rank();
  std::size_t order[ops::kMaxRank];  // of the dims in memory, the innermost last
  for (std::size_t d = 0; d < rank; ++d) order[d] = d;
  if (rank > 1 && one_in(2)) std::swap(order[below(rank)], order[rank - 1]);
  if (one_in(4)) {
    for (std::size_t d = 1; d < rank; ++d) std::swap(order[d], order[below(d + 1)]);
  }
  const bool has_gaps = one_in(2), repeats = one_in(3), overlaps = one_in(5);
  ops::Layout view{dims, dims};
  std::size_t stride = 1;
  if (one_in(3)) stride = one_in(2) ? size(64) : std::size_t{1} << between(1, 7);
  for (std::size_t i = rank; i-- > 0;) {
    const std::size_t d = order[i];
    view.strides[d] = stride;
    if (dims[d] == 1) {
      if (one_in(2)) view.strides[d] = size(1000);
    } else if (repeats && one_in(2)) {
      view.strides[d] = 0;
    } else if (overlaps && one_in(2)) {
      view.strides[d] = size(dims[d]);
    } else {
      std::size_t around = dims[d] + (has_gaps ? gap() : 0);
      if (has_gaps && one_in(3)) around = (around + 15) / 16 * 16;
      stride *= around;
    }
  }
  return view;
}

NamedLayout Draw::dense(const ops::Extents& dims) {
  NamedLayout view;
  view.name = shape_name(dims);
  view.layout = {dims};
  return view;
}

NamedLayout Draw::view(const ops::Extents& dims) {
  NamedLayout view = dense(dims);
  if (dims.empty() || one_in(4)) return view;
  do {
    view.layout = strided(dims);
  } while (extent_of(view.layout) > 4 * limit_);
  view.name += "/strides=" + joined(view.layout.strides);
  if (one_in(2)) view.offset = size(300);
  if (view.offset != 0) view.name += "/from=" + std::to_string(view.offset);
  return view;
}

std::uint32_t Draw::threads(std::size_t most) {
  const std::size_t count = size(most);
  return static_cast<std::uint32_t>(count >= 32 && !one_in(4) ? count / 32 * 32 : count);
}

std::uint32_t Draw::multiprocessors() {
  return one_in(2) ? 0 : static_cast<std::uint32_t>(size(132));
}

GridChoice Draw::own_grid(std::size_t most_threads) {
  if (!one_in(3)) {
    const std::uint32_t count = multiprocessors();
    return count == 0 ? conformance::own_grid() : own_grid_of(count);
  }
  const auto blocks = static_cast<std::uint32_t>(size(64));
  return grid_of(blocks, threads(most_threads));
}

GridChoice Draw::grid() { return one_in(3) ? reference_grid() : own_grid(); }

std::size_t Draw::misalignment() { return one_in(2) ? 0 : below(17); }

std::size_t Draw::gap() { return one_in(2) ? 0 : size(100); }

}  // namespace kiln::conformance
