// Quantized blocks to floats: whole tensors, and rows that are asked for.
#pragma once

#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "gguf/block.cuh"

namespace kiln::families {

using namespace device;

// Slices that a thread decodes at once: as many as make a part sixteen bytes of output.
template <class Format, class T>
inline constexpr u32 kSlicesOfThread = 4 / sizeof(T);

template <class Format, class T>
using OutputPiece = gguf::Piece<Format, kSlicesOfThread<Format, T>>;

// Piece `i` of the blocks to its place in `out`.
template <class Format, class T>
KILN_DEVICE void store_piece(const OutputPiece<Format, T>& piece, u64 i, T* out, bool by_chunks) {
  constexpr u32 kCount = 4 * kSlicesOfThread<Format, T>;
  T* const block_out = out + i / OutputPiece<Format, T>::kPerBlock * Format::kValues;
#pragma unroll
  for (u32 p = 0; p < Format::kParts; ++p) {
    f32 values[kCount];
    piece.values(p, values);
    T* const at = block_out + 4 * piece.word(p);
    if (by_chunks) {
      Chunk<T, kCount> chunk;
      chunk.clear();
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) chunk.put(k, narrow<T>(values[k]));
      chunk.store(at);
    } else {
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) at[k] = narrow<T>(values[k]);
    }
  }
}
template <class Format, class T>
KILN_DEVICE void dequantize_piece(const u8* blocks, u64 i, T* out, bool by_chunks) {
  store_piece<Format>(OutputPiece<Format, T>(blocks, i), i, out, by_chunks);
}

// Four neighbouring values: word `i` of the blocks, where those of each block are counted part by
// part.
template <class Format, class T>
KILN_DEVICE void dequantize_word(const u8* blocks, u32 i, T* out, bool by_chunks) {
  constexpr u32 kWords = Format::kValues / 4, kSlices = gguf::kSlices<Format>;
  const u32 in_block = i % kWords;
  const u32 slice = in_block % kSlices, part = in_block / kSlices;
  const gguf::Piece<Format, 1> piece(blocks, i / kWords * kSlices + slice);
  u32 quants = piece.quants[0][0];
#pragma unroll
  for (u32 p = 1; p < Format::kParts; ++p) quants = part == p ? piece.quants[0][p] : quants;
  const gguf::Scale scale = piece.scale(part);
  f32 values[4];
#pragma unroll
  for (u32 k = 0; k < 4; ++k) values[k] = gguf::value_of<Format>(scale, gguf::quant_of(quants, k));
  T* const at = out + i / kWords * Format::kValues + 4 * piece.word(part);
  if (by_chunks) {
    Chunk<T, 4> chunk;
    chunk.clear();
#pragma unroll
    for (u32 k = 0; k < 4; ++k) chunk.put(k, narrow<T>(values[k]));
    chunk.store(at);
  } else {
#pragma unroll
    for (u32 k = 0; k < 4; ++k) at[k] = narrow<T>(values[k]);
  }
}

// The same for `count` blocks behind the first, by the threads of a block.
template <class Format, class T>
KILN_DEVICE void dequantize_words(const void* in, T* out, u64 before, u32 count) {
  const u8* const blocks = static_cast<const u8*>(in) + before * Format::kBytes;
  T* const block_out = out + before * Format::kValues;
  const bool by_chunks = address_of(out) % 16 == 0;
#pragma unroll 1
  for (u32 i = thread_index(); i < count * (Format::kValues / 4); i += block_size()) {
    dequantize_word<Format>(blocks, i, block_out, by_chunks);
  }
}

