// Kernels with one planted fault each, and their correct counterparts: what the host device and its
// sanitizer builds must find, and what they must not report.
#include "device/wave.cuh"

using namespace kiln;
using namespace kiln::device;

#define PLANTED(name, ...) KILN_KERNEL(1024, name, __VA_ARGS__)

namespace {

struct Numbers {
  u32 at[1024];
};

KILN_DEVICE Numbers& numbers() {
  KILN_SHARED(array, Numbers);
  return array;
}

KILN_DEVICE u32 global_index() { return block_index() * block_size() + thread_index(); }

}  // namespace

// ---- correct: no tool may report these

PLANTED(neighbours, u32* out) {
  numbers().at[thread_index()] = global_index();
  barrier();
  out[global_index()] = numbers().at[(thread_index() + 1) % block_size()];
}

PLANTED(block_sum, u32* out) {
  u32 sum = wave_sum(thread_index());
  if (lane_index() == 0) numbers().at[wave_index()] = sum;
  barrier();
  if (thread_index() != 0) return;
  sum = 0;
  for (u32 i = 0; i < wave_count(); ++i) sum += numbers().at[i];
  out[block_index()] = sum;
}

PLANTED(wave_neighbours, u32* out) {
  numbers().at[thread_index()] = global_index();
  wave_barrier();
  out[global_index()] = numbers().at[thread_index() ^ 1];
}

PLANTED(count_all, u32* out) { atomic_add(out, 1u); }

// For blocks of several rows.
PLANTED(count_columns, u32* out) {
  atomic_add(out + thread_index(), 1u);
  barrier();
  atomic_add(out + thread_index(), 1u);
}

// ---- code that assumes 32 lanes

// Counts waves in units of 32 threads, but uses the real lane index: with 64 lanes, every other sum
// is never written.
PLANTED(sum_by_32, u32* out) {
  const u32 sum = wave_sum(thread_index());
  if (lane_index() == 0) numbers().at[thread_index() / 32] = sum;
  barrier();
  u32 total = 0;
  for (u32 i = 0; i < block_size() / 32; ++i) total += numbers().at[i];
  if (thread_index() == 0) out[block_index()] = total;
}

// Treats a block of 32 threads as a whole wave.
PLANTED(shuffle_in_32, u32* out) {
  out[global_index()] = shuffle_xor(thread_index(), wave_width() / 2);
}

// ---- too much stack

// Frames of four pages. One of them begins above the page below the stack and ends beneath it.
// NOLINTNEXTLINE(misc-no-recursion)
KILN_DEVICE u32 with_large_frame(u32 depth) {
  volatile u32 frame[4096];
  frame[0] = depth;
  return depth == 0 ? 0 : with_large_frame(depth - 1) + frame[0];
}

PLANTED(large_frames, u32* out) { out[global_index()] = with_large_frame(16); }

// ---- races
// Between lanes of one wave, waves of one block, and blocks; in shared and in global memory;
// without any barrier, and with barriers that do not order the two accesses. Blocks have no common
// shared memory.

PLANTED(race_of_lanes_in_shared, u32* out) {
  numbers().at[thread_index()] = thread_index();
  out[global_index()] = numbers().at[thread_index() ^ 1];
}

PLANTED(race_of_lanes_in_shared_beside_barriers, u32* out) {
  barrier();
  numbers().at[thread_index() / 2] = thread_index();
  barrier();
  out[global_index()] = numbers().at[thread_index() / 2];
}

PLANTED(race_of_lanes_in_global, u32* out) { out[block_index() * block_size()] = thread_index(); }

PLANTED(race_of_lanes_in_global_beside_barriers, u32* out) {
  barrier();
  out[global_index() / 2] = thread_index();
  barrier();
}

PLANTED(race_of_waves_in_shared, u32* out) {
  if (lane_index() != 0) return;
  numbers().at[0] = wave_index();
  out[global_index()] = numbers().at[0];
}

PLANTED(race_of_waves_in_shared_beside_barriers, u32* out) {
  if (lane_index() == 0) numbers().at[0] = wave_index();
  barrier();
  out[global_index()] = numbers().at[0];
}

PLANTED(race_of_waves_in_global, u32* out) {
  if (lane_index() == 0) out[block_index()] = wave_index();
}

PLANTED(race_of_waves_in_global_beside_barriers, u32* out) {
  barrier();
  if (lane_index() == 0) out[block_index()] = wave_index();
  barrier();
}

PLANTED(race_of_blocks_in_global, u32* out) {
  if (thread_index() == 0) out[0] = block_index();
}

PLANTED(race_of_blocks_in_global_beside_barriers, u32* out) {
  barrier();
  if (thread_index() == 0) out[0] += 1;
  barrier();
}

// A shuffle passes a value but does not order memory. A wave barrier orders only that wave.
PLANTED(race_of_lanes_beside_shuffles, u32* out) {
  numbers().at[thread_index()] = thread_index();
  const u32 passed = shuffle_xor(thread_index(), 1);
  out[global_index()] = numbers().at[passed];
}

PLANTED(race_of_waves_beside_wave_barriers, u32* out) {
  numbers().at[thread_index()] = thread_index();
  wave_barrier();
  out[global_index()] = numbers().at[block_size() - 1 - thread_index()];
}

// ---- memory

PLANTED(write_past_end, u32* out, u32 count) {
  if (global_index() <= count) out[global_index()] = 1;  // should be "<"
}

PLANTED(write_past_shared, u32* out) {
  numbers().at[thread_index() + 1] = 1;  // the last thread of 1024 leaves the array
  barrier();
  out[global_index()] = numbers().at[thread_index()];
}

// ---- control flow

PLANTED(divergent_barrier, u32* out) {
  if (thread_index() % 2 == 0) barrier();
  out[global_index()] = 1;
}

PLANTED(shuffle_after_leaving, u32* out) {
  if (thread_index() == 3) return;
  out[global_index()] = shuffle_xor(thread_index(), 1);
}
