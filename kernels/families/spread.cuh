// Which part of the work a thread does, for any grid and any block.
//
// The reference's launches have a thread for every element. Where they fit on the device at once,
// each thread takes its element. Where they do not, a part of the blocks does all the work, by wide
// accesses, and the others leave at once (tuning/elementwise.hpp). Launches of our own have fewer
// threads than elements, and all work.
#pragma once

#include "device/platform.cuh"
#include "tuning/elementwise.hpp"

namespace kiln::families {

using namespace device;

inline constexpr tuning::Elementwise kTuning = tuning::elementwise(kArchitecture);

// Blocks that work, in any launch: fewer where they have the reference's 1024 threads.
inline constexpr u32 kMostBlocks = tuning::most_blocks(kMachine);
KILN_DEVICE u32 most_blocks() { return block_size() == 1024 ? kMostBlocks / 8 : kMostBlocks; }

// The blocks of the launch, up to so many.
KILN_DEVICE u32 blocks_up_to(u32 most) {
  const u32 blocks = block_count();
  return blocks < most ? blocks : most;
}

// Blocks of 1024 threads that the architecture's largest GPU holds at once.
inline constexpr u32 kFitBlocks = kMachine.multiprocessors * (kMachine.threads / 1024);
// Blocks that suffice where there are more threads than the device holds: PTX serves larger GPUs, too.
inline constexpr u32 kFullBlocks =
    kArchitecture == tuning::Architecture::kSm80 ? kMostBlocks / 8 : kFitBlocks;

KILN_DEVICE u32 full_blocks() { return block_size() == 1024 ? kFullBlocks : kMostBlocks; }

// Whether the block is behind all that work. A kernel asks this first: the instructions of such a
// block, times the blocks of a large launch, are what the launch costs at least.
KILN_DEVICE bool leaves_at_once() { return block_index() >= most_blocks(); }

// Blocks of 1024 threads that the device holds at once, and their threads.
KILN_DEVICE u32 resident_blocks() { return multiprocessors() * (kMachine.threads / 1024); }
KILN_DEVICE u32 resident_threads() { return resident_blocks() * 1024; }

// The threads that stay, no more than the device holds at once. What it holds is asked of the device,
// and it may be larger than any of the architecture that the kernel is compiled for.
KILN_DEVICE u32 staying_threads() {
  const u32 threads = blocks_up_to(most_blocks()) * block_size(), resident = resident_threads();
  return threads < resident ? threads : resident;
}

// The number of a thread in a grid with one row of blocks.
KILN_DEVICE u32 thread_number() { return block_index() * block_size() + thread_index(); }

// A thread's number among those that work.
struct Worker {
  u32 self;
  u32 threads;
};
// Returns the thread's number among those of the first `blocks` blocks of each row, to which it belongs.
// Large launches of kiln's own have several rows of blocks, along y: more blocks along x than work would
// exit early. The reference's blocks have one row, and are not asked: an instruction more takes them longer.
KILN_DEVICE Worker worker_in_rows(u32 blocks) {
  Worker worker{thread_number(), blocks * block_size()};
  if (block_size() != 1024) {
    worker.self += block_index_y() * worker.threads;
    worker.threads *= block_count_y();
  }
  return worker;
}

// The same in another order, of so many threads in blocks of 1024: side by side are waves of different
// blocks, which then share what is less than a chunk for each thread.
KILN_DEVICE u32 scattered_number(u32 threads) {
  const u32 wave = thread_index() / wave_width(), lane = thread_index() % wave_width();
  return (wave * (threads / 1024) + block_index()) * wave_width() + lane;
}

KILN_DEVICE u64 launched_threads() { return static_cast<u64>(block_count()) * block_size(); }

// Blocks of 1024 threads that the architecture's largest GPU takes in two rounds.
inline constexpr u32 kTwiceBlocks =
    kMostBlocks / 8 < 2 * kFitBlocks ? kMostBlocks / 8 : 2 * kFitBlocks;

// Whether each thread takes one element, at most, and there are up to so many blocks. A small launch takes
// as long as its instructions: so no branch between the conditions, and the multiprocessors are those of
// the architecture's largest GPU.
KILN_DEVICE bool takes_one_element(u64 numel, u32 most = kFitBlocks) {
  return static_cast<bool>((block_count() <= most) & (block_count() * block_size() >= numel));
}
// The same, where there are up to so many threads, too.
KILN_DEVICE bool takes_one_element(u64 numel, u32 most, u32 most_threads) {
  const u32 blocks = block_count(), threads = blocks * block_size();
  return static_cast<bool>((blocks <= most) & (threads <= most_threads) & (threads >= numel));
}

// Blocks that do the work of a large launch in the reference's geometry.
KILN_DEVICE u32 working_blocks() {
  constexpr u32 kMost = kMachine.threads / 1024 * 8;
  constexpr u32 kTuned = kTuning.working_blocks < kMost ? kTuning.working_blocks : kMost;
  return (multiprocessors() * kTuned + 7) / 8;
}

// Blocks that do the work of such a launch tile by tile, with barriers: one a multiprocessor, which
// leaves room for those that leave.
KILN_DEVICE u32 tile_blocks() { return multiprocessors(); }

// Kernels whose own launches have a thread for each chunk, however many. In the reference's geometry,
// of 1024 threads a block, few blocks do all the work: whether the block is behind them.
KILN_DEVICE bool leaves_to_few() {
  return block_index() >= (block_size() == 1024 ? kMostBlocks / 8 : ~0u);
}
// The threads of such a kernel that move so many chunks.
KILN_DEVICE u32 threads_of_chunks(u64 chunks) {
  if (block_size() != 1024) return block_count() * block_size();
  u32 most = chunks <= resident_threads() ? resident_blocks() : working_blocks();
  if (most > kMostBlocks / 8) most = kMostBlocks / 8;  // the others leave
  return blocks_up_to(most) * 1024;
}

// Chunks of so many elements, for each thread that the device holds, up to which all of them work. Of two
// elements a launch with twice as many chunks has few blocks that leave: NVIDIA H200, reference geometry,
// us by few blocks and by all: cast_u8_f64 of 700,000 4.13, 3.30; uneg_f64 of 2^20 6.71, 5.78.
constexpr u32 share_of(u32 elements) { return elements == 2 ? 2 : 1; }

// A thread of a large launch that works.
struct Spread {
  u32 self;           // the thread's number
  u32 threads;        // that work, unless threads_for() says less
  bool has_one_each;  // there is a thread for every element

