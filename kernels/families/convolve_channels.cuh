// Convolutions of f16 and bf16 by matrix units, over copies in which the channels lie side by side.
//
// A launch has up to three steps:
//
//   0  copies the image and the weights to the workspace, with all channels of an element next to
//      each other. The copied image has its padding, and both have whole groups of kSpan channels;
//      what is added is zero. Windows of 1x1 may do without (`reads_planes`): the next step then
//      reads neighbouring outputs of a channel, which is a plane of the image.
//   1  computes tiles of output channels by outputs, in steps of kSpan channels and one tap. What a
//      step needs of an output or of an output channel is 128 neighbouring bytes, so asynchronous
//      copies of 16 bytes fill shared memory. Several blocks may share the terms of a tile; each
//      then keeps its sums in the workspace.
//   2  adds the sums that several blocks have of a tile.
//
// Offsets within the copies fit into 32 bits.
#pragma once

#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/platform_copies.cuh"
#include "device/wave.cuh"
#include "families/channel_products.cuh"
#include "tuning/convolve.hpp"
#include "tuning/workspace.hpp"

namespace kiln::families {

using namespace device;

template <class T>
class ChannelConvolution {
  using Shape = tuning::ConvolveShape;
  using Axis = tuning::ConvolveAxis;
  using Channels = tuning::ConvolveChannels;

  static constexpr u32 kAxes = sizeof(Shape) / 8;  // words of `info` before the two axes
  static constexpr u32 kThreads = tuning::kChannelThreads;
  static constexpr u32 kTile = tuning::kChannelTile, kSpan = tuning::kChannelSpan;
  using Products = ChannelProducts<T>;
  using Sums = typename Products::Sums;
  static constexpr u32 kRowTiles = Products::kRowTiles, kRowBytes = Products::kRowBytes;
  static constexpr u32 kStageBytes = 2 * kTile * kRowBytes;

  // A thread copies 16 bytes of each kRowsAtOnce-th row.
  static constexpr u32 kPieces = kSpan / 8, kRowsAtOnce = kThreads / kPieces;
  static constexpr u32 kLoads = kTile / kRowsAtOnce;
  // It stores 16 bytes of each kResultsAtOnce-th row of results.
  static constexpr u32 kResultStride = kTile + 8;
  static_assert(kThreads == kTile);
  static constexpr u32 kResultPieces = kTile / 8, kResultsAtOnce = kThreads / kResultPieces;

 public:
  KILN_DEVICE ChannelConvolution(const u64* info, u8* workspace)
      : shape_(*reinterpret_cast<const Shape*>(info)),
        y_(*reinterpret_cast<const Axis*>(info + kAxes)),
        x_(*reinterpret_cast<const Axis*>(info + kAxes + sizeof(Axis) / 8)),
        of_(*reinterpret_cast<const Channels*>(info + kAxes + 2 * (sizeof(Axis) / 8))),
        image_(reinterpret_cast<u16*>(workspace + tuning::kWorkspaceCounters)),
        weights_(reinterpret_cast<u16*>(workspace + of_.weights)),
        sums_(workspace + of_.sums) {}

  KILN_DEVICE void run(const T* src, const T* kernel, T* dst, u32 step) {
    step += of_.reads_planes;
    if (step == 0) {
      copy_channels(src, kernel);
      return;
    }
    const u32 tiles = of_.tiles_down * of_.tiles_across;
    const u32 part = block_index() / tiles, tile = block_index() - part * tiles;
    if (part >= of_.parts) return;
    // The last row of tiles may have fewer rows and take less time, so it comes last.
    const u32 down = tile / of_.tiles_across;
    const u32 first_row = down * kTile, first_output = (tile - down * of_.tiles_across) * kTile;
    const u32 parts = of_.parts;
    u16* const results = Products::align(dynamic_shared());
    u32 first = 0, end = kRowTiles;
    if (step == 1) {
      multiply(results, first_row, first_output, part, src, kernel);
      if (parts != 1) return;
    } else {
      // Each block of a tile adds up all parts of some of its rows.
      first = part * kRowTiles / parts, end = (part + 1) * kRowTiles / parts;
      add_parts(results, first, end);
    }
    barrier();
    write(results, first, end, first_row, first_output, dst);
  }

