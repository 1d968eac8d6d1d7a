// Divides the work of a launch among its threads, for any grid and any block.
//
// The reference geometry has a thread for every element. If all of them fit on the device at once,
// each takes one element. Otherwise some of the blocks do all the work by wide accesses, and the
// others exit early (tuning/elementwise.hpp). Kiln's own geometry has fewer threads than elements,
// and all of them work.
#pragma once

#include "device/platform.cuh"
#include "tuning/elementwise.hpp"

namespace kiln::families {

using namespace device;

inline constexpr tuning::Elementwise kTuning = tuning::elementwise(kArchitecture);

// Maximum number of blocks that do work. Smaller for the reference's blocks of 1024 threads.
inline constexpr u32 kMaxBlocks = tuning::max_blocks(kMachine);
KILN_DEVICE u32 max_blocks() { return block_size() == 1024 ? kMaxBlocks / 8 : kMaxBlocks; }

// Returns the number of blocks of the launch, but at most `most`.
KILN_DEVICE u32 blocks_up_to(u32 most) {
  const u32 blocks = block_count();
  return blocks < most ? blocks : most;
}

// Number of blocks of 1024 threads that the largest GPU holds at once, as far as they may work. As
// many work if the device cannot hold all threads.
inline constexpr u32 kLargestFit = tuning::fitting_blocks(tuning::largest_for(kMachine));
inline constexpr u32 kFitBlocks = kLargestFit < kMaxBlocks / 8 ? kLargestFit : kMaxBlocks / 8;
// Number of blocks that do work in kernels whose own geometry has blocks enough to exit after a
// chunk or a few. Of the reference's blocks, of 1024 threads, only some do.
inline constexpr u32 kAllBlocks = 1u << 20;
KILN_DEVICE u32 few_or_all_blocks() { return block_size() == 1024 ? kMaxBlocks / 8 : kAllBlocks; }
KILN_DEVICE u32 full_blocks() { return block_size() == 1024 ? kFitBlocks : kAllBlocks; }

// True if the block has no work, whatever the launch. Checked first: a large launch takes at least
// as long as the instructions of its surplus blocks.
KILN_DEVICE bool leaves_at_once() { return block_index() >= max_blocks(); }
// The same for kernels whose own geometry has a thread for each chunk, however many there are.
KILN_DEVICE bool leaves_to_few() { return block_index() >= few_or_all_blocks(); }

// The same for kernels all of whose blocks have work, up to a number that lets 32 bits count what
// all of them take at once: a thread or a row, or a hundred of them. all_blocks() work.
KILN_DEVICE bool leaves_to_all() { return block_index() >= kAllBlocks; }
KILN_DEVICE u32 all_blocks() { return blocks_up_to(kAllBlocks); }

// Number of blocks of 1024 threads that this device holds at once, and of their threads.
KILN_DEVICE u32 resident_blocks() { return multiprocessors() * (kMachine.threads / 1024); }
KILN_DEVICE u32 resident_threads() { return resident_blocks() * 1024; }

// Number of threads that work, at most as many as this device holds at once. The device may be
// larger than all GPUs of the architecture that the kernel is compiled for.
KILN_DEVICE u32 staying_threads() {
  const u32 threads = blocks_up_to(max_blocks()) * block_size(), resident = resident_threads();
  return threads < resident ? threads : resident;
}

// The thread's number in a grid with one row of blocks. 32 bits suffice for threads that work.
KILN_DEVICE u32 thread_number() { return block_index() * block_size() + thread_index(); }

// A thread's number in another order, for `threads` threads in blocks of 1024: consecutive waves
// are in different blocks, so that all blocks share work of less than a chunk per thread. Threads
// in other blocks keep `number`.
KILN_DEVICE u32 scattered_number(u32 number, u32 threads) {
  if (block_size() != 1024) return number;
  const u32 wave = thread_index() / wave_width(), lane = thread_index() % wave_width();
  return (wave * (threads / 1024) + block_index()) * wave_width() + lane;
}

KILN_DEVICE u64 launched_threads() { return static_cast<u64>(block_count()) * block_size(); }

// Number of blocks of 1024 threads that the largest GPU runs in two rounds.
inline constexpr u32 kTwiceBlocks =
    kMaxBlocks / 8 < 2 * kFitBlocks ? kMaxBlocks / 8 : 2 * kFitBlocks;

// True if each thread takes at most one element, in at most `most` blocks. A small launch takes as
// long as its instructions, so there is no branch between the conditions, and the default limit is
// a constant, that of the largest GPU.
KILN_DEVICE bool takes_one_element(u64 numel, u32 most = kFitBlocks) {
  return static_cast<bool>((block_count() <= most) & (block_count() * block_size() >= numel));
}
// The same for launches of at most `max_threads` threads.
KILN_DEVICE bool takes_one_element(u64 numel, u32 most, u32 max_threads) {
  const u32 blocks = block_count(), threads = blocks * block_size();
  return static_cast<bool>((blocks <= most) & (threads <= max_threads) & (threads >= numel));
}
// True if each thread of a small launch takes at most one chunk of `count` elements, and nothing is
// left. Every instruction of such a launch counts on AMD, where kiln's own geometry has them.
KILN_DEVICE bool takes_small_chunk(u64 numel, u32 count) {
  return takes_one_element(numel / count) && numel % count == 0;
}

// Kiln's own geometry has a thread for each chunk of a contiguous array of medium size. On some
// architectures, small launches do, too. The reference's blocks, of 1024 threads, have one for each
// element. may_have_chunk_each() is asked first, so that their threads compute nothing more.
KILN_DEVICE bool may_have_chunk_each() { return kTuning.small_chunks || block_size() != 1024; }
KILN_DEVICE bool has_chunk_each(u64 chunks) {
  constexpr u32 kMost = kTuning.small_chunks ? kFitBlocks : kMaxBlocks;
  const u32 blocks = opaque(block_count());  // hidden, or it would be read before that test
  return static_cast<bool>((blocks <= kMost) & (blocks * block_size() >= chunks));
}

// Number of blocks that do the work of a large launch in the reference geometry.
KILN_DEVICE u32 working_blocks() {
  constexpr u32 kMax = kMachine.threads / 1024 * 8;
  constexpr u32 kTuned = kTuning.working_blocks < kMax ? kTuning.working_blocks : kMax;
  return (multiprocessors() * kTuned + 7) / 8;
}

// The same for work by tiles with barriers: one block per multiprocessor, which leaves others room
// to exit.
KILN_DEVICE u32 tile_blocks() { return multiprocessors(); }

// Number of threads that move `chunks` chunks in kernels that ask leaves_to_few().
KILN_DEVICE u32 threads_of_chunks(u64 chunks) {
  if (block_size() != 1024) return block_count() * block_size();
  u32 most = chunks <= resident_threads() ? resident_blocks() : working_blocks();
  if (most > kMaxBlocks / 8) most = kMaxBlocks / 8;  // other blocks exit early
  return blocks_up_to(most) * 1024;
}

// Chunks of `elements` elements per resident thread up to which all resident threads work. With two
// elements per chunk, a launch of twice as many chunks still has few surplus blocks. Measured on an
// H200, reference geometry, in us, by few blocks -> by all: cast_u8_f64 of 700,000 elements
// 4.13 -> 3.30; uneg_f64 of 2^20 6.71 -> 5.78.
constexpr u32 share_of(u32 elements) { return elements == 2 ? 2 : 1; }

// How a large launch is divided among its threads.
struct Spread {
  u32 self;              // the thread's number
  u32 threads;           // number of threads that work, unless threads_for() says less
  bool has_thread_each;  // there is a thread for every element

