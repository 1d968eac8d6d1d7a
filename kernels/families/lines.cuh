// Outputs that lie in lines, handed out to the threads of a launch: any grid, any block.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
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
  const u32 threads = staying_threads(), self = thread_number();
  if (leaves_at_once() || self >= threads) return;
  const u32 length = static_cast<u32>(per_line), last = static_cast<u32>(lines);
  u32 band = last;
#pragma unroll 1
  while (band * per_line >> 31 != 0) band /= 2;
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

// Whether lines of so many elements in all are so few that a thread takes one: it has chunks of so
// many for less than an eighth of the threads that run at once.
template <u32 kCount>
KILN_DEVICE bool lines_go_singly(u64 numel) {
  return static_cast<bool>(takes_one_element(numel) & (numel <= resident_threads() / 8 * kCount));
}

// A thread's part of lines, of which there are less than 2^32, of 1 to 2^31 - 1 elements each: a run of
// neighbours, the same in a few lines one after the other, and again so many lines further. A run is a
// chunk, where `chunks_serve`, every line is whole ones, and they are enough for an eighth of the
// threads that run at once; else one element.
template <u32 kCount, class T>
struct LineWalk {
  static constexpr u32 kMostTogether = 16;
  u32 lines, line, together, skipped;  // from the last of a few lines to the next first
  u32 runs, first_run, apart;          // of a line: all, the thread's, and from one to the next
  bool by_chunks;

  KILN_DEVICE LineWalk(const T* out, u64 line_count, u64 per_line, bool chunks_serve) {
    const u32 resident = resident_threads(), self = thread_number();
    apart = staying_threads();
    lines = static_cast<u32>(line_count);
    runs = static_cast<u32>(per_line) / kCount;
    by_chunks = chunks_serve &&
                (address_of(out) | per_line * sizeof(T)) % (kCount * sizeof(T)) == 0 &&
                line_count * runs > (apart < resident / 8 ? apart : resident / 8);
    if (!by_chunks) runs = static_cast<u32>(per_line);
    const u32 teams = runs < apart ? small_quotient(apart, runs) : 1;
    const u32 team = small_quotient(self, runs);
    first_run = self - team * runs;
    together = 1;
    if (lines > teams) {
      // Of more than 2^20 lines about as many, which serve as well.
      together =
          lines < teams * kMostTogether ? small_quotient(lines - 1, teams) + 1 : kMostTogether;
    }
    line = self < apart && team < teams ? team * together : lines;
    skipped = (teams - 1) * together + 1;
  }
  KILN_DEVICE bool is_idle() const { return line >= lines; }

  // Calls prepare(first) where the neighbours from `first` on are others, and write(line, first,
  // follows), which says whether the line before was the last.
  template <class Prepare, class Write>
  KILN_DEVICE void run(Prepare prepare, Write write) const {
#pragma unroll 1
    for (u32 i = first_run; i < runs; i += apart) {
      const u32 first = by_chunks ? i * kCount : i;
      prepare(first);
      u32 left = together;
#pragma unroll 1
      for (u32 at = line;;) {
        write(at, first, left != together);
        --left;
        const u32 step = left != 0 ? 1 : skipped;
        if (left == 0) left = together;
        if (lines - at <= step) break;
        at += step;
      }
    }
  }
};

}  // namespace kiln::families