 private:
  // ---- step 0 -----------------------------------------------------------------------------------

  // kSpan channels of an element or a weight, of which `there` exist; the others are zero.
  struct Span {
    const T* from;
    u32 stride, there;
    u16* to;

    KILN_DEVICE void copy() const {
      constexpr u32 kAtOnce = 32;
      const T* each = from;
#pragma unroll 1
      for (u32 first = 0; first < kSpan; first += kAtOnce) {
        u16 bits[kAtOnce];
#pragma unroll
        for (u32 c = 0; c < kAtOnce; ++c, each += stride) {
          bits[c] = first + c < there ? each->bits : u16{0};
        }
#pragma unroll
        for (u32 c = 0; c < kAtOnce; c += 8) store_16_bytes(to + first + c, eight_halves(bits + c));
      }
    }
  };

  KILN_DEVICE void copy_channels(const T* src, const T* kernel) const {
    const u32 groups = of_.channels / kSpan, taps = y_.taps * x_.taps;
    const bool has_all = shape_.channels == of_.channels;
    // Whole chunks of sixteen bytes.
    const bool has_chunks = has_all && address_of(kernel) % 16 == 0 && shape_.out_stride % 8 == 0 &&
                            shape_.in_stride == taps && x_.weight_step == 1 &&
                            (y_.taps == 1 || y_.weight_step == x_.taps);
    const bool has_lines = has_all && address_of(src) % 16 == 0 && x_.stride == 1 &&
                           (shape_.columns | y_.stride | shape_.channel_stride |
                            static_cast<u32>(shape_.image_stride)) %
                                   8 ==
                               0;
    u32 weights = shape_.channels_out * groups * taps;
    if (has_chunks && (taps == 1 || taps == 3 || taps == 9)) {
      weights = 0;
      if (taps == 1) copy_weight_chunks<1>(kernel);
      if (taps == 3) copy_weight_chunks<3>(kernel);
      if (taps == 9) copy_weight_chunks<9>(kernel);
    }
    if (has_lines) copy_lines(src, groups);
    const u32 count = weights + shape_.images * groups * of_.lines * of_.places;
#pragma unroll 1
    for (u32 i = thread_of_all(); i < count; i += threads_in_all()) {
      const bool is_weight = i < weights;
      const Span span =
          is_weight ? span_of_weights(kernel, groups, i) : span_of_image(src, groups, i - weights);
      if (is_weight || !has_lines || span.there == 0) span.copy();
    }
  }
  KILN_DEVICE static u32 thread_of_all() { return block_index() * kThreads + thread_rank(); }
  KILN_DEVICE static u32 threads_in_all() { return block_count() * kThreads; }

