#include "view_grid.hpp"

#include <algorithm>

#include "kernels/tuning/fill.hpp"
#include "kernels/tuning/views.hpp"
#include "plan.hpp"
#include "tiling.hpp"
#include "view_table.hpp"

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
    return size(last()) >= tuning::kLeastForLines &&
           any(last(), [](std::size_t stride) { return stride == 1; }) && !are_turned();
  }
  // Returns the last dim before the innermost that some view walks with stride 1, or the innermost
  // dim if there is none.
  std::size_t turned_dim() const {
    for (std::size_t dim = last(); dim-- > 0;) {
      if (any(dim, [](std::size_t stride) { return stride == 1; })) return dim;
    }
    return last();
  }
  // True if a view has elements that are read again.
  bool repeat() const {
    for (std::size_t dim = 0; dim < block.rank; ++dim) {
      if (any(dim, [](std::size_t stride) { return stride == 0; })) return true;
    }
    return false;
  }
  bool are_turned() const {
    return any(last(), [](std::size_t stride) { return stride > 1; });
  }
  // Distance in the output between the neighbours of a group.
  std::size_t apart() const {
    std::size_t inside = 1;
    for (std::size_t dim = turned_dim() + 1; dim < block.rank; ++dim) inside *= size(dim);
    return are_lines() ? kLine : inside;
  }
  // Returns the number of groups. A thread takes one group at a time.
  std::size_t groups(std::size_t count) const {
    const auto of = [&](std::size_t dim, std::size_t pieces) { return count / size(dim) * pieces; };
    if (are_lines()) return of(last(), ((size(last()) - 1) / (kLine * tuning::kLines) + 1) * kLine);
    const std::size_t turned = turned_dim();
    return turned == last() ? count : of(turned, (size(turned) - 1) / tuning::kNeighbours + 1);
  }

  // True if every stride of the view is a multiple of `elements`, but for a stride of 1 in `dense`.
  bool is_multiple(std::size_t view, std::size_t elements, std::size_t dense) const {
    for (std::size_t dim = 0; dim < block.rank; ++dim) {
      const bool is_dense = dim == dense && stride(view, dim) == 1;
      if (!is_dense && stride(view, dim) % elements != 0) return false;
    }
    return true;
  }
  // True if rows consist of whole chunks, or of copies of one element where the kernel repeats it.
  bool are_rows(std::size_t per_chunk, bool repeats = false) const {
    for (std::size_t view = 0; view < views; ++view) {
      if (repeats && stride(view, last()) == 0) continue;
      if (stride(view, last()) != 1 || !is_multiple(view, per_chunk, last())) return false;
    }
    return size(last()) % per_chunk == 0;
  }
  // True if the turned dim consists of whole groups of `elements` elements, which begin where wide
  // accesses may wherever they are dense.
  bool are_dense_groups(std::size_t elements) const {
    const std::size_t turned = turned_dim();
    bool are = turned != last() && !are_lines() && size(turned) % elements == 0;
    for (std::size_t view = 0; view < views; ++view) {
      are = are && (stride(view, turned) != 1 || is_multiple(view, elements, turned));
    }
    return are;
  }
};

// True if a copy should turn tiles (kernels/families/transpose_tile.cuh), which it does by whole
// words. By parts of words, tiles are slower. Measured on an H200, own geometry, ucopy_f16 of
// 1025x511 transposed, in us, by elements -> by tiles: 5.4 -> 7.9.
bool turns_tiles(const Views& views, std::size_t count, std::size_t bytes,
                 unsigned multiprocessors) {
  const std::size_t of_word = bytes < 4 ? 4 / bytes : 1, rows = 32 * of_word;
  const std::size_t columns = 8192 / bytes / rows;
  const Tiling tiling = tiling_of(views.block, 1, count, columns, rows);
  return tiling.count() >= multiprocessors / 2 &&
         2 * tiling.count() * rows * columns <= 3 * count && tiling.down.in[0] == 1 &&
         (tiling.across.size | tiling.down.size) % of_word == 0 &&
         views.is_multiple(0, of_word, views.turned_dim());
}

// Properties of a kernel other than its views.
struct Kernel {
  Reads reads;
  std::size_t bytes;      // size of an element
  bool single_occupancy;  // a multiprocessor holds only one of its blocks of 1024 threads
  bool by_chunks;         // rows of whole chunks go by chunks
  bool repeats;           // a chunk may repeat one element
  bool by_table;          // it reads tables
  std::size_t per_chunk;  // elements of a chunk

  bool has_rows(const Views& views) const {
    return by_chunks && views.are_rows(per_chunk, repeats);
  }
};

// A grid, and the units of the table that goes with it (of 0 elements: no table).
struct Walk {
  tuning::Launch launch;
  TableUnits units{0};
};

