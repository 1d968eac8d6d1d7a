// Convolutions of f16 and bf16 by matrix units, with a stride of one element. The classes of a
// transposed convolution have such strides, too.
//
// A block computes kPatchOutputs outputs of kRows channels: a rectangle, as wide as the host says.
// In a step it loads kPatchChannels channels of the part of the image that these outputs read (a
// patch), and the weights of up to kPatchTaps taps, into shared memory. The elements that a tap
// multiplies are the patch moved by the tap's offset, so each element is loaded once for all taps.
//
// Offsets within an image, and within the weights, fit into 32 bits.
#pragma once

#include "device/half_matrix.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "families/convolve_class.cuh"
#include "tuning/convolve.hpp"

namespace kiln::families {

using namespace device;

template <class T, u32 kRows>
class PatchConvolution {
  using Shape = tuning::ConvolveShape;
  using Axis = tuning::ConvolveAxis;

  static constexpr u32 kThreads = tuning::kPatchThreads;
  static constexpr u32 kOutputs = tuning::kPatchOutputs;
  static constexpr u32 kChannels = tuning::kPatchChannels;
  static constexpr u32 kTaps = tuning::kPatchTaps;
  static_assert(kChannels == kHalfTile && kOutputs == kThreads);

  // Of 16 channels at a position or of a weight; eight such rows lie in different banks.
  static constexpr u32 kStride = kChannels + 8;
  // The weights of a tap. Those of neighbouring taps lie in different banks.
  static constexpr u32 kTapStride = kRows * kStride + 8;
  static constexpr u32 kResultStride = kOutputs + 8;
  struct Step {
    alignas(16) u16 weights[kTaps * kTapStride];
    alignas(16) u16 patch[tuning::kMaxPatch * kStride];
  };
  union Shared {
    Step step;
    u16 results[kRows * kResultStride];
  };

  // kHalfThreads threads have all rows of some groups of 16 outputs.
  static constexpr u32 kTilesDown = kRows / kHalfTile;
  static constexpr u32 kTilesRight = kOutputs / kHalfTile / (kThreads / kHalfThreads);
  using Left = HalfLeft<T, kStride>;
  using Right = HalfRight<T, kStride>;

  // A thread loads all channels of these positions.
  static constexpr u32 kLoads = (tuning::kMaxPatch - 1) / kThreads + 1;
  // It loads these weights of each kRowsAtOnce-th row.
  static constexpr u32 kAcross = 32, kRowsAtOnce = kThreads / kAcross;
  static constexpr u32 kWeights = (kTaps * kChannels - 1) / kAcross + 1;
  static constexpr u32 kRowsOfLoad = kRows / kRowsAtOnce < 4 ? kRows / kRowsAtOnce : 4;

  // One dim of the patches: the first element that the first output reads, the distance of the first
  // tap from it, and the number of elements beyond one for each output.
  struct Reach {
    i32 start;
    u32 first_tap, beyond;

    KILN_DEVICE explicit Reach(const Axis& axis) : start(axis.place), first_tap(0), beyond(0) {
      if (axis.taps == 0) return;
      const i32 last = static_cast<i32>(axis.taps - 1) * axis.tap_step;
      beyond = static_cast<u32>(last < 0 ? -last : last);
      if (last < 0) {
        first_tap = beyond;
        start += last;
      }
    }
  };

 public:
  // Computes one tile: of outputs along x, of channels along y.
  KILN_DEVICE static void run(const Shape& shape, const Axis& y, const Axis& x, const T* src,
                              const T* kernel, T* dst) {
    const u32 first_row = block_index_y() * kRows;
    if (first_row >= shape.channels_out) return;
    const u32 width = shape.tile_width, height = kOutputs / width;
    const u32 tiles_across = (x.outputs - 1) / width + 1;
    const u32 tiles_down = (y.outputs - 1) / height + 1;
    const u32 lines = block_index() / tiles_across, image = lines / tiles_down;
    const u32 left = (block_index() - lines * tiles_across) * width;
    const u32 top = (lines - image * tiles_down) * height;
    if (image >= shape.images) return;
    KILN_SHARED(shared, Shared);
    PatchConvolution sums;
    sums.add_up(shape, y, x, first_row, top, left, src + image * shape.image_stride, kernel,
                shared.step);
    barrier();
    sums.write(shared.results);
    barrier();
    const u32 thread = thread_rank();
    const u32 i = top + thread / width, j = left + thread % width;
    if (i >= y.outputs || j >= x.outputs) return;
    const u64 of_channel = shape.outputs_of_channel;
    T* to = dst + (static_cast<u64>(image) * shape.channels_out + first_row) * of_channel +
            (y.first_out + i * y.out_step + x.first_out + j * x.out_step);
    const u32 rows = shape.channels_out - first_row;
#pragma unroll 4
    for (u32 r = 0; r < kRows; ++r, to += of_channel) {
      if (r < rows) *to = T{shared.results[r * kResultStride + thread]};
    }
  }