  // Element i of neighbouring chunks. `i` becomes a constant by unrolling.
  KILN_DEVICE static u32 element_of(const Words* chunks, u32 i) {
    return chunks[i / 8].word[i % 8 / 2] >> i % 2 * 16 & 0xffff;
  }
  // Eight channels have kTaps chunks.
  template <u32 kTaps>
  KILN_DEVICE void copy_weight_chunks(const T* kernel) const {
    const u32 of_row = of_.channels / 8, count = shape_.channels_out * of_row;
#pragma unroll 1
    for (u32 i = thread_of_all(); i < count; i += threads_in_all()) {
      const u32 row = i / of_row, eight = i - row * of_row;
      const T* const from = kernel + (row * shape_.out_stride + eight * (8 * kTaps));
      u16* const to = weights_ + row * kTaps * of_.channels + eight * 8;
      Words in[kTaps];
#pragma unroll
      for (u32 t = 0; t < kTaps; ++t) in[t] = load_16_bytes(from + t * 8);
#pragma unroll
      for (u32 t = 0; t < kTaps; ++t) {
        Words out;
#pragma unroll
        for (u32 w = 0; w < 4; ++w) {
          out.word[w] = element_of(in, 2 * w * kTaps + t) | element_of(in, (2 * w + 1) * kTaps + t)
                                                                << 16;
        }
        store_16_bytes(to + t * of_.channels, out);
      }
    }
  }
  // Copies what lies inside of the image: eight neighbouring elements of eight channels at once.
  KILN_DEVICE void copy_lines(const T* src, u32 groups) const {
    constexpr u32 kEights = kSpan / 8;
    const u32 of_line = shape_.columns / 8;
    const u32 count = shape_.images * groups * shape_.rows * of_line * kEights;
#pragma unroll 1
    for (u32 i = thread_of_all(); i < count; i += threads_in_all()) {
      const u32 eight = i % kEights, of_row = i / kEights / of_line;
      const u32 column = (i / kEights - of_row * of_line) * 8;
      const u32 of_group = of_row / shape_.rows, row = of_row - of_group * shape_.rows;
      const u32 image = of_group / groups, group = of_group - image * groups;
      const u32 channel = group * kSpan + eight * 8;
      const T* from = src + image * shape_.image_stride +
                      static_cast<u64>(channel) * shape_.channel_stride +
                      (row * y_.stride + column);
      Words in[8];
#pragma unroll
      for (u32 c = 0; c < 8; ++c, from += shape_.channel_stride) in[c] = load_16_bytes(from);
      const u32 line = row - static_cast<u32>(y_.place);
      const u32 place = column - static_cast<u32>(x_.place);
      if (line >= of_.lines) continue;
      u16* const to =
          image_ + ((image * of_.lines + line) * of_.places + place) * of_.channels + channel;
#pragma unroll
      for (u32 x = 0; x < 8; ++x) {
        Words out;
#pragma unroll
        for (u32 w = 0; w < 4; ++w) {
          out.word[w] = element_of(in + 2 * w, x) | element_of(in + 2 * w + 1, x) << 16;
        }
        if (place + x < of_.places) store_16_bytes(to + x * of_.channels, out);
      }
    }
  }
  KILN_DEVICE u32 channels_of(u32 group) const {
    const u32 left = shape_.channels - group * kSpan;
    return left < kSpan ? left : kSpan;
  }
  KILN_DEVICE Span span_of_weights(const T* kernel, u32 groups, u32 i) const {
    const u32 taps = y_.taps * x_.taps;
    const u32 of_group = i / taps, tap = i - of_group * taps;
    const u32 row = of_group / groups, group = of_group - row * groups;
    const u32 line = tap / x_.taps, place = tap - line * x_.taps;
    return {kernel + (row * shape_.out_stride + group * kSpan * shape_.in_stride +
                      line * y_.weight_step + place * x_.weight_step),
            shape_.in_stride, channels_of(group),
            weights_ + (row * taps + tap) * of_.channels + group * kSpan};
  }
  KILN_DEVICE Span span_of_image(const T* src, u32 groups, u32 i) const {
    const u32 of_line = i / of_.places, place = i - of_line * of_.places;
    const u32 of_group = of_line / of_.lines, line = of_line - of_group * of_.lines;
    const u32 image = of_group / groups, group = of_group - image * groups;
    const u32 row = line + static_cast<u32>(y_.place), column = place + static_cast<u32>(x_.place);
    const bool is_inside = row < shape_.rows && column < shape_.columns;
    return {
        src + image * shape_.image_stride +
            static_cast<u64>(group * kSpan) * shape_.channel_stride +
            (row * y_.stride + column * x_.stride),
        shape_.channel_stride, is_inside ? channels_of(group) : 0,
        image_ + ((image * of_.lines + line) * of_.places + place) * of_.channels + group * kSpan};
  }

