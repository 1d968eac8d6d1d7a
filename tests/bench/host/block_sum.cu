// A block's sum by a tree in shared memory: a kernel that does little but wait at barriers.
#include "device/platform.cuh"

// out[b] = the sum of the numbers of block b's threads; a power of two of them, 256 at most.
// 1 + log2(block_size) barriers.
KILN_KERNEL(256, block_sum, kiln::u32* out) {
  using namespace kiln::device;
  struct Sums {
    kiln::u32 of[256];
  };
  KILN_SHARED(sums, Sums);
  const kiln::u32 thread = thread_index();
  sums.of[thread] = thread;
  barrier();
  for (kiln::u32 half = block_size() / 2; half != 0; half /= 2) {
    if (thread < half) sums.of[thread] += sums.of[thread + half];
    barrier();
  }
  if (thread == 0) out[block_index()] = sums.of[0];
}
