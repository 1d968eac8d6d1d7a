// Converts quantized blocks to floats: whole tensors, and selected rows.
#pragma once

#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "gguf/block.cuh"

namespace kiln::families {

using namespace device;

// Number of slices that a thread decodes at once. Each part of them makes 16 bytes of output.
template <class Format, class T>
inline constexpr u32 kSlicesOfThread = 4 / sizeof(T);

template <class Format, class T>
using OutputPiece = gguf::Piece<Format, kSlicesOfThread<Format, T>>;

// Stores neighbouring values at `at`, by one access if `by_chunks` and otherwise one by one.
template <class T, u32 kCount>
KILN_DEVICE void store_values(const f32 (&values)[kCount], T* at, bool by_chunks) {
  Chunk<T, kCount> chunk;
  chunk.clear();
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) chunk.put(k, narrow<T>(values[k]));
  if (by_chunks) {
    chunk.store(at);
  } else {
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) at[k] = chunk.get(k);
  }
}

// Stores piece `i` of the quantized blocks at its place in `out`.
template <class Format, class T>
KILN_DEVICE void store_piece(const OutputPiece<Format, T>& piece, u64 i, T* out, bool by_chunks) {
  T* const block_out = out + i / OutputPiece<Format, T>::kPerBlock * Format::kValues;
#pragma unroll
  for (u32 p = 0; p < Format::kParts; ++p) {
    f32 values[4 * kSlicesOfThread<Format, T>];
    piece.values(p, values);
    store_values(values, block_out + 4 * piece.word(p), by_chunks);
  }
}
// Decodes and stores piece `i`. Four parts are decoded one after another in a loop: less code.
template <class Format, class T>
KILN_DEVICE void dequantize_piece(const u8* blocks, u64 i, T* out, bool by_chunks) {
  using Piece = OutputPiece<Format, T>;
  if constexpr (Format::kParts != 4) {
    store_piece<Format>(Piece(blocks, i), i, out, by_chunks);
  } else {
    const u8* const block = blocks + i / Piece::kPerBlock * Format::kBytes;
    T* const block_out = out + i / Piece::kPerBlock * Format::kValues;
    const u32 first = static_cast<u32>(i % Piece::kPerBlock) * Piece::kWords;
    typename Format::template Packed<Piece::kWords> packed(block, first);
#pragma unroll 1
    for (u32 p = 0; p < Format::kParts; ++p) {
      const u32 word = Format::word(first, p);
      const gguf::Scale scale = Format::scale(block, word);
      f32 values[4 * Piece::kWords];
#pragma unroll
      for (u32 k = 0; k < Piece::kWords; ++k) {
        const u32 quants = packed.next(k);
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
          values[4 * k + j] = gguf::value_of<Format>(scale, gguf::quant_of(quants, j));
        }
      }
      store_values(values, block_out + 4 * word, by_chunks);
    }
  }
}

// The words that one of kPerBlock threads decodes of a quantized block. A word is four values.
// There are kCount of them: all parts of some slices or, if kCount is 1, one part of a slice.
template <class Format, u32 kCount>
struct ThreadWords {
  static constexpr bool kIsPart = kCount < Format::kParts;
  static constexpr u32 kPerBlock = Format::kValues / 4 / kCount;
  static constexpr u32 kSlices = kIsPart ? 1 : kCount / Format::kParts;
  static constexpr u32 kParts = kIsPart ? 1 : Format::kParts;

  u32 quants[kParts][kSlices];
  gguf::Scale scales[kParts];
  u32 words[kParts];  // number of each part's first word

  KILN_DEVICE ThreadWords(const u8* block, u32 thread) {
    const u32 part = kIsPart ? thread / gguf::kSlices<Format> : 0;
    const gguf::Piece<Format, kSlices> piece(block,
                                             kIsPart ? thread % gguf::kSlices<Format> : thread);
#pragma unroll
    for (u32 p = 0; p < kParts; ++p) {
      words[p] = piece.word(part + p);
      scales[p] = piece.scale(part + p);
#pragma unroll
      for (u32 k = 0; k < kSlices; ++k) {
        quants[p][k] = piece.quants[k][p];
#pragma unroll
        for (u32 q = 1; kIsPart && q < Format::kParts; ++q) {
          quants[p][k] = part == q ? piece.quants[k][q] : quants[p][k];
        }
      }
    }
  }
  template <class T>
  KILN_DEVICE void store(T* block_out, bool by_chunks) const {
#pragma unroll
    for (u32 p = 0; p < kParts; ++p) {
#pragma unroll
      for (u32 k = 0; k < kSlices; ++k) {
        f32 values[4];
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
          values[j] = gguf::value_of<Format>(scales[p], gguf::quant_of(quants[p][k], j));
        }
        store_values(values, block_out + 4 * (words[p] + k), by_chunks);
      }
    }
  }
};