  // ---- step 1 -----------------------------------------------------------------------------------

  // What a thread copies in each step: 16 bytes of each kRowsAtOnce-th row. Rows are output channels,
  // with their weights, and then outputs, with what the step's tap reads. The taps of kSpan channels
  // follow one another, because they read the same elements for different outputs.
  class Copies {
   public:
    static constexpr bool kPlanes = false;

    KILN_DEVICE Copies(const ChannelConvolution& all, u32 first_row, u32 first_output, u32 first)
        : image_(all.image_),
          channels_(all.of_.channels),
          taps_(all.x_.taps),
          tap_lines_(all.y_.taps),
          next_tap_(static_cast<u32>(all.x_.tap_step) * channels_),
          next_line_(static_cast<u32>(all.y_.tap_step) * all.of_.places * channels_) {
      const u32 row = thread_rank() / kPieces, piece = thread_rank() % kPieces * 8;
      own_ = Products::place(row, piece);
      u32* const shared = static_cast<u32*>(dynamic_shared());
      shared[thread_rank()] = all.element(first_output + thread_rank());
      barrier();
#pragma unroll
      for (u32 i = 0; i < kLoads; ++i) from_[i] = piece + shared[row + i * kRowsAtOnce];
      barrier();
      const u32 of_group = taps_ * tap_lines_, group = first / of_group;
      const u32 terms = of_group * channels_, tap = first - group * of_group;
      weights_ = all.weights_ + (static_cast<u64>(first_row + row) * terms + piece);
      next_rows_ = terms * kRowsAtOnce;
      channel_ = group * kSpan;
      weight_ = tap * channels_ + channel_;
      tap_line_ = tap / taps_;
      tap_ = tap - tap_line_ * taps_;
    }

    // Copies a step to shared memory, by two functions of which the second moves on to the next.
    KILN_DEVICE void copy(SharedPlace stage) {
      copy_weights(stage);
      copy_elements(stage);
    }
    // The same, while earlier steps are multiplied.
    KILN_DEVICE static bool copies_ahead() { return true; }
    KILN_DEVICE void copy_ahead(SharedPlace stage) { copy(stage); }
    KILN_DEVICE void copy_weights(SharedPlace stage) const {
      const SharedPlace to = stage + own_;
      const u16* from = weights_ + weight_;
#pragma unroll
      for (u32 i = 0; i < kLoads; ++i, from += next_rows_) {
        copy_async_16(to + i * (kRowsAtOnce * kRowBytes), from);
      }
    }
    KILN_DEVICE void copy_elements(SharedPlace stage) {
      const SharedPlace to = stage + own_ + kTile * kRowBytes;
      const u32 at = tap_line_ * next_line_ + tap_ * next_tap_ + channel_;
#pragma unroll
      for (u32 i = 0; i < kLoads; ++i) {
        copy_async_16_cached(to + i * (kRowsAtOnce * kRowBytes), image_ + (from_[i] + at));
      }
      weight_ += channels_;
      if (++tap_ != taps_) return;
      tap_ = 0;
      if (++tap_line_ != tap_lines_) return;
      tap_line_ = 0;
      channel_ += kSpan;
      weight_ = channel_;
    }

   private:
    const u16 *image_, *weights_;
    u32 channels_, taps_, tap_lines_, next_tap_, next_line_, next_rows_;
    u32 own_, weight_, channel_, tap_, tap_line_;
    u32 from_[kLoads];
  };
  // The same for windows of 1x1 with a stride of 1, from image and weights themselves: a thread
  // copies 16 bytes of each kRowsAtOnce-th output channel, and eight outputs of each
  // kPlanesAtOnce-th channel. Rows behind the last output channel are not stored and keep what shared
  // memory had: with the last channel's weights, all blocks would wait for the same bytes.
  class Planes {
    static constexpr u32 kEights = kTile / 8, kPlanesAtOnce = kThreads / kEights;
    static constexpr u32 kPlaneLoads = kSpan / kPlanesAtOnce;

