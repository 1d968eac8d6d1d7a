// The sum of a block by a tree in shared memory: a kernel that mostly waits at barriers.
#include "device/platform.cuh"

// out[b] = the sum of the thread numbers of block b. The block size is a power of two, at most 256.
// Has 1 + log2(block_size) barriers.
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