 private:
  KILN_DEVICE void add_up(const Shape& shape, const Axis& y, const Axis& x, u32 first_row, u32 top,
                          u32 left, const T* image, const T* kernel, Step& step) {
    const u32 thread = thread_rank(), lane = thread % kHalfThreads;
    const Reach down(y), across(x);
    const u32 width = shape.tile_width;
    const u32 patch_width = width + across.beyond;
    const u32 positions = (kOutputs / width + down.beyond) * patch_width;

    // What this thread loads of the image. The mask is 0 beyond it; there it loads element 0, which
    // every channel has.
    u32 from[kLoads], mask[kLoads];
#pragma unroll
    for (u32 i = 0; i < kLoads; ++i) {
      const u32 position = thread + i * kThreads, line = position / patch_width;
      const u32 row = top + static_cast<u32>(down.start) + line;
      const u32 column = left + static_cast<u32>(across.start) + position - line * patch_width;
      const bool is_inside = row < shape.rows && column < shape.columns;
      from[i] = is_inside ? row * y.stride + column * x.stride : 0;
      mask[i] = is_inside ? ~0u : 0;
    }

    // Where the elements of this thread's groups of outputs begin in the patch.
    u32 groups[kTilesRight];
#pragma unroll
    for (u32 i = 0; i < kTilesRight; ++i) {
      const u32 first = (thread / kHalfThreads * kTilesRight + i) * kHalfTile;
      groups[i] = (first / width * patch_width + first % width) * kStride;
    }

    // Copies, because the compiler would read them again in each step.
    const u32 channels = shape.channels, channel_stride = shape.channel_stride;
    const u32 in_stride = shape.in_stride, out_stride = shape.out_stride;
    const u32 row_taps = y.taps, column_taps = x.taps, taps = row_taps * column_taps;
    const u32 last_row = shape.channels_out - 1;
    const i32 next_tap = x.tap_step * static_cast<i32>(kStride);
    const i32 next_tap_row = y.tap_step * static_cast<i32>(patch_width * kStride);
    const u32 origin = (down.first_tap * patch_width + across.first_tap) * kStride;
    const u32 first_weight = y.first_weight + x.first_weight;
    const u32 row_step = y.weight_step, column_step = x.weight_step;
#pragma unroll 1
    for (u32 first_tap = 0; first_tap < taps; first_tap += kTaps) {
      const u32 taps_here = taps - first_tap < kTaps ? taps - first_tap : kTaps;
      const u32 first_tap_row = first_tap / column_taps;
      const u32 first_tap_column = first_tap - first_tap_row * column_taps;
      // What this thread loads of a row's weights, and where they go: by channel, and then by tap.
      // What is no weight goes into the padding of a row, which nothing reads.
      u32 weight[kWeights], place[kWeights];
#pragma unroll
      for (u32 i = 0; i < kWeights; ++i) {
        const u32 index = thread % kAcross + i * kAcross, channel = index / taps_here;
        const u32 here = index - channel * taps_here, tap = first_tap + here;
        const u32 tap_row = tap / column_taps, tap_column = tap - tap_row * column_taps;
        const bool is_weight = channel < kChannels;
        weight[i] = first_weight;
        if (is_weight) {
          weight[i] += channel * in_stride + tap_row * row_step + tap_column * column_step;
        }
        place[i] =
            thread / kAcross * kStride + (is_weight ? here * kTapStride + channel : kChannels);
      }
#pragma unroll 1
      for (u32 channel = 0; channel < channels; channel += kChannels) {
        const T* const from_image = image + static_cast<u64>(channel) * channel_stride;
        const T* const from_kernel = kernel + static_cast<u64>(channel) * in_stride;
        barrier();  // the previous step has been multiplied
        const bool is_whole = channels - channel >= kChannels;
        if (is_whole) {
          load_patch(from_image, channel_stride, positions, from, mask, step.patch);
          load_weights(from_kernel, first_row, last_row, out_stride, weight, place, step.weights);
        } else {
          load_last_of_patch(from_image, channels - channel, channel_stride, positions, from, mask,
                             step.patch);
          load_last_weights(from_kernel, channels - channel, first_row, last_row, out_stride,
                            taps_here, weight, place, step.weights);
        }
        barrier();
        const u16* weights = step.weights;
        const u16* row = step.patch + origin + static_cast<i32>(first_tap_row) * next_tap_row;
        u32 tap_column = first_tap_column;
#pragma unroll 1
        for (u32 tap = 0; tap < taps_here; ++tap) {
          const u16* const at = row + static_cast<i32>(tap_column) * next_tap;
          Right right[kTilesRight];
#pragma unroll
          for (u32 i = 0; i < kTilesRight; ++i) right[i].load(at + groups[i], lane);
#pragma unroll
          for (u32 r = 0; r < kTilesDown; ++r) {
            Left rows;
            rows.load(weights + r * kHalfTile * kStride, lane);
#pragma unroll
            for (u32 i = 0; i < kTilesRight; ++i) rows.multiply(sums_[r][i], right[i], lane);
          }
          weights += kTapStride;
          if (++tap_column == column_taps) {
            tap_column = 0;
            row += next_tap_row;
          }
        }
      }
    }
  }