   public:
    static constexpr bool kPlanes = true;

    KILN_DEVICE Planes(const ChannelConvolution& all, const T* src, const T* kernel, u32 first_row,
                       u32 first_output, u32 first)
        : row_(first_row + thread_rank() / kPieces),
          rows_(all.shape_.channels_out),
          weight_stride_(all.shape_.out_stride),
          plane_stride_(all.shape_.channel_stride),
          is_aligned_((address_of(src) | address_of(kernel)) % 16 == 0) {
      const u32 piece = thread_rank() % kPieces * 8;
      own_ = Products::place(thread_rank() / kPieces, piece);
      weights_ = kernel + (first * kSpan + piece);
      const u32 channel = thread_rank() / kEights, output = thread_rank() % kEights * 8;
      own_outputs_ = Products::place_in_planes(channel, output) + kTile * kRowBytes;
      const u32 last = all.of_.outputs - 8;
      const u32 at = first_output + output < last ? first_output + output : last;
      const u32 of_image = all.y_.outputs * all.x_.outputs, image = at / of_image;
      image_ = src + image * all.shape_.image_stride + (at - image * of_image) +
               static_cast<u64>(first * kSpan + channel) * plane_stride_;
    }
    // Only chunks at multiples of 16 bytes are copied ahead; others are read element by element.
    KILN_DEVICE bool copies_ahead() const { return is_aligned_; }
    KILN_DEVICE void copy(SharedPlace stage) {
#pragma unroll 1
      for (u32 i = 0; i < kLoads; ++i) copy_row(stage, i, copy_each);
#pragma unroll 1
      for (u32 i = 0; i < kPlaneLoads; ++i) copy_plane(stage, i, copy_each);
      move_on();
    }
    KILN_DEVICE void copy_ahead(SharedPlace stage) {
      copy_weights(stage);
      copy_elements(stage);
    }
    KILN_DEVICE void copy_weights(SharedPlace stage) const {
#pragma unroll
      for (u32 i = 0; i < kLoads; ++i) copy_row(stage, i, copy_async_16);
    }
    KILN_DEVICE void copy_elements(SharedPlace stage) {
#pragma unroll
      for (u32 i = 0; i < kPlaneLoads; ++i) copy_plane(stage, i, copy_async_16);
      move_on();
    }

   private:
    template <class Copy>
    KILN_DEVICE void copy_row(SharedPlace stage, u32 i, Copy copy) const {
      const u32 row = row_ + i * kRowsAtOnce;
      if (row >= rows_) return;
      copy(stage + own_ + i * (kRowsAtOnce * kRowBytes), weights_ + row * weight_stride_);
    }
    template <class Copy>
    KILN_DEVICE void copy_plane(SharedPlace stage, u32 i, Copy copy) const {
      copy(stage + own_outputs_ + Products::place_in_planes(i * kPlanesAtOnce, 0),
           image_ + i * (kPlanesAtOnce * plane_stride_));
    }
    KILN_DEVICE void move_on() {
      image_ += static_cast<u64>(kSpan) * plane_stride_;
      weights_ += kSpan;
    }
    KILN_DEVICE static void copy_each(SharedPlace to, const T* from) {
      u16 bits[8];
#pragma unroll
      for (u32 c = 0; c < 8; ++c) bits[c] = from[c].bits;
      u8* const shared = static_cast<u8*>(dynamic_shared());
      store_16_bytes_shared(shared + (to - shared_place(shared)), eight_halves(bits));
    }

