// The kernels of test_modules.hpp, for devices that need real images.
#include "device/platform.cuh"

KILN_VARIABLE float gain = 2.0f;

KILN_KERNEL(256, nothing, ) {}

KILN_KERNEL(1024, scale_add, kiln::u64 n, const float* in, float* out, float scale, float shift) {
  const kiln::u64 i =
      kiln::u64{kiln::device::block_index()} * kiln::device::block_size() + kiln::device::thread_index();
  if (i < n) out[i] = in[i] * scale + shift;
}
