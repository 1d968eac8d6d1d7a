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

// Blocks of 1024 threads that the device holds at once, and their threads.
KILN_DEVICE u32 resident_blocks() { return multiprocessors() * (kMachine.threads / 1024); }
KILN_DEVICE u32 resident_threads() { return resident_blocks() * 1024; }
KILN_DEVICE u64 launched_threads() { return static_cast<u64>(block_count()) * block_size(); }

// Whether each thread takes one element, at most.
KILN_DEVICE bool takes_one_element(u64 numel) {
  return block_count() <= resident_blocks() && launched_threads() >= numel;
}

// Whether the block is one of those that leave at once. A kernel asks this before all else, and it
// costs few instructions: they are what such a block costs.
KILN_DEVICE bool leaves_at_once(u64 numel) {
  if (block_index() < resident_blocks()) return false;
  return unknown(block_size()) == 1024 && launched_threads() >= numel;
}

// Blocks that do the work of a large launch in the reference's geometry.
KILN_DEVICE u32 working_blocks() {
  constexpr u32 kMost = kMachine.threads / 1024 * 8;
  constexpr u32 kTuned = kTuning.working_blocks < kMost ? kTuning.working_blocks : kMost;
  return (multiprocessors() * kTuned + 7) / 8;
}

// A thread of a large launch.
struct Spread {
  static constexpr u32 kMostThreads = 1u << 28;  // so that a few steps fit into 32 bits

  u32 self;           // the thread's number
  u32 threads;        // that work, unless threads_for() says less
  bool has_one_each;  // there is a thread for every element

  KILN_DEVICE explicit Spread(u64 numel) {
    const u64 begin = static_cast<u64>(block_index()) * block_size();
    const u64 all = launched_threads();
    has_one_each = all >= numel;
    const u32 most = has_one_each ? resident_threads() : kMostThreads;
    threads = all < most ? static_cast<u32>(all) : most;
    self = begin < most ? static_cast<u32>(begin) + thread_index() : most;
  }
  // Whether the thread has nothing to do.
  KILN_DEVICE bool is_surplus() const { return self >= threads; }

  // The threads that move so many chunks.
  KILN_DEVICE u32 threads_for(u64 chunks) const {
    if (!has_one_each || chunks <= resident_threads()) return threads;
    const u32 working = working_blocks() * 1024;
    return threads < working ? threads : working;
  }
};

}  // namespace kiln::families