    const T *image_, *weights_;
    u32 row_, rows_, weight_stride_, plane_stride_;
    bool is_aligned_;
    u32 own_, own_outputs_;
  };
  // Returns the element that the first tap reads for an output. Outputs behind the last, which are
  // not stored, have its element.
  KILN_DEVICE u32 element(u32 number) const {
    const u32 last = of_.outputs - 1, output = number < last ? number : last;
    const u32 width = x_.outputs, of_image = y_.outputs * width;
    const u32 image = output / of_image, in_image = output - image * of_image;
    const u32 line = in_image / width, place = in_image - line * width;
    return ((image * of_.lines + line * y_.step) * of_.places + place * x_.step) * of_.channels;
  }

  // Leaves the tile's results in shared memory, or the part's sums in the workspace.
  KILN_DEVICE void multiply(u16* shared, u32 first_row, u32 first_output, u32 part, const T* src,
                            const T* kernel) const {
    const u32 steps = y_.taps * x_.taps * (of_.channels / kSpan), parts = of_.parts;
    const u32 first = part * steps / parts, count = (part + 1) * steps / parts - first;
    const u32 rows = shape_.channels_out - first_row;
    Sums sums[kRowTiles] = {};
    if (Products::kTakesPlanes && of_.reads_planes) {
      Planes planes(*this, src, kernel, first_row, first_output, first);
      add_products(sums, planes, shared_place(shared), rows, count);
    } else {
      Copies copies(*this, first_row, first_output, first);
      add_products(sums, copies, shared_place(shared), rows, count);
    }
    if (parts != 1) {
#pragma unroll
      for (u32 r = 0; r < kRowTiles; ++r) keep_part(part, r, sums[r]);
      return;
    }
    barrier();
#pragma unroll
    for (u32 r = 0; r < kRowTiles; ++r) keep(shared, r, sums[r]);
  }
  template <class Source>
  KILN_DEVICE void add_products(Sums (&sums)[kRowTiles], Source& source, SharedPlace begin,
                                u32 rows, u32 count) const {
    const u32 stages = source.copies_ahead() ? of_.stages : 1, end = stages * kStageBytes;
    u32 from = 0, to = 0;
#pragma unroll 1
    for (u32 step = 0; step + 1 < stages; ++step, to += kStageBytes) {
      if (step < count) source.copy_ahead(begin + to);
      end_group();
    }
#pragma unroll 1
    for (u32 left = count; left != 0; --left) {
      if (stages == 1) {
        barrier();
        source.copy(begin);
        end_group();
      }
      if (stages == 3) {
        wait_for_groups<1>();
      } else {
        wait_for_groups<0>();
      }
      Products::show_copies();
      barrier();
      const SharedPlace weights = begin + from;
      const bool copies_next = stages != 1 && left >= stages;
      Products::template multiply<Source::kPlanes>(
          sums, weights, weights + kTile * kRowBytes, rows,
          [&] {
            if (copies_next) source.copy_weights(begin + to);
          },
          [&] {
            if (copies_next) source.copy_elements(begin + to);
            end_group();
          });
      from = from + kStageBytes == end ? 0 : from + kStageBytes;
      to = to + kStageBytes == end ? 0 : to + kStageBytes;
    }
  }

  // ---- steps 1 and 2 ----------------------------------------------------------------------------