// Converts kWords words of quantized block `block`, as one of the threads that share it. A loop
// would slow down small launches. `out` is a multiple of 16 bytes.
//
// Measured on an H200, reference geometry, 4,096 values, in us, loop -> no loop: Q4_0 to f16
// 1.13 -> 1.02; Q8_K to f32 1.17 -> 1.03.
template <class Format, u32 kWords, class T>
KILN_DEVICE void dequantize_few(const void* in, T* out, u32 block, u32 thread) {
  const ThreadWords<Format, kWords> words(
      static_cast<const u8*>(in) + static_cast<u64>(block) * Format::kBytes, thread);
  words.store(out + static_cast<u64>(block) * Format::kValues, true);
}

// Converts `count` quantized blocks in any launch geometry.
template <class Format, class T>
KILN_DEVICE void dequantize_blocks(const void* in, T* out, u64 count) {
  const u8* const blocks = static_cast<const u8*>(in);
  const u64 pieces = count * OutputPiece<Format, T>::kPerBlock;
  const u64 threads = static_cast<u64>(block_count()) * block_threads();
  const bool by_chunks = address_of(out) % 16 == 0;
#pragma unroll 1
  for (u64 i = static_cast<u64>(block_index()) * block_threads() + thread_rank(); i < pieces;
       i += threads) {
    if constexpr (OutputPiece<Format, T>::kWords * Format::kParts == 1) {
      // Pieces of four values are loaded two at a time.
      const u64 next = i + threads;
      const OutputPiece<Format, T> piece(blocks, i), other(blocks, next < pieces ? next : i);
      store_piece<Format>(piece, i, out, by_chunks);
      if (next < pieces) store_piece<Format>(other, next, out, by_chunks);
      i = next;
    } else {
      dequantize_piece<Format>(blocks, i, out, by_chunks);
    }
  }
}

// Converts `count` quantized blocks. In the reference geometry a thread block has kThreads threads
// and converts kBlocks quantized blocks.
template <class Format, u32 kThreads, u32 kBlocks, class T>
KILN_DEVICE void dequantize(const void* in, T* out, u32 count) {
  constexpr u32 kAll = kBlocks * Format::kValues / 4;
  constexpr u32 kWords = kAll <= kThreads ? 1 : kAll / kThreads;
  constexpr u32 kPerBlock = ThreadWords<Format, kWords>::kPerBlock;
  // `&` avoids branches between the conditions.
  const bool is_reference = static_cast<bool>(
      (block_size() == kThreads) & (block_y() == 1) & (address_of(out) % 16 == 0) &
      (block_count() >= count / kBlocks + (count % kBlocks != 0)));
  if (!is_reference) return dequantize_blocks<Format>(in, out, count);
  const u32 thread = thread_index(), block = block_index() * kBlocks + thread / kPerBlock;
  if (thread < kBlocks * kPerBlock && block < count) {
    dequantize_few<Format, kWords>(in, out, block, thread % kPerBlock);
  }
}

// Converts as many quantized blocks as the grid implies: one for every kThreads threads of a thread
// block, and at least one; or, with several threads along y, one for each of them.
template <class Format, u32 kThreads, class T>
KILN_DEVICE void dequantize_of_grid(const void* in, T* out) {
  const u32 at_once = block_size() / kThreads;
  const bool is_plain = static_cast<bool>((block_y() == 1) & (block_size() % kThreads == 0) &
                                          (address_of(out) % 16 == 0));
  if (is_plain) {
    const u32 block = block_index() * at_once + thread_index() / kThreads;
    return dequantize_few<Format, Format::kValues / 4 / kThreads>(in, out, block,
                                                                  thread_index() % kThreads);
  }
  const u32 of_block = block_y() != 1 ? block_y() : at_once == 0 ? 1 : at_once;
  dequantize_blocks<Format>(in, out, static_cast<u64>(block_count()) * of_block);
}

// Returns the table row of this thread block: `row_bytes` times its id from the start of the table.
template <class T>
KILN_DEVICE const T* row_of(const void* table, const u32* ids, u64 row_bytes) {
  return reinterpret_cast<const T*>(static_cast<const u8*>(table) + ids[block_index()] * row_bytes);
}

// Converts rows of `columns` values, a multiple of the format's block. Thread block (i, y) converts
// a part of row ids[i].
template <class Format>
KILN_DEVICE void get_rows(const void* table, const u32* ids, f32* out, i64 columns, u64 row_bytes) {
  const u8* const row = row_of<u8>(table, ids, row_bytes);
  f32* const row_out = out + block_index() * static_cast<u64>(columns);
  const u32 pieces =
      static_cast<u32>(columns / Format::kValues) * OutputPiece<Format, f32>::kPerBlock;
  const bool by_chunks = address_of(row_out) % 16 == 0;
  if constexpr (Format::kValues == 256) {
    // One thread for every four values, as in the reference geometry.
    const u32 words = static_cast<u32>(columns / 4);
    if (block_count_y() * block_size() >= words) {
      const u32 i = block_index_y() * block_size() + thread_index();
      if (i >= words) return;
      constexpr u32 kWords = Format::kValues / 4;
      const ThreadWords<Format, 1> word(row + i / kWords * Format::kBytes, i % kWords);
      word.store(row_out + i / kWords * Format::kValues, by_chunks);
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
