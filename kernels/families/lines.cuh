// Outputs that lie in lines, handed out to the threads of a launch: any grid, any block.
#pragma once

#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// Calls `use(line, i)` for each `i` below `per_line` of each line, in neighbouring threads for
// neighbours. There are less than 2^32 lines, of less than 2^31 each.
//
// Lines are taken in bands, within which 32 bits count.
template <class Use>
KILN_DEVICE void for_each_in_lines(u64 lines, u64 per_line, Use use) {
  if (lines == 0 || per_line == 0) return;
  // As many threads as run at once: each does its share of what is the same for all lines.
  const u64 all = launched_threads();
  const u32 resident = resident_threads();
  const u32 threads = all < resident ? static_cast<u32>(all) : resident;
  const u32 self = thread_number();
  if (leaves_at_once() || self >= threads) return;
  const u32 length = static_cast<u32>(per_line), last = static_cast<u32>(lines);
  const u32 band = lines * per_line >> 31 == 0 ? last : (1u << 31) / length;
#pragma unroll 1
  for (u32 first = 0;;) {
    const u32 left = last - first;
    const u32 count = (left < band ? left : band) * length;
#pragma unroll 1
    for (u32 i = self; i < count; i += threads) {
      const u32 line = i / length;
      use(first + line, i - line * length);
    }
    if (left <= band) return;
    first += band;
  }
}

// The elements of the widest access.
template <class T>
inline constexpr u32 kChunkCount = 16 / sizeof(T);

// How many neighbours of a line a thread writes: a chunk where every line is made of whole ones and
// there are chunks for an eighth of the threads that run at once, else one.
template <class T>
KILN_DEVICE u32 outputs_of_thread(const T* out, u64 lines, u64 per_line) {
  const bool by_chunks = (address_of(out) | per_line * sizeof(T)) % 16 == 0;
  const u64 enough = static_cast<u64>(resident_threads() / 8) * kChunkCount<T>;
  return by_chunks && lines * per_line > enough ? kChunkCount<T> : 1;
}

// How many times so many, which `outputs_of_thread` gave, go into a line.
template <class T>
KILN_DEVICE u32 runs_of_line(u64 per_line, u32 run) {
  return static_cast<u32>(per_line) / (run == 1 ? 1 : kChunkCount<T>);
}

// Writes what `next()` gives, once or as often as a chunk has elements, of which `kAbreast` are
// asked for before the first is used.
template <u32 kAbreast, class T, class Next>
KILN_DEVICE void write_run(T* out, u32 count, Next next) {
  constexpr u32 kCount = kChunkCount<T>;
  constexpr u32 kStep = kCount < kAbreast ? kCount : kAbreast;
  Chunk<T, kCount> chunk;
  chunk.clear();
#pragma unroll 1
  for (u32 i = 0; i < count; i += kStep) {
    Chunk<T, kStep> part;
    part.clear();
    T value[kStep];
#pragma unroll
    for (u32 k = 0; k < kStep; ++k) {
      if (k < count) value[k] = next();
    }
    if (count == 1) {
      *out = value[0];
      return;
    }
#pragma unroll
    for (u32 k = 0; k < kStep; ++k) part.put(k, value[k]);
    chunk.append(part);
  }
  chunk.store(out);
}

// Where lines are whole chunks, and there are chunks for an eighth of the threads that run at once:
// says whether it was so. A thread keeps its chunk of a line, for which `prepare(first)` works out
// once what the same elements of all lines share, and walks over lines, of which `make(line)` gives
// the chunk.
template <u32 kCount, class T, class Prepare, class Make>
KILN_DEVICE bool walk_over_lines(T* out, u64 lines, u64 per_line, Prepare prepare, Make make) {
  const u64 all = launched_threads();
  const u32 resident = resident_threads();
  const u32 threads = all < resident ? static_cast<u32>(all) : resident;
  const u32 chunks = static_cast<u32>(per_line / kCount), line_count = static_cast<u32>(lines);
  if ((address_of(out) | per_line * sizeof(T)) % (kCount * sizeof(T)) != 0 ||
      (lines | per_line) >> 31 != 0 ||
      lines * chunks <= (all < resident / 8 ? all : resident / 8)) {
    return false;
  }
  const u32 walks = chunks < threads ? threads / chunks : 1;
  const u32 self = thread_number(), walk = self / chunks;
  if (self >= threads || walk >= walks) return true;
#pragma unroll 1
  for (u32 chunk = self - walk * chunks; chunk < chunks; chunk += threads) {
    if (walk < line_count) prepare(chunk * kCount);
#pragma unroll 1
    for (u32 line = walk; line < line_count; line += walks) {
      make(line).store(out + (line * per_line + chunk * kCount));
    }
  }
  return true;
}

}  // namespace kiln::families