// Returns the number of elements of a view up to which kernels with one input take one per thread,
// in blocks of 512.
std::size_t few_of_one(const tuning::Spread& spread) {
  constexpr std::size_t kSmall = std::size_t{1} << 21;  // device/index.cuh
  return std::min<std::size_t>(kSmall, tuning::max_blocks(spread.machine) * 512ull);
}

// Launches one thread per element. In a turned view, neighbours lie below one another in the
// output; a large block reads the data that they share only once. A copy's blocks have shared
// memory, so a multiprocessor holds few of them.
//
// Measured on an H100, own geometry, in us, blocks of 256, 512 and 1024 threads: uneg_f16
// transposed, 512x512 3.9, 3.6, 3.2, 384x384 2.9, 2.9, 3.2; ucopy_f16 narrowed, 512x512 3.2, 2.8,
// 2.9. On an H200: badd_f64, whose blocks are alone, transposed, 512x512 4.5, 4.9, 5.4.
tuning::Launch one_each(const tuning::Spread& spread, const Views& views, std::size_t count,
                        const Kernel& kernel) {
  unsigned block = count > 128ull * spread.multiprocessors ? 256 : 128;
  if (views.are_turned() && !kernel.single_occupancy) {
    block = even_block(spread, count, block, count > spread.resident() ? 512 : 1024);
  }
  const std::size_t few = kernel.reads == Reads::kCopied
                              ? 1024ull * spread.multiprocessors
                              : 256ull * tuning::max_blocks(spread.machine);
  if (count > few) block = std::max(block, 512u);
  return tuning::chunk_each(count, 1, block);
}

// Returns the number of groups if a function of one operand should take a group per thread, or 0 if
// elements should go one by one, which puts more threads to work. With eight-byte results, fewer
// than four side by side are less than memory writes at once.
//
// Measured in us, own geometry, one by one -> by groups, for f16, f32 and f64. H200, transposed:
// 700x900 6.0 -> 4.7, 6.3 -> 5.1, 6.8 -> 6.1; 768x768 5.8 -> 6.0, 6.0 -> 6.4, 6.5 -> 7.6. H100,
// 8x224x224x3 channels first: 7.8 -> 8.5, 8.3 -> 10.5, 9.8 -> 18.4.
std::size_t groups_of(const tuning::Spread& spread, const Views& views, std::size_t count,
                      std::size_t bytes) {
  const std::size_t groups = views.groups(count), apart = views.apart();
  if (3 * groups > count || (bytes == 8 && apart < 4)) return 0;
  std::size_t few = (bytes <= 2 ? 8 : apart >= 8 * kLine ? 9 : 10) * spread.resident() / 4;
  if (views.are_lines()) few = 4 * spread.resident();
  if ((apart < 8 && bytes != 1) || (views.are_lines() && bytes == 8)) few = few_of_one(spread);
  return count > few ? groups : 0;
}

// Launches groups in blocks of 128 threads, or in larger ones if the neighbours of a group are far
// apart. Measured on an H100, own geometry, transposed, in us, blocks of 128, 512 and 1024 threads:
// uneg_f32 4096x4096 134, 121, 116; uneg_f16 4096x4096 88, 87, 113; uneg_f32 100000x32, with
// neighbours 32 apart, 20.7, 21.4, 24.4.
tuning::Launch by_groups(const tuning::Spread& spread, const Views& views, std::size_t groups,
                         std::size_t bytes) {
  unsigned most = 128;
  if (views.apart() >= 8 * kLine) {
    const bool are_many = bytes >= 4 && groups > 4 * spread.resident();
    most = are_many ? 1024 : groups > spread.resident() ? 512 : 256;
  }
  return spread.over(groups, even_block(spread, groups, 128, most));
}

// Launches threads that take elements of a table, four each if that leaves enough of them.
//
// Measured on an H200, own geometry, in us, each thread plans -> table, operands in the cache:
// badd_f16 of 1000x1001 narrowed 8.3 -> 3.9, of 4x112x113x33 permuted 34 -> 7.0; uneg_f32 5.8 ->
// 4.0, 12.5 -> 7.4; in memory: badd_f32 of 100000x333 narrowed 171 -> 120, of 8x512x513x33 permuted
// 1323 -> 282; uneg_f32 130 -> 110, 870 -> 255. Blocks of 256 -> 512 threads: ucopy_f16 of
// 1000x1001 narrowed 4.5 -> 4.2; but of 4099x4097, in memory, in blocks that stay 47, in blocks
// that exit 59.
Walk by_elements_of_table(const tuning::Spread& spread, std::size_t count, Reads reads) {
  const std::size_t resident = spread.resident();
  if (reads == Reads::kCopied && count > 8 * resident) return {spread.copied(count, false), {1}};
  const std::size_t threads = std::max(count / 4, std::min(count, resident));
  const unsigned block = reads == Reads::kCopied ? tuning::Spread::kCopyThreads : 256;
  tuning::Launch launch = tuning::chunk_each(threads, 1, block);
  launch.blocks = std::min(launch.blocks, tuning::max_blocks(spread.machine));
  return {launch, {1}};
}

