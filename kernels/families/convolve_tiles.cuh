// Convolutions of one and two dims, and their transposes, as matrix products. Rows are output
// channels, columns are outputs, and sums run over channels and taps.
//
// A block computes a tile of results in steps. A step loads some weights, and the elements to
// multiply them by, into shared memory, with 0 beyond the image. In tiles of many rows all threads
// of the block take each step together. In tiles of few, teams take steps in turn and add up their
// results at the end, or have tiles of their own. f16 and bf16 are multiplied by matrix units. In
// f32 each thread computes 4 x 4 results at a time.
//
// Offsets within an image, and within the weights, fit into 32 bits. A window has up to kMaxTaps
// taps in each dim.
#pragma once

#include "device/half_matrix.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "families/convolve_class.cuh"
#include "tuning/convolve.hpp"

namespace kiln::families {

using namespace device;

inline constexpr u32 kTileThreadsOfBlock = tuning::kConvolveThreads;

// The product of a step: kStep weights for each row, and kStep elements for each column.
template <class T, u32 kRows, u32 kColumns, u32 kTeam>
class TileProduct;

// For f16 and bf16. Elements are kept as bits, those of a row or a column side by side.
template <class T, u32 kRows, u32 kColumns, u32 kTeam>
class TileProduct {
 public:
  using Element = u16;
  static constexpr u32 kStep = kTeam == kTileThreadsOfBlock ? 32 : 16;

 private:
  static constexpr u32 kStride = kStep + 8;  // eight rows of 16 bytes lie in different banks
  static constexpr u32 kGroups = kTeam / kHalfThreads;
  // Each group takes all rows or half of them.
  static constexpr u32 kAcross = kGroups < 2 ? 1 : kGroups / 2;
  static constexpr u32 kDown = kGroups / kAcross;
  static constexpr u32 kTilesDown = kRows / kDown / kHalfTile;
  static constexpr u32 kTilesRight = kColumns / kAcross / kHalfTile;
  using Left = HalfLeft<T, kStride>;
  using Right = HalfRight<T, kStride>;

 public:
  struct Step {
    alignas(16) u16 rows[kRows * kStride];
    alignas(16) u16 columns[kColumns * kStride];

    KILN_DEVICE void set_row(u32 row, u32 k, u16 weight) { rows[row * kStride + k] = weight; }
    template <u32 kCount>
    KILN_DEVICE void set_column(u32 column, u32 k, const u16 (&elements)[kCount]) {
      static_assert(kCount % 8 == 0, "whole pieces of sixteen bytes");
      u16* const to = columns + column * kStride + k;
#pragma unroll
      for (u32 i = 0; i < kCount; i += 8) store_16_bytes_shared(to + i, eight_halves(elements + i));
    }
  };

  KILN_DEVICE static u16 element(T x) { return x.bits; }

  KILN_DEVICE void add_step(const Step& step, u32 thread) {
    const u32 lane = thread % kHalfThreads, group = thread / kHalfThreads;
    const u16* const rows = step.rows + group / kAcross * kTilesDown * kHalfTile * kStride;
    const u16* const columns = step.columns + group % kAcross * kTilesRight * kHalfTile * kStride;
#pragma unroll
    for (u32 k = 0; k < kStep; k += kHalfTile) {
      Left left[kTilesDown];
      Right right;
#pragma unroll
      for (u32 y = 0; y < kTilesDown; ++y) left[y].load(rows + y * kHalfTile * kStride + k, lane);
#pragma unroll
      for (u32 x = 0; x < kTilesRight; ++x) {
        right.load(columns + x * kHalfTile * kStride + k, lane);
#pragma unroll
        for (u32 y = 0; y < kTilesDown; ++y) left[y].multiply(sums_[y][x], right, lane);
      }
    }
  }

  // Writes the results. Row r begins at to[r * kStrideOfResults].
  template <u32 kStrideOfResults>
  KILN_DEVICE void write(f32* to, u32 thread) const {
    const u32 lane = thread % kHalfThreads, group = thread / kHalfThreads;
    const u32 top = group / kAcross * kTilesDown * kHalfTile;
    const u32 left = group % kAcross * kTilesRight * kHalfTile;
#pragma unroll
    for (u32 y = 0; y < kTilesDown; ++y) {
#pragma unroll
      for (u32 x = 0; x < kTilesRight; ++x) {
#pragma unroll
        for (u32 i = 0; i < kHalfResults; ++i) {
          const u32 row = top + y * kHalfTile + half_tile_row(lane, i);
          to[row * kStrideOfResults + left + x * kHalfTile + half_tile_column(lane, i)] =
              sums_[y][x][i];
        }
      }
    }
  }