  // One element for each thread, of fewer than 2^31.
  KILN_DEVICE Spread() : self(thread_number()), threads(1u << 31), has_thread_each(true) {}
  // `single_occupancy`: a multiprocessor holds one of the kernel's blocks of 1024 threads. Measured
  // on an H200, three views of 2-byte and 8-byte elements, 8x1024x32x128 permuted, in us, blocks on
  // 83 multiprocessors -> on all: 472 -> 353.
  KILN_DEVICE explicit Spread(u64 numel, bool single_occupancy = false, u32 most = max_blocks())
      : self(thread_number()), threads(blocks_up_to(most) * block_size()) {
    has_thread_each = launched_threads() >= numel;
    const u32 resident = single_occupancy ? multiprocessors() * 1024 : resident_threads();
    if (has_thread_each && resident < threads) threads = resident;
  }
  // The same for a grid that may have several rows of blocks, along y. Blocks of such a grid beyond
  // `most` must have exited. Grids of the reference's blocks have one row; they do not read y,
  // since each further instruction makes their launches longer.
  KILN_DEVICE static Spread in_rows(u64 numel, bool single_occupancy, u32 most) {
    Spread spread(numel, single_occupancy, most);
    if (block_size() != 1024) {
      spread.self += block_index_y() * spread.threads;
      spread.threads *= block_count_y();
    }
    return spread;
  }
  // True if the thread has no work.
  KILN_DEVICE bool is_surplus() const { return self >= threads; }

  // Number of threads that move `chunks` chunks. `blocks` limits them in the reference geometry.
  KILN_DEVICE u32 threads_for(u64 chunks, u32 blocks = working_blocks()) const {
    if (!has_thread_each || chunks <= resident_threads()) return threads;
    const u32 working = blocks * 1024;
    return threads < working ? threads : working;
  }
};

}  // namespace kiln::families