  // `is_alone`: of the kernel's blocks of 1024 threads a multiprocessor holds one. NVIDIA H200, us for
  // three views, of 2 and 8 bytes, of 8x1024x32x128 permuted by blocks on 83 multiprocessors and on all: 472, 353.
  KILN_DEVICE explicit Spread(u64 numel, bool is_alone = false, u32 most = most_blocks())
      : Spread(Worker{thread_number(), blocks_up_to(most) * block_size()}, numel, is_alone) {}
  // The same for a grid that may have several rows of blocks. No block of more than one row is behind `most`.
  KILN_DEVICE static Spread in_rows(u64 numel, bool is_alone = false, u32 most = most_blocks()) {
    return Spread(worker_in_rows(blocks_up_to(most)), numel, is_alone);
  }
  // Whether the thread has nothing to do.
  KILN_DEVICE bool is_surplus() const { return self >= threads; }

  // The threads that move so many chunks, by `blocks` in the reference's geometry.
  KILN_DEVICE u32 threads_for(u64 chunks, u32 blocks = working_blocks()) const {
    if (!has_one_each || chunks <= resident_threads()) return threads;
    const u32 working = blocks * 1024;
    return threads < working ? threads : working;
  }

 private:
  KILN_DEVICE Spread(const Worker& worker, u64 numel, bool is_alone)
      : self(worker.self), threads(worker.threads), has_one_each(launched_threads() >= numel) {
    const u32 resident = is_alone ? multiprocessors() * 1024 : resident_threads();
    if (has_one_each && resident < threads) threads = resident;
  }
};

}  // namespace kiln::families