  // Loads kChannels channels of the image.
  KILN_DEVICE static void load_patch(const T* image, u32 channel_stride, u32 positions,
                                     const u32 (&from)[kLoads], const u32 (&mask)[kLoads],
                                     u16* patch) {
#pragma unroll
    for (u32 i = 0; i < kLoads; ++i) {
      const u32 position = thread_rank() + i * kThreads;
      if (position >= positions) break;
      u16 bits[kChannels];
      const T* of_channel = image + from[i];
#pragma unroll
      for (u32 c = 0; c < kChannels; ++c, of_channel += channel_stride) bits[c] = of_channel->bits;
#pragma unroll
      for (u32 c = 0; c < kChannels; c += 8) {
        Words words = eight_halves(bits + c);
#pragma unroll
        for (u32 w = 0; w < 4; ++w) words.word[w] &= mask[i];
        store_16_bytes_shared(patch + position * kStride + c, words);
      }
    }
  }

  // Loads the weights of kChannels channels. Rows beyond the last have its weights: their results
  // are not written.
  KILN_DEVICE static void load_weights(const T* kernel, u32 first_row, u32 last_row, u32 out_stride,
                                       const u32 (&weight)[kWeights], const u32 (&place)[kWeights],
                                       u16* weights) {
#pragma unroll 1
    for (u32 r = 0; r < kRows; r += kRowsOfLoad * kRowsAtOnce) {
      u16 bits[kRowsOfLoad][kWeights];
#pragma unroll
      for (u32 b = 0; b < kRowsOfLoad; ++b) {
        const T* const of_row =
            kernel + weight_row(first_row + r + b * kRowsAtOnce, last_row) * out_stride;
#pragma unroll
        for (u32 i = 0; i < kWeights; ++i) bits[b][i] = of_row[weight[i]].bits;
      }
#pragma unroll
      for (u32 b = 0; b < kRowsOfLoad; ++b) {
#pragma unroll
        for (u32 i = 0; i < kWeights; ++i) {
          weights[(r + b * kRowsAtOnce) * kStride + place[i]] = bits[b][i];
        }
      }
    }
  }
  KILN_DEVICE static u32 weight_row(u32 first, u32 last) {
    const u32 row = first + thread_rank() / kAcross;
    return row < last ? row : last;
  }

  // The same for the last channels, fewer than kChannels, and zeros for the others.
  KILN_DEVICE static void load_last_of_patch(const T* image, u32 channels, u32 channel_stride,
                                             u32 positions, const u32 (&from)[kLoads],
                                             const u32 (&mask)[kLoads], u16* patch) {
#pragma unroll
    for (u32 i = 0; i < kLoads; ++i) {
      const u32 position = thread_rank() + i * kThreads;
      if (position >= positions) break;
#pragma unroll 1
      for (u32 c = 0; c < kChannels; ++c) {
        u16 bits = 0;
        if (c < channels && mask[i] != 0) bits = image[from[i] + c * channel_stride].bits;
        patch[position * kStride + c] = bits;
      }
    }
  }
  KILN_DEVICE static void load_last_weights(const T* kernel, u32 channels, u32 first_row,
                                            u32 last_row, u32 out_stride, u32 taps,
                                            const u32 (&weight)[kWeights],
                                            const u32 (&place)[kWeights], u16* weights) {
#pragma unroll 1
    for (u32 r = 0; r < kRows; r += kRowsAtOnce) {
      const T* const of_row = kernel + weight_row(first_row + r, last_row) * out_stride;
#pragma unroll
      for (u32 i = 0; i < kWeights; ++i) {
        u16 bits = 0;
        const u32 channel = (thread_rank() % kAcross + i * kAcross) / taps;
        if (channel < channels) bits = of_row[weight[i]].bits;
        weights[r * kStride + place[i]] = bits;
      }
    }
  }

  KILN_DEVICE void write(u16* results) const {
    const u32 lane = thread_rank() % kHalfThreads, group = thread_rank() / kHalfThreads;
#pragma unroll
    for (u32 r = 0; r < kTilesDown; ++r) {
#pragma unroll
      for (u32 c = 0; c < kTilesRight; ++c) {
#pragma unroll
        for (u32 i = 0; i < kHalfResults; ++i) {
          const u32 row = r * kHalfTile + half_tile_row(lane, i);
          const u32 column = (group * kTilesRight + c) * kHalfTile + half_tile_column(lane, i);
          results[row * kResultStride + column] = narrow<T>(sums_[r][c][i]).bits;
        }
      }
    }
  }

  f32 sums_[kTilesDown][kTilesRight][kHalfResults] = {};
};

// A launch of blocks of kPatchThreads threads.
template <u32 kRows, class T>
KILN_DEVICE void convolve_patches(const u64* info, const T* src, const T* kernel, T* dst) {
  convolve_class<PatchConvolution<T, kRows>>(info, src, kernel, dst);
}

}  // namespace kiln::families
