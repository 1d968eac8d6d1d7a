#include "device/platform.cuh"

// y[i] += a * x[i], one thread per element, for blocks of up to 256 threads.
KILN_KERNEL(256, saxpy, kiln::u32 n, float a, const float* x, float* y) {
  const kiln::u32 i = kiln::device::block_index() * kiln::device::block_size() + kiln::device::thread_index();
  if (i < n) y[i] += a * x[i];
}