// `count` blocks of the format. Pieces of four values are read two at once: in the reference's
// geometry a thread has two.
template <class Format, class T>
KILN_DEVICE void dequantize(const void* in, T* out, u64 count) {
  constexpr bool kByTwos = OutputPiece<Format, T>::kWords * Format::kParts == 1;
  const u8* const blocks = static_cast<const u8*>(in);
  const u64 pieces = count * OutputPiece<Format, T>::kPerBlock;
  const u64 threads = static_cast<u64>(block_count()) * block_threads();
  const bool by_chunks = address_of(out) % 16 == 0;
#pragma unroll 1
  for (u64 i = static_cast<u64>(block_index()) * block_threads() + thread_rank(); i < pieces;
       i += threads) {
    const OutputPiece<Format, T> piece(blocks, i);
    if constexpr (kByTwos) {
      const u64 next = i + threads;
      const OutputPiece<Format, T> other(blocks, next < pieces ? next : i);
      store_piece<Format>(piece, i, out, by_chunks);
      if (next < pieces) store_piece<Format>(other, next, out, by_chunks);
      i = next;
    } else {
      store_piece<Format>(piece, i, out, by_chunks);
    }
  }
}

// The same. The reference has a thread for every two values; then all blocks of threads work, and
// each thread has little to do.
template <class Format, class T>
KILN_DEVICE void dequantize_by_twos(const void* in, T* out, u64 count) {
  const u32 of_block = block_size() / (Format::kValues / 2);
  if (static_cast<u64>(block_count()) * of_block < count) return dequantize<Format>(in, out, count);
  const u64 before = static_cast<u64>(block_index()) * of_block;
  if (before >= count) return;
  const u64 left = count - before;
  dequantize_words<Format>(in, out, before, left < of_block ? static_cast<u32>(left) : of_block);
}

// As many blocks as the launch has kThreads threads, and one at least for each block of threads. Of
// blocks of threads that have several along y, as many as those.
template <class Format, u32 kThreads, class T>
KILN_DEVICE void dequantize_of_grid(const void* in, T* out) {
  const u32 at_once = block_size() / kThreads;
  const u32 of_block = block_y() != 1 ? block_y() : at_once == 0 ? 1 : at_once;
  if constexpr (kThreads * 4 == Format::kValues) {
    if (block_y() == 1) {
      dequantize_words<Format>(in, out, static_cast<u64>(block_index()) * of_block, of_block);
      return;
    }
  }
  dequantize<Format>(in, out, static_cast<u64>(block_count()) * of_block);
}

// The row of a launch's block: `row_bytes` times its id from the table's beginning.
template <class T>
KILN_DEVICE const T* row_of(const void* table, const u32* ids, u64 row_bytes) {
  return reinterpret_cast<const T*>(static_cast<const u8*>(table) + ids[block_index()] * row_bytes);
}

// Rows of `columns` values, a multiple of the format's block: block (i, y) does a part of row
// ids[i].
template <class Format>
KILN_DEVICE void get_rows(const void* table, const u32* ids, f32* out, i64 columns, u64 row_bytes) {
  const u8* const row = row_of<u8>(table, ids, row_bytes);
  f32* const row_out = out + block_index() * static_cast<u64>(columns);
  const u32 pieces =
      static_cast<u32>(columns / Format::kValues) * OutputPiece<Format, f32>::kPerBlock;
  const bool by_chunks = address_of(row_out) % 16 == 0;
  if constexpr (Format::kValues == 256) {
    // A thread for every four values, as the reference has.
    const u32 words = static_cast<u32>(columns / 4);
    if (block_count_y() * block_size() >= words) {
      const u32 i = block_index_y() * block_size() + thread_index();
      if (i < words) dequantize_word<Format>(row, i, row_out, by_chunks);
      return;
    }
  }
#pragma unroll 1
  for (u32 i = block_index_y() * block_size() + thread_index(); i < pieces;
       i += block_count_y() * block_size()) {
    dequantize_piece<Format>(row, i, row_out, by_chunks);
  }
}

// The same for rows of floats.
template <class T>
KILN_DEVICE void get_float_rows(const T* table, const u32* ids, f32* out, i64 columns,
                                u64 row_bytes) {
  const T* const row = row_of<T>(table, ids, row_bytes);
  f32* const row_out = out + block_index() * static_cast<u64>(columns);
#pragma unroll 1
  for (u64 i = static_cast<u64>(block_index_y()) * block_size() + thread_index();
       i < static_cast<u64>(columns); i += static_cast<u64>(block_count_y()) * block_size()) {
    row_out[i] = widen(row[i]);
  }
}

}  // namespace kiln::families
