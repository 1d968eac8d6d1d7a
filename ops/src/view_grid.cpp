#include "view_grid.hpp"

#include <algorithm>

#include "kernels/tuning/fill.hpp"
#include "kernels/tuning/views.hpp"
#include "plan.hpp"
#include "tiling.hpp"

namespace kiln::ops {
namespace {

using tuning::kLine;

struct Views {
  const ViewBlock& block;
  std::size_t views;

  std::size_t size(std::size_t dim) const { return block.block[dim]; }
  std::size_t stride(std::size_t view, std::size_t dim) const {
    return block.block[(1 + view) * block.rank + dim];
  }
  std::size_t last() const { return block.rank - 1; }

  template <typename Test>
  bool any(std::size_t dim, Test test) const {
    for (std::size_t view = 0; view < views; ++view) {
      if (test(stride(view, dim))) return true;
    }
    return false;
  }

  bool are_lines() const {
    return size(last()) > kLine && !any(last(), [](std::size_t stride) { return stride > 1; });
  }
  // Another dim than the last that a view walks with stride 1; the last: none.
  std::size_t turned_dim() const {
    for (std::size_t dim = last(); dim-- > 0;) {
      if (any(dim, [](std::size_t stride) { return stride == 1; })) return dim;
    }
    return last();
  }
  // Groups of which a thread takes one at a time.
  std::size_t groups(std::size_t count) const {
    const auto of = [&](std::size_t dim, std::size_t pieces) { return count / size(dim) * pieces; };
    if (are_lines()) return of(last(), ((size(last()) - 1) / (kLine * tuning::kLines) + 1) * kLine);
    const std::size_t turned = turned_dim();
    return turned == last() ? count : of(turned, (size(turned) - 1) / tuning::kNeighbours + 1);
  }

  // Whether every stride of the view but 1 is a multiple of so many elements.
  bool is_multiple(std::size_t view, std::size_t elements) const {
    for (std::size_t dim = 0; dim < block.rank; ++dim) {
      if (stride(view, dim) != 1 && stride(view, dim) % elements != 0) return false;
    }
    return true;
  }
  bool are_rows(std::size_t per_chunk) const {
    for (std::size_t view = 0; view < views; ++view) {
      if (stride(view, last()) != 1 || !is_multiple(view, per_chunk)) return false;
    }
    return size(last()) % per_chunk == 0;
  }
  // Whether a view has long groups of so many elements an access, in another dim than the last.
  bool has_long_groups(std::size_t elements) const {
    const std::size_t turned = turned_dim();
    for (std::size_t view = 0; view < views && turned != last() && !are_lines(); ++view) {
      if (stride(view, turned) == 1 && is_multiple(view, elements)) return true;
    }
    return false;
  }
};

// Whether a copy turns tiles (kernels/families/transpose_tile.cuh) by whole words. By parts of words it
// takes longer than element by element: NVIDIA H200, us for ucopy_f16 of 1025x511 transposed 7.9, 5.4.
bool turns_tiles(const Views& views, std::size_t count, std::size_t bytes,
                 unsigned multiprocessors) {
  const std::size_t of_word = bytes < 4 ? 4 / bytes : 1, rows = 32 * of_word;
  const std::size_t columns = 8192 / bytes / rows;
  const Tiling tiling = tiling_of(views.block, 1, count, columns, rows);
  return tiling.count() >= multiprocessors / 2 &&
         2 * tiling.count() * rows * columns <= 3 * count && tiling.down.in[0] == 1 &&
         (tiling.across.size | tiling.down.size) % of_word == 0 && views.is_multiple(0, of_word);
}

// NVIDIA H200, us by groups, and a thread an element: uexp_f32 of 1500x384 transposed 5.1, 5.7, affine_f16
// 4.7, 5.6; uexp_f32 of 2x56x56x128 channels first 8.9, 7.6, of 8x512x4x64 permuted 12.5, 8.4; badd_f32 of
// 2x197x12x64 permuted, by rows, 5.1, 4.2, of 1x1500x6x64 7.0, 6.2, of 1024x1024 transposed 8.1, 9.9.
// Copies, a thread an element, by blocks of 256, 512 and 1024: ucopy_f32 of 299x700 transposed 5.8, 3.9, 3.5;
// ucopy_f16 of 299x1283 7.7, 5.0, 5.3, of 3x224x224x3 permuted 5.8, 5.0, 5.6; but ucopy_f32 5.7, 5.8, 6.0.
tuning::Launch launch_of(const tuning::Spread& spread, const Views& views, std::size_t count,
                         Reads reads, std::size_t bytes) {
  const bool turned_copy = reads == Reads::kCopied && views.stride(0, views.last()) > 1;
  if (count <= spread.resident()) {
    return views.views == 3 || turned_copy ? spread.one_each(count) : spread.singly(count);
  }
  std::size_t few = spread.few_of_view(reads != Reads::kGroups);
  switch (reads) {
    case Reads::kSingly: few = spread.twice(); break;
    case Reads::kGroups: {
      const std::size_t groups = views.groups(count);
      const bool long_groups = 6 * groups <= count && !views.are_lines() && bytes != 8;
      if (count > few ? 3 * groups <= count : long_groups && count <= 9 * spread.resident() / 4) {
        return spread.over(groups, 128);
      }
      break;
    }
    case Reads::kRows:
      if (count <= few && bytes > 1) break;
      if (views.are_rows(16 / bytes)) return spread.strided(count);
      if (bytes >= 4 && views.has_long_groups(16 / bytes)) return spread.strided(count);
      break;
    case Reads::kCopied: {
      const std::size_t chunks = count * bytes / 16;
      if (views.are_rows(16 / bytes)) return spread.one_each(chunks, 5 * spread.multiprocessors);
      if (turns_tiles(views, count, bytes, spread.multiprocessors)) {
        return spread.copied(count, true);
      }
      break;
    }
  }
  if (count <= few) {
    // Kernels of three views recognize a thread an element by few blocks.
    if (views.views == 3) return tuning::chunk_each(count, 1, 1024);
    if (turned_copy || (reads == Reads::kCopied && bytes <= 2)) return tuning::chunk_each(count, 1, 512);
    return spread.singly(count);
  }
  return reads == Reads::kCopied ? spread.copied(count, turned_copy) : spread.strided(count);
}

}  // namespace

Result<void> set_view_grid(Launch& launch, const Gpu& gpu, Geometry geometry, std::size_t count,
                           const ViewBlock& block, std::size_t views, Reads reads) {
  const OwnKernel& own = kOwnKernels[launch.own_kernel];
  const tuning::Spread spread = spread_over(gpu);
  const bool singly = own.cost == Cost::kLong && own.out == DType::kF64;
  const bool is_host = spread.machine.architecture == tuning::Architecture::kHost;
  if (singly || is_host || block.rank == 0) {
    return set_elementwise_grid(launch, gpu, geometry, count, false);
  }
  return set_grid(launch, geometry, count,
                  launch_of(spread, {block, views}, count, reads, size_of(own.dtype)));
}

}  // namespace kiln::ops