// True if threads should take several neighbouring elements together, which no table does. Lines are
// slower than a table. Measured on an H200, own geometry, from memory, in us, lines -> table:
// uneg_f16 of 8191x4095 narrowed 100 -> 80; of 300000x65 108 -> 49; of 8x512x513x33, two dims
// swapped, 846 -> 208; uerf_bf16 of 4099x4097 from one row 58 -> 39.
bool takes_together(const Views& views, const Kernel& kernel) {
  if (kernel.reads == Reads::kSingly || kernel.reads == Reads::kChosen) return false;
  if (kernel.reads == Reads::kRows && views.are_lines()) return false;
  return views.turned_dim() != views.last();
}

// True if a function of two operands should take groups of a table. Measured on an H200, own
// geometry, one operand transposed, in us, threads plan long groups -> table: badd_f16 of 768x768
// 5.4 -> 3.2, of 1024x1024 7.8 -> 3.6, of 4096x4096 from memory 48 -> 38; lt_f32, elements of
// neighbours, 6.7 -> 3.5, 9.2 -> 4.3, 126 -> 51; badd_u8 5.8 -> 3.5, 8.0 -> 3.7, 57 -> 27; bdiv_f64
// 6.0 -> 4.8, of 4096x4096 116 -> 128.
bool takes_dense_groups(const tuning::Spread& spread, const Views& views, std::size_t count,
                        const Kernel& kernel) {
  const std::size_t resident = spread.resident();
  return kernel.reads == Reads::kRows && kernel.by_chunks && count > 2 * resident &&
         (kernel.bytes != 8 || count <= 16 * resident) && views.are_dense_groups(kernel.per_chunk);
}

// Returns the launch of threads that plan their walk.
tuning::Launch launch_of(const tuning::Spread& spread, const Views& views, std::size_t count,
                         const Kernel& kernel) {
  const std::size_t resident = spread.resident();
  const bool is_large = count > resident;
  const auto by_chunks = [&] {
    return spread.one_each(count / kernel.per_chunk, 5 * spread.multiprocessors);
  };
  std::size_t few = few_of_one(spread);
  switch (kernel.reads) {
    case Reads::kChosen:
      if (kernel.has_rows(views)) return spread.strided(count);
      [[fallthrough]];
    case Reads::kSingly: few = spread.twice(); break;
    case Reads::kGroups: {
      // Measured on an H200, own geometry, in us, one by one -> by chunks: uneg_f16, uneg_f32 and
      // uneg_f64 of 512x1024 from one row 3.6 -> 2.8, 3.6 -> 3.2, 3.6 -> 4.9.
      const std::size_t many = kernel.bytes == 8 ? few : resident;
      if (count > many && kernel.has_rows(views)) return by_chunks();
      const std::size_t groups = is_large ? groups_of(spread, views, count, kernel.bytes) : 0;
      if (groups != 0) return by_groups(spread, views, groups, kernel.bytes);
      break;
    }
    case Reads::kRows: {
      few = spread.few_of_view();
      const bool are_many = count > (kernel.bytes == 1 ? resident : few);
      if (are_many && kernel.has_rows(views)) return spread.strided(count);
      break;
    }
    case Reads::kCopied:
      if (is_large && kernel.has_rows(views)) return by_chunks();
      if (is_large && turns_tiles(views, count, kernel.bytes, spread.multiprocessors)) {
        return spread.copied(count, true);
      }
      break;
  }
  if (count > few) {
    return kernel.reads == Reads::kCopied ? spread.copied(count, views.are_turned())
                                          : spread.strided(count);
  }
  // Kernels of three views tell from a small number of blocks that each thread has one element.
  if (views.views != 3) return one_each(spread, views, count, kernel);
  return is_large ? tuning::chunk_each(count, 1, 1024) : spread.one_each(count);
}

Kernel kernel_of(const OwnKernel& own, Reads reads, bool aligned, const tuning::Spread& spread) {
  const auto bytes_of = [](DType dtype) { return static_cast<unsigned>(size_of(dtype)); };
  const unsigned out = bytes_of(own.out), first = bytes_of(own.first);
  const unsigned in = std::max(first, reads == Reads::kChosen ? bytes_of(own.dtype) : 0);
  const unsigned per_chunk = 16 / std::max(in, out);
  Kernel kernel{reads,    in, single_occupancy(own, spread), aligned, false, !goes_singly(own),
                per_chunk};
  if (reads == Reads::kRows) kernel.repeats = tuning::binary_repeats(out, in);
  if (reads == Reads::kChosen) kernel.repeats = tuning::where_repeats(per_chunk);
  if (reads == Reads::kSingly) {
    const bool has_f8 = own.first == DType::kF8E4M3 || own.out == DType::kF8E4M3;
    kernel.by_chunks = aligned && tuning::casts_rows(out, in);
    kernel.per_chunk = tuning::per_cast_chunk(out, in, has_f8, spread.machine.architecture);
  }
  return kernel;
}

