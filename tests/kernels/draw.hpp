// Random choices for cases: sizes, shapes, views and grids.
//
// All powers of two are equally likely as the magnitude of a size. Half of the sizes are a multiple
// of a chunk, a wave or a block of threads, or differ from one by 1, because launches and kernels
// change there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "values.hpp"
#include "views.hpp"

namespace kiln::conformance {

// The number of draws for a choice that few draws give, such as a view for which the helpers choose
// a kernel.
inline constexpr std::size_t kMaxDraws = 1000;

class Draw {
 public:
  // `limit`: the largest number of elements of an operand.
  Draw(std::uint64_t seed, std::size_t limit) : random_(seed), limit_(limit) {}

  std::size_t limit() const { return limit_; }
  // The number of products that a reference may sum up in reasonable time.
  std::size_t max_terms() const { return std::min(8 * limit_, std::size_t{1} << 21); }
  std::size_t below(std::size_t end) { return random_.below(end); }
  std::size_t between(std::size_t first, std::size_t last) {
    return first + below(last - first + 1);
  }
  double uniform(double low, double high) { return random_.uniform(low, high); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <typename T, std::size_t count>
  T one_of(const T (&list)[count]) {
    return list[below(count)];
  }

  std::size_t size(std::size_t most);  // 1 to `most`; 1 if that is 0
  // Returns dims with up to `most` elements in all.
  ops::Extents dims(std::size_t min_rank, std::size_t max_rank, std::size_t most);
  ops::Extents dims(std::size_t min_rank, std::size_t max_rank) {
    return dims(min_rank, max_rank, limit_);
  }

  // Returns a view with these dims: contiguous, or any mix of permuted, stepped, narrowed,
  // repeated and overlapping dims.
  NamedLayout view(const ops::Extents& dims);
  NamedLayout dense(const ops::Extents& dims);

  std::size_t misalignment();               // in elements; often 0
  std::size_t gap();                        // often 0
  std::uint32_t threads(std::size_t most);  // of a block; often whole waves
  std::uint32_t multiprocessors();          // to plan for; often 0, those of the device
  // Returns a grid of kiln's own geometry, for a GPU of any size, or a grid of any size.
  GridChoice own_grid(std::size_t most_threads = 1024);
  GridChoice grid();  // also of the reference geometry

 private:
  // Returns a size from 2^log to 2^(log + 1), but at most `most`.
  std::size_t of_magnitude(unsigned log, std::size_t most);
  ops::Layout strided(const ops::Extents& dims);

  Random random_;
  std::size_t limit_;
};

}  // namespace kiln::conformance
