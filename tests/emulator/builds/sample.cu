// Kernels with many kinds of code, built without optimisation and with full optimisation.
// builds_test.cpp has the expected results. `in` and `out` are bytes; a thread works on element i.
#include "device/platform.cuh"

using namespace kiln;
using namespace kiln::device;

#define SAMPLE(name, in_type, out_type) \
  KILN_KERNEL(256, name, const in_type* in, out_type* out, u32 count)

namespace {

KILN_DEVICE u32 global_index() { return block_index() * block_size() + thread_index(); }

struct Numbers {
  u32 at[256];
};
KILN_DEVICE Numbers& numbers() {
  KILN_SHARED(array, Numbers);
  return array;
}

// A real call, with an array on the stack that is indexed at run time.
__attribute__((noinline, device)) u32 mix(u32 x, u32 rounds) {
  u32 table[16];
  for (u32 i = 0; i < 16; ++i) table[i] = x * (i + 1);
  u32 result = 0;
  for (u32 i = 0; i < rounds; ++i) result = result * 31 + table[(result ^ i) & 15];
  return result;
}

}  // namespace

// Pairs: in[2 i] / in[2 i + 1].
SAMPLE(divide_f32, float, float) {
  const u32 i = global_index();
  if (i < count) out[i] = in[2 * i] / in[2 * i + 1];
}
SAMPLE(divide_f64, double, double) {
  const u32 i = global_index();
  if (i < count) out[i] = in[2 * i] / in[2 * i + 1];
}
SAMPLE(sqrt_f32, float, float) {
  const u32 i = global_index();
  if (i < count) out[i] = __builtin_sqrtf(in[i]);
}
SAMPLE(sqrt_f64, double, double) {
  const u32 i = global_index();
  if (i < count) out[i] = __builtin_sqrt(in[i]);
}
SAMPLE(divide_i64, i64, i64) {
  const u32 i = global_index();
  if (i < count) out[i] = in[2 * i] / in[2 * i + 1] + in[2 * i] % in[2 * i + 1];
}
SAMPLE(divide_u64, u64, u64) {
  const u32 i = global_index();
  if (i < count) out[i] = in[2 * i] / in[2 * i + 1] ^ in[2 * i] % in[2 * i + 1];
}
SAMPLE(call_mix, u32, u32) {
  const u32 i = global_index();
  if (i < count) out[i] = mix(in[i], in[i] % 23);
}
SAMPLE(branches, u32, u32) {
  const u32 i = global_index();
  if (i >= count) return;
  u32 x = in[i];
  switch (x % 7) {
    case 0: x = x * 3; break;
    case 1: x ^= 77; break;
    case 2: x /= 7; break;
    case 3: x = 0 - x; break;
    case 4: x = x << 2 | x >> 30; break;
    default: x = ~x;
  }
  while (x > 1000) x = x / 2 - x % 3;
  out[i] = x;
}
SAMPLE(narrow, i16, i16) {
  const u32 i = global_index();
  if (i < count) out[i] = static_cast<i16>(in[i] * static_cast<i8>(in[i] >> 4) - (in[i] >> 3));
}
// Every block sums its 256 elements.
SAMPLE(tree_sum, u32, u32) {
  const u32 t = thread_index();
  numbers().at[t] = global_index() < count ? in[global_index()] : 0;
  barrier();
  for (u32 half = 128; half > 0; half /= 2) {
    if (t < half) numbers().at[t] += numbers().at[t + half];
    barrier();
  }
  if (t == 0) out[block_index()] = numbers().at[0];
}
SAMPLE(histogram, u32, u32) {
  const u32 i = global_index();
  if (i < count) atomic_add(out + in[i] % 16, 1u);
}