// Launches threads that take chunks of a table: one each, or as many threads as the device holds for
// many chunks of one operand. Casts have fewer of those only if they read elements again.
//
// Measured on an H200, own geometry, in us. Each thread plans -> table, operands in the cache:
// badd_f16 of 1024x1024 narrowed 6.5 -> 2.4, of 8x64x32x64 permuted 9.7 -> 2.8; uneg_f32 5.0 -> 2.8,
// 6.4 -> 3.1; where_u8_f16 5.3 -> 2.5, 8.0 -> 3.5; in memory, 4096x4096 narrowed: badd_f16 32 -> 26,
// lt_f32 48 -> 36. In memory, each plans -> one each -> as many as fit: uneg_f32 of 4096x4096
// narrowed 38 -> 44 -> 36, of 8192x8192 from one row 83 -> 121 -> 64. One each -> as many as fit:
// cast_f16_bf16 of 8192x8192 narrowed 65 -> 72, from one row 42 -> 32.
tuning::Launch by_chunks_of_table(const tuning::Spread& spread, const Views& views,
                                  std::size_t chunks, Reads reads) {
  const bool exits = reads == Reads::kSingly && !views.repeat();
  const bool stays = views.views == 1 && chunks > 4 * spread.resident() && !exits;
  return stays ? spread.over(chunks, 256) : tuning::chunk_each(chunks, 1, 128);
}

Walk walk_of(const tuning::Spread& spread, const Views& views, std::size_t count,
             const Kernel& kernel) {
  const std::size_t resident = spread.resident();
  // Kernels of two operands plan quickly.
  const bool is_tiny = kernel.reads == Reads::kRows && count <= resident / 128;
  const bool by_table = kernel.by_table && !is_tiny;
  // Few chunks take longer than an element for each of many threads.
  const bool is_short = kernel.reads == Reads::kSingly && 4 * count <= resident;
  const bool has_rows = kernel.has_rows(views) && !is_short;
  if (by_table && has_rows) {
    return {by_chunks_of_table(spread, views, count / kernel.per_chunk, kernel.reads),
            {kernel.per_chunk}};
  }
  if (by_table && !has_rows && takes_dense_groups(spread, views, count, kernel)) {
    return {tuning::chunk_each(count / kernel.per_chunk, 1, 256),
            {kernel.per_chunk, views.turned_dim()}};
  }
  if (by_table && !has_rows && count > resident && !takes_together(views, kernel)) {
    return by_elements_of_table(spread, count, kernel.reads);
  }
  const tuning::Launch planned = launch_of(spread, views, count, kernel);
  const bool has_thread_each = std::size_t{planned.blocks} * planned.threads >= count;
  return {planned, {by_table && !has_rows && has_thread_each ? 1u : 0u}};
}

}  // namespace

bool casts_by_rows(const OwnKernel& own, const Gpu& gpu, const ViewBlock& block, bool aligned) {
  return kernel_of(own, Reads::kSingly, aligned, spread_over(gpu)).has_rows(Views{block, 1});
}

Result<std::size_t> set_view_grid(Launch& launch, const Gpu& gpu, Geometry geometry,
                                  std::size_t count, const ViewBlock& block, std::size_t views,
                                  Reads reads, bool aligned) {
  const OwnKernel& own = kOwnKernels[launch.own_kernel];
  const tuning::Spread spread = spread_over(gpu);
  const bool is_host = spread.machine.architecture == tuning::Architecture::kHost;
  if ((goes_singly(own) && count > spread.resident()) || is_host || block.rank == 0) {
    KILN_TRY(set_elementwise_grid(launch, gpu, geometry, count, false));
    return block.rank;
  }
  const Views walked{block, views};
  const Kernel kernel = kernel_of(own, reads, aligned, spread);
  Walk walk = walk_of(spread, walked, count, kernel);
  std::size_t known = 0;
  if (geometry == Geometry::kOwn && walk.units.elements != 0) {
    known = append_table(launch.layout, block, views, walk.units);
    if (known == 0) walk.launch = launch_of(spread, walked, count, kernel);
  }
  KILN_TRY(set_grid(launch, geometry, count, walk.launch));
  return block.rank | known << 32;
}

}  // namespace kiln::ops
