// Distributes outputs that lie in lines over the threads of a launch, for any grid and any block.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// Calls `use(line, i)` for each line and each `i` below `per_line`. Neighbouring threads get
// neighbouring `i`. There are fewer than 2^32 lines of fewer than 2^31 elements each.
//
// Lines are taken in bands of fewer than 2^31 elements, which 32 bits can count.
template <class Use>
KILN_DEVICE void for_each_in_lines(u64 lines, u64 per_line, Use use) {
  if (lines == 0 || per_line == 0) return;
  // Only as many threads work as run at once, since each repeats what all lines have in common.
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

// Number of elements in the widest access.
template <class T>
inline constexpr u32 kChunkCount = 16 / sizeof(T);

// Returns how many neighbours of a line a thread writes: a chunk if lines consist of whole aligned
// chunks, and these are more than an eighth of the resident threads, or else one.
template <class T>
KILN_DEVICE u32 outputs_of_thread(const T* out, u64 lines, u64 per_line) {
  const bool by_chunks = (address_of(out) | per_line * sizeof(T)) % 16 == 0;
  const u64 enough = static_cast<u64>(resident_threads() / 8) * kChunkCount<T>;
  return by_chunks && lines * per_line > enough ? kChunkCount<T> : 1;
}

// Returns how many runs a line has. `run` is the result of outputs_of_thread().
template <class T>
KILN_DEVICE u32 runs_of_line(u64 per_line, u32 run) {
  return static_cast<u32>(per_line) / (run == 1 ? 1 : kChunkCount<T>);
}

// Writes the results of `count` calls of `next()`, where `count` is 1 or a chunk's number of
// elements. Makes up to kAbreast calls before it uses the first result.
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

// True if each thread writes one element: there is a thread for each, and chunks have two elements,
// or lines do not consist of whole chunks, or these would occupy at most an eighth of the resident
// threads.
template <u32 kCount>
KILN_DEVICE bool lines_go_singly(u64 numel, u64 per_line) {
  return static_cast<bool>(
      takes_one_element(numel) &
      (kCount <= 2 || ((numel <= resident_threads() / 8 * kCount) | (per_line % kCount != 0))));
}

// The part of the lines that a thread writes. There are fewer than 2^32 lines of 1 to 2^31 - 1
// elements. A thread writes a run of neighbours at the same place in a group of consecutive lines,
// then the same in its next group. A run is a chunk if `chunks_serve`, lines consist of whole
// aligned chunks, and these are more than an eighth of the resident threads. Otherwise it is one
// element.
template <u32 kCount, class T>
struct LineWalk {
  static constexpr u32 kMaxTogether = 16;
  u32 lines, line, together, skipped;  // `skipped`: from the last line of a group to the next
  u32 runs, first_run, run_step;       // in a line: all runs, the thread's first, and its step
  bool by_chunks;

  KILN_DEVICE LineWalk(const T* out, u64 line_count, u64 per_line, bool chunks_serve) {
    const u32 resident = resident_threads(), self = thread_number();
    run_step = staying_threads();
    lines = static_cast<u32>(line_count);
    runs = static_cast<u32>(per_line) / kCount;
    by_chunks = chunks_serve &&
                (address_of(out) | per_line * sizeof(T)) % (kCount * sizeof(T)) == 0 &&
                line_count * runs > (run_step < resident / 8 ? run_step : resident / 8);
    if (!by_chunks) runs = static_cast<u32>(per_line);
    const u32 teams = runs < run_step ? small_quotient(run_step, runs) : 1;
    const u32 team = small_quotient(self, runs);
    first_run = self - team * runs;
    together = 1;
    if (lines > teams) {
      // For many lines the quotient is approximate, which suffices.
      together = lines < teams * kMaxTogether ? small_quotient(lines - 1, teams) + 1 : kMaxTogether;
    }
    line = self < run_step && team < teams ? team * together : lines;
    skipped = (teams - 1) * together + 1;
  }
  KILN_DEVICE bool is_idle() const { return line >= lines; }

  // Calls prepare(first) for each run, with its first element's number in a line, and then
  // write(line, first, follows) for each of its lines. `follows` is true if the last call wrote the
  // line before.
  template <class Prepare, class Write>
  KILN_DEVICE void run(Prepare prepare, Write write) const {
#pragma unroll 1
    for (u32 i = first_run; i < runs; i += run_step) {
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