 private:
  f32 sums_[kTilesDown][kTilesRight][kHalfResults] = {};
};

// For f32. For each k of a step, all rows' weights lie together, and all columns' elements.
template <u32 kRows, u32 kColumns, u32 kTeam>
class TileProduct<f32, kRows, kColumns, kTeam> {
 public:
  using Element = f32;
  static constexpr u32 kStep = 16;

 private:
  static constexpr u32 kAcross = kColumns / 4, kDown = kTeam / kAcross;
  static constexpr u32 kFours = kRows / kDown / 4;  // groups of four rows for each thread
  static constexpr u32 kRowStride = kRows + 4;
  struct alignas(16) Four {
    f32 of[4];
  };

 public:
  struct Step {
    alignas(16) f32 rows[kStep * kRowStride];
    alignas(16) f32 columns[kStep * kColumns];

    KILN_DEVICE void set_row(u32 row, u32 k, f32 weight) { rows[k * kRowStride + row] = weight; }
    template <u32 kCount>
    KILN_DEVICE void set_column(u32 column, u32 k, const f32 (&elements)[kCount]) {
#pragma unroll
      for (u32 i = 0; i < kCount; ++i) columns[(k + i) * kColumns + column] = elements[i];
    }
  };

  KILN_DEVICE static f32 element(f32 x) { return x; }

  KILN_DEVICE void add_step(const Step& step, u32 thread) {
    const f32* const rows = step.rows + thread / kAcross * 4;
    const f32* const columns = step.columns + thread % kAcross * 4;
#pragma unroll 8
    for (u32 k = 0; k < kStep; ++k) {
      const Four b = four(columns + k * kColumns);
#pragma unroll
      for (u32 f = 0; f < kFours; ++f) {
        const Four a = four(rows + k * kRowStride + f * kDown * 4);
#pragma unroll
        for (u32 y = 0; y < 4; ++y) {
#pragma unroll
          for (u32 x = 0; x < 4; ++x) {
            sums_[f][y].of[x] = math::fma(a.of[y], b.of[x], sums_[f][y].of[x]);
          }
        }
      }
    }
  }

  template <u32 kStrideOfResults>
  KILN_DEVICE void write(f32* to, u32 thread) const {
#pragma unroll
    for (u32 f = 0; f < kFours; ++f) {
#pragma unroll
      for (u32 y = 0; y < 4; ++y) {
        const u32 row = (f * kDown + thread / kAcross) * 4 + y;
#pragma unroll
        for (u32 x = 0; x < 4; ++x) {
          to[row * kStrideOfResults + thread % kAcross * 4 + x] = sums_[f][y].of[x];
        }
      }
    }
  }

 private:
  KILN_DEVICE static Four four(const f32* at) {
    const Words words = load_16_bytes(at);
    Four four;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) four.of[i] = bit_cast<f32>(words.word[i]);
    return four;
  }
  Four sums_[kFours][4] = {};
};

// Offsets of a tap of a channel from the first element and the first weight, and its bits among the
// rows and the columns of a window.
struct alignas(16) Tap {
  u32 element;
  u32 weight;
  u32 row, column;
};
inline constexpr u32 kMaxTaps = tuning::kConvolveTaps;
inline constexpr u32 kNoTap = 1u << kMaxTaps;

// A position or a distance in channels, rows of taps and columns of taps.
struct TapCounter {
  u32 channel, row, column;

  KILN_DEVICE void advance(const TapCounter& by, u32 row_taps, u32 column_taps) {
    column += by.column;
    row += by.row;
    channel += by.channel;
    if (column >= column_taps) {
      column -= column_taps;
      ++row;
    }
    if (row >= row_taps) {
      row -= row_taps;
      ++channel;
    }
  }
};
// A call, because it is needed twice and inlining takes more code.
KILN_NOINLINE TapCounter count_taps(u32 index, u32 row_taps, u32 column_taps) {
  const u32 line = index / column_taps, channel = line / row_taps;
  return {channel, line - channel * row_taps, index - line * column_taps};
}

// How offsets in the image and in the kernel change from tap to tap.
struct TapWalk {
  u32 channel, row, column;
  u32 first_weight, weight_channel, weight_row, weight_column;
  u32 channels, row_taps, column_taps;
  u32 rounds;
  TapCounter by;  // distance from round to round