  // Where this thread's sums of part `part` of the tile are, for row tile `r`. Four sums are
  // together, followed by those of the other threads.
  KILN_DEVICE u8* part_sums(u32 part, u32 r) const {
    const u32 tiles = of_.tiles_down * of_.tiles_across, tile = block_index() % tiles;
    const u64 rows = (static_cast<u64>(part) * tiles + tile) * kRowTiles + r;
    return sums_ + rows * (sizeof(Sums) * kThreads) + thread_rank() * 16;
  }
  KILN_DEVICE void keep_part(u32 part, u32 r, const Sums& sums) const {
    u8* to = part_sums(part, r);
#pragma unroll
    for (u32 i = 0; i < Products::kSums; i += 4, to += kThreads * 16) {
      Words words;
#pragma unroll
      for (u32 w = 0; w < 4; ++w) words.word[w] = bit_cast<u32>(Products::sum(sums, i + w));
      store_16_bytes(to, words);
    }
  }
  KILN_DEVICE void add_parts(u16* shared, u32 first, u32 end) const {
#pragma unroll 1
    for (u32 r = first; r < end; ++r) {
      Sums sums = {};
#pragma unroll 1
      for (u32 p = 0; p < of_.parts; ++p) {
        const u8* from = part_sums(p, r);
#pragma unroll
        for (u32 i = 0; i < Products::kSums; i += 4, from += kThreads * 16) {
          const Words words = load_16_bytes(from);
#pragma unroll
          for (u32 w = 0; w < 4; ++w) Products::sum(sums, i + w) += bit_cast<f32>(words.word[w]);
        }
      }
      keep(shared, r, sums);
    }
  }

  // Results pass through shared memory, so that wide accesses can store them.
  KILN_DEVICE static void keep(u16* results, u32 r, const Sums& sums) {
    u16* const mine = results + Products::row(r, 0) * kResultStride + Products::column(0);
#pragma unroll
    for (u32 i = 0; i < Products::kSums; i += Products::kHasPairs ? 2 : 1) {
      u16* const to = mine + (Products::row(0, i) - Products::row(0, 0)) * kResultStride +
                      (Products::column(i) - Products::column(0));
      if constexpr (Products::kHasPairs) {
        *reinterpret_cast<u32*>(to) =
            narrow_pair<T>(Products::sum(sums, i), Products::sum(sums, i + 1));
      } else {
        *to = narrow<T>(Products::sum(sums, i)).bits;
      }
    }
  }
  // Stores row tiles `first` to `end`. A thread stores outputs of some rows: eight neighbouring ones
  // at once, or a single one.
  KILN_DEVICE void write(const u16* results, u32 first, u32 end, u32 first_row, u32 first_output,
                         T* dst) const {
    const u32 of_image = y_.outputs * x_.outputs;
    const bool by_eight = of_image % 8 == 0 && address_of(dst) % 16 == 0;
    const u32 column = by_eight ? thread_rank() % kResultPieces * 8 : thread_rank();
    const u32 output = first_output + column;
    if (output >= of_.outputs) return;
    const u32 image = output / of_image, channels = shape_.channels_out;
    dst +=
        (static_cast<u64>(image) * channels + first_row) * of_image + (output - image * of_image);
    results += column;
    const u32 rows = channels - first_row;
#pragma unroll 1
    for (u32 team = 0; team < kTile; team += kTile / Products::kTeamsDown) {
      const u32 begin = team + first * Products::kTileRows;
      u32 after = team + end * Products::kTileRows;
      if (after > rows) after = rows;
      if (by_eight) {
#pragma unroll 1
        for (u32 r = begin + thread_rank() / kResultPieces; r < after; r += kResultsAtOnce) {
          store_16_bytes(dst + static_cast<u64>(r) * of_image,
                         load_16_bytes(results + r * kResultStride));
        }
      } else {
#pragma unroll 4
        for (u32 r = begin; r < after; ++r) {
          dst[static_cast<u64>(r) * of_image] = T{results[r * kResultStride]};
        }
      }
    }
  }

  // Copies, because the compiler would read them again after each store.
  const Shape shape_;
  const Axis y_, x_;
  const Channels of_;
  u16 *image_, *weights_;
  u8* sums_;
};

// A launch of blocks of kChannelThreads threads, with tuning::channel_bytes() of shared memory.
template <class T>
KILN_DEVICE void convolve_channels(const u64* info, const T* src, const T* kernel, T* dst,
                                   u8* workspace, u32 step) {
  ChannelConvolution<T>(info, workspace).run(src, kernel, dst, step);
}

}  // namespace kiln::families
