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
  bool are_turned() const {
    return any(last(), [](std::size_t stride) { return stride > 1; });
  }
  // How far apart neighbours of a group lie in the output.
  std::size_t apart() const {
    std::size_t inside = 1;
    for (std::size_t dim = turned_dim() + 1; dim < block.rank; ++dim) inside *= size(dim);
    return are_lines() ? kLine : inside;
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

// What a kernel is, beside its views.
struct Kernel {
  Reads reads;
  std::size_t bytes;  // of an element
  bool is_alone;      // a multiprocessor holds one of its blocks of 1024 threads
};

// Elements of a view that kernels of one input take one a thread, in blocks of 512.
std::size_t few_of_one(const tuning::Spread& spread) {
  constexpr std::size_t kSmall = std::size_t{1} << 21;  // device/index.cuh
  return std::min<std::size_t>(kSmall, tuning::most_blocks(spread.machine) * 512ull);
}

// The largest block, of `least` to `most` threads, of which a multiprocessor can be full, and by which none has
// a tenth more than its share.
unsigned even_block(const tuning::Spread& spread, std::size_t threads, unsigned least,
                    unsigned most) {
  for (unsigned block = most; block > least; block /= 2) {
    const std::size_t round = std::size_t{block} * spread.multiprocessors;
    const bool are_even = 10 * ((threads + round - 1) / round * round) <= 11 * threads;
    if (are_even && spread.machine.threads % block == 0) return block;
  }
  return least;
}

// A thread an element. What neighbours of a turned view share, a large block reads once: they lie in rows of the
// output, one below the other. A copy's blocks have shared memory, so that a multiprocessor holds few. NVIDIA
// H100, us by blocks of 256, 512 and 1024: uneg_f16 transposed, of 512x512 3.9, 3.6, 3.2, of 1500x384 6.0, 5.2,
// 5.3, of 384x384 2.9, 2.9, 3.2; narrowed, of 1000x777 4.9, 5.1, 5.5; ucopy_f16 narrowed, of 512x512 3.2, 2.8, 2.9;
// H200, badd_f64, which is alone, transposed, of 512x512 4.5, 4.9, 5.4.
tuning::Launch one_each(const tuning::Spread& spread, const Views& views, std::size_t count,
                        const Kernel& kernel) {
  unsigned block = count > 128ull * spread.multiprocessors ? 256 : 128;
  if (views.are_turned() && !kernel.is_alone) {
    block = even_block(spread, count, block, count > spread.resident() ? 512 : 1024);
  }
  const std::size_t few = kernel.reads == Reads::kCopied
                              ? 1024ull * spread.multiprocessors
                              : 256ull * tuning::most_blocks(spread.machine);
  if (count > few) block = std::max(block, 512u);
  return tuning::chunk_each(count, 1, block);
}

// Groups for a thread each, of functions of one operand; 0: elements go one by one, for which more threads work.
// Results of eight bytes that are fewer than four side by side are less than memory writes at once. NVIDIA H200,
// us one by one and by groups, for f16, f32 and f64: 700x900 transposed 6.0, 4.7; 6.3, 5.1; 6.8, 6.1; 768x768 5.8,
// 6.0; 6.0, 6.4; 6.5, 7.6; 1000x1000 8.3, 5.3; 9.0, 6.1; 9.9, 8.3; 1500x1000 narrowed 8.1, 7.7; 8.6, 8.4; 9.9,
// 10.7; H100, 8x224x224x3 channels first 7.8, 8.5; 8.3, 10.5; 9.8, 18.4; of one byte 7.6, 6.8.
std::size_t groups_of(const tuning::Spread& spread, const Views& views, std::size_t count,
                      std::size_t bytes) {
  const std::size_t groups = views.groups(count), apart = views.apart();
  if (3 * groups > count || (bytes == 8 && apart < 4)) return 0;
  std::size_t few = (bytes <= 2 ? 8 : apart >= 8 * kLine ? 9 : 10) * spread.resident() / 4;
  if (views.are_lines()) few = 4 * spread.resident();
  if ((apart < 8 && bytes != 1) || (views.are_lines() && bytes == 8)) few = few_of_one(spread);
  return count > few ? groups : 0;
}

// By blocks of 128 threads and larger ones. NVIDIA H100, us by blocks of 128, 512 and 1024, transposed: uneg_f32 of
// 1024x1024 8.8, 8.4, 8.7, of 2x320x64x64 with its channels last 21.2, 18.8, 19.6, of 4096x4096 134, 121, 116;
// uneg_f16 of 4096x4096 88, 87, 113; but uneg_f32 of 100000x32, whose groups are 32 side by side, 20.7, 21.4, 24.4.
tuning::Launch by_groups(const tuning::Spread& spread, const Views& views, std::size_t groups,
                         std::size_t bytes) {
  unsigned most = 128;
  if (views.apart() >= 8 * kLine) {
    const bool are_many = bytes >= 4 && groups > 4 * spread.resident();
    most = are_many ? 1024 : groups > spread.resident() ? 512 : 256;
  }
  return spread.over(groups, even_block(spread, groups, 128, most));
}

tuning::Launch launch_of(const tuning::Spread& spread, const Views& views, std::size_t count,
                         const Kernel& kernel) {
  const std::size_t resident = spread.resident(), per_chunk = 16 / kernel.bytes;
  const bool is_large = count > resident;
  std::size_t few = few_of_one(spread);
  switch (kernel.reads) {
    case Reads::kSingly: few = spread.twice(); break;
    case Reads::kGroups: {
      const std::size_t groups = is_large ? groups_of(spread, views, count, kernel.bytes) : 0;
      if (groups != 0) return by_groups(spread, views, groups, kernel.bytes);
      break;
    }
    case Reads::kRows: {
      few = spread.few_of_view();
      const bool are_many = count > (kernel.bytes == 1 ? resident : few);
      if (are_many && views.are_rows(per_chunk)) return spread.strided(count);
      // NVIDIA H200, us one by one, and by long groups: badd_f16, badd_f32 of 768x768, one operand transposed,
      // 6.1, 5.8; of 700x900 6.7, 5.5 (f32).
      if (kernel.bytes > 1 && count > 2 * resident && views.has_long_groups(per_chunk)) {
        return spread.strided(count);
      }
      break;
    }
    case Reads::kCopied:
      if (is_large && views.are_rows(per_chunk)) {
        return spread.one_each(count / per_chunk, 5 * spread.multiprocessors);
      }
      if (is_large && turns_tiles(views, count, kernel.bytes, spread.multiprocessors)) {
        return spread.copied(count, true);
      }
      break;
  }
  if (count > few) {
    return kernel.reads == Reads::kCopied ? spread.copied(count, views.are_turned())
                                          : spread.strided(count);
  }
  // Kernels of three views recognize a thread an element by few blocks.
  if (views.views != 3) return one_each(spread, views, count, kernel);
  return is_large ? tuning::chunk_each(count, 1, 1024) : spread.one_each(count);
}

}  // namespace

Result<void> set_view_grid(Launch& launch, const Gpu& gpu, Geometry geometry, std::size_t count,
                           const ViewBlock& block, std::size_t views, Reads reads) {
  const OwnKernel& own = kOwnKernels[launch.own_kernel];
  const tuning::Spread spread = spread_over(gpu);
  const bool is_alone = tuning::sharing(own.name.data(), spread.machine.architecture) == 1;
  const bool singly = own.cost == Cost::kLong && own.out == DType::kF64;
  const bool is_host = spread.machine.architecture == tuning::Architecture::kHost;
  if ((singly && count > spread.resident()) || is_host || block.rank == 0) {
    return set_elementwise_grid(launch, gpu, geometry, count, false);
  }
  return set_grid(launch, geometry, count,
                  launch_of(spread, {block, views}, count, {reads, size_of(own.dtype), is_alone}));
}

}  // namespace kiln::ops