  KILN_DEVICE Tap tap(const TapCounter& at) const {
    return {at.channel * channel + at.row * row + at.column * column,
            first_weight + at.channel * weight_channel + at.row * weight_row +
                at.column * weight_column,
            at.channel < channels ? 1u << at.row : kNoTap, 1u << at.column};
  }
};
// The block's walk. Not a member of a template, whose name would be long.
KILN_DEVICE TapWalk& shared_walk() {
  KILN_SHARED(walk, TapWalk);
  return walk;
}
// Finds the walk for rounds of `step` taps. One thread of the block calls it.
KILN_DEVICE void find_walk(const tuning::ConvolveShape& shape, const tuning::ConvolveAxis& y,
                           const tuning::ConvolveAxis& x, u32 step) {
  // A window has no taps if nothing reaches this output of a transpose.
  const bool has_taps = y.taps != 0 && x.taps != 0;
  const u32 row_taps = has_taps ? y.taps : 1, column_taps = has_taps ? x.taps : 1;
  shared_walk() = {shape.channel_stride,
                   static_cast<u32>(y.tap_step) * y.stride,
                   static_cast<u32>(x.tap_step) * x.stride,
                   y.first_weight + x.first_weight,
                   shape.in_stride,
                   y.weight_step,
                   x.weight_step,
                   has_taps ? shape.channels : 0,
                   row_taps,
                   column_taps,
                   has_taps ? (y.taps * x.taps * shape.channels - 1) / step + 1 : 0,
                   count_taps(step, row_taps, column_taps)};
}

template <class T, u32 kRows, u32 kColumns, u32 kTeams>
struct TiledConvolution {
  // All threads of the block, a wave, or a part of one. A wave's barrier suffices for the latter.
  static constexpr u32 kTeam = kTileThreadsOfBlock / kTeams;
  using Product = TileProduct<T, kRows, kColumns, kTeam>;
  using Element = typename Product::Element;
  using Shape = tuning::ConvolveShape;
  using Axis = tuning::ConvolveAxis;
  static constexpr u32 kStep = Product::kStep;
  static constexpr u32 kResultStride = kColumns + 1;
  static constexpr u32 kElements = kStep * kColumns / kTeam;  // per step and thread
  static constexpr u32 kWeights = kStep * kRows / kTeam, kRowsAtOnce = kTeam / kStep;

  union Shared {
    struct {
      Tap taps[kTeams][kStep];
      typename Product::Step steps[kTeams];
    } of;
    f32 results[kTeams][kRows * kResultStride];
  };

  // Computes the tiles of this block: outputs by a grid-stride loop along x, channels along y.
  KILN_DEVICE static void run(const Shape& shape, const Axis& y, const Axis& x, const T* src,
                              const T* kernel, T* dst) {
    const u32 outputs = shape.images * y.outputs * x.outputs;
    const u32 first_row = block_index_y() * kRows;
    if (first_row >= shape.channels_out) return;
    // True if each team has columns of its own.
    const bool apart = kTeams > 1 && shape.teams_apart != 0;
    const u32 team = thread_rank() / kTeam;
    if (thread_rank() == 0) find_walk(shape, y, x, (apart ? 1 : kTeams) * kStep);
    const TapWalk& walk = shared_walk();
    const u32 columns_of_block = (apart ? kTeams : 1) * kColumns;
#pragma unroll 1
    for (u64 first = static_cast<u64>(block_index()) * columns_of_block; first < outputs;
         first += static_cast<u64>(block_count()) * columns_of_block) {
      // A thread has the same column in the steps and when results are written.
      const u32 column = thread_rank() % kColumns;
      const u32 output = static_cast<u32>(first) + (apart ? team * kColumns : 0) + column;
      const bool is_there = output < outputs;
      const u32 line = output / x.outputs, j = output - line * x.outputs;
      const u32 image = line / y.outputs, i = line - image * y.outputs;
      const i32 top = y.place + static_cast<i32>(i * y.step);
      const i32 left = x.place + static_cast<i32>(j * x.step);
      const Window window{src + (is_there ? image * shape.image_stride : 0),
                          static_cast<u32>(top) * y.stride + static_cast<u32>(left) * x.stride,
                          is_there ? beyond(y, top, shape.rows) : ~0u,
                          is_there ? beyond(x, left, shape.columns) : ~0u};
      KILN_SHARED(shared, Shared);
      barrier();  // `walk` is set, and earlier results have been read
      add_up(shape, walk, shared, apart ? 0 : team, first_row, window, kernel);
      if (!is_there) continue;
      T* to =
          dst +
          (static_cast<u64>(image) * shape.channels_out + first_row) * shape.outputs_of_channel +
          (y.first_out + i * y.out_step + x.first_out + j * x.out_step);
      const u32 threads = apart ? kTeam : kTileThreadsOfBlock;
#pragma unroll 1
      for (u32 r = thread_rank() % threads / kColumns; r < kRows; r += threads / kColumns) {
        if (first_row + r >= shape.channels_out) break;
        f32 sum = shared.results[apart ? team : 0][r * kResultStride + column];
        if (!apart) {
#pragma unroll
          for (u32 t = 1; t < kTeams; ++t) sum += shared.results[t][r * kResultStride + column];
        }
        to[r * shape.outputs_of_channel] = narrow<T>(sum);
      }
    }
  }

 private:
  // For one output: the offset of its first tap, which may wrap, and a bit for each tap beyond the
  // image.
  struct Window {
    const T* image;
    u32 first;
    u32 rows_beyond, columns_beyond;
  };

  KILN_DEVICE static u32 beyond(const Axis& axis, i32 place, u32 size) {
    u32 bits = kNoTap;
#pragma unroll 1
    for (u32 tap = 0; tap < axis.taps; ++tap) {
      if (static_cast<u32>(place) >= size) bits |= 1u << tap;
      place += axis.tap_step;
    }
    return bits;
  }

  KILN_DEVICE static void team_barrier() {
    if constexpr (kTeams == 1) {
      barrier();
    } else {
      wave_barrier();
    }
  }

  // Adds up the team's steps from `first_step` on, and leaves the sums in shared memory.
  KILN_DEVICE static void add_up(const Shape& shape, const TapWalk& walk, Shared& shared,
                                 u32 first_step, u32 first_row, const Window& window,
                                 const T* kernel) {
    const u32 thread = thread_rank() % kTeam, team = thread_rank() / kTeam;
    Tap* const taps = shared.of.taps[team];
    typename Product::Step& step = shared.of.steps[team];
    Product product;
    TapCounter next =
        count_taps(first_step * kStep + thread % kStep, walk.row_taps, walk.column_taps);
    const u32 rounds = walk.rounds;
    const u32 column = thread % kColumns, first_k = thread / kColumns * kElements;
    const u32 k_of_weights = thread % kStep, row_of_weights = thread / kStep;
    const u32 row = first_row + row_of_weights;
    const u32 rows_there =
        row < shape.channels_out ? (shape.channels_out - row - 1) / kRowsAtOnce + 1 : 0;
    const T* const first_weight = kernel + row * shape.out_stride;
    const u32 row_step = kRowsAtOnce * shape.out_stride;
#pragma unroll 1
    for (u32 round = 0;; ++round) {
      if (thread < kStep) {
        taps[thread] = walk.tap(next);
        next.advance(walk.by, walk.row_taps, walk.column_taps);
      }
      team_barrier();
      Element elements[kElements], weights[kWeights];
#pragma unroll
      for (u32 i = 0; i < kElements; ++i) {
        const Tap tap = taps[first_k + i];
        const bool is_there =
            ((tap.row & window.rows_beyond) | (tap.column & window.columns_beyond)) == 0;
        elements[i] = Element{0};
        if (is_there) elements[i] = Product::element(window.image[window.first + tap.element]);
      }
      const Tap tap = taps[k_of_weights];
      const u32 left = tap.row != kNoTap ? rows_there : 0;
      const T* const from = first_weight + tap.weight;
#pragma unroll
      for (u32 i = 0; i < kWeights; ++i) {
        weights[i] = Element{0};
        if (i < left) weights[i] = Product::element(from[i * row_step]);
      }
      // Meanwhile multiply the previous step, which is in shared memory.
      if (round != 0) product.add_step(step, thread);
      if (round == rounds) break;  // this round loaded no taps
      team_barrier();
      step.set_column(column, first_k, elements);
#pragma unroll
      for (u32 i = 0; i < kWeights; ++i) {
        step.set_row(row_of_weights + i * kRowsAtOnce, k_of_weights, weights[i]);
      }
    }
    barrier();
    product.template write<kResultStride>(shared.results[team], thread);
    barrier();
  }
};

// Maximum number of teams in a block. A team that uses matrix units is at least a wave.
template <class T>
inline constexpr u32 kMaxTeams = kTileThreadsOfBlock / kHalfThreads;
template <>
inline constexpr u32 kMaxTeams<f32> = kTileThreadsOfBlock / 32;

// A launch of blocks of kTileThreadsOfBlock threads.
template <u32 kRows, u32 kColumns, u32 kTeams, class T>
KILN_DEVICE void convolve_tiles(const u64* info, const T* src, const T* kernel, T* dst) {
  constexpr u32 kTeamsThere = kTeams < kMaxTeams<T> ? kTeams : kMaxTeams<T>;
  convolve_class<TiledConvolution<T, kRows, kColumns, kTeamsThere>>(info, src, kernel, dst);
}

}  // namespace kiln::families
