// Kernels with one planted fault each, and their correct counterparts: what the emulator must find
// and name, and what it must not report. Blocks have 256 threads; `in` has an element for each
// thread of a block, `out` one for each thread of the grid.
#include <cassert>
#include <cstdio>

#include "device/platform.cuh"

using namespace kiln;
using namespace kiln::device;

#define PLANTED(name) KILN_KERNEL(256, name, const u32* in, u32* out, u32 count)

namespace {

struct Numbers {
  u32 at[256];
};

KILN_DEVICE Numbers& numbers() {
  KILN_SHARED(array, Numbers);
  return array;
}

KILN_DEVICE u32 global_index() { return block_index() * block_size() + thread_index(); }

// An unwritten register.
KILN_DEVICE u32 uninitialised() {
  u32 value;
  asm volatile("v_mov_b32 %0, v77" : "=v"(value) : : "v77");
  return value;
}

}  // namespace

// ---- correct: must not be reported

PLANTED(neighbours) {
  numbers().at[thread_index()] = in[thread_index()];
  barrier();
  if (global_index() < count) out[global_index()] = numbers().at[(thread_index() + 65) % 256];
}

PLANTED(tree_sum) {
  const u32 t = thread_index();
  numbers().at[t] = in[t];
  barrier();
  for (u32 half = 128; half > 0; half /= 2) {
    if (t < half) numbers().at[t] += numbers().at[t + half];
    barrier();
  }
  if (t == 0) atomic_add(out, numbers().at[0]);
}

PLANTED(count_all) { atomic_add(out, 1u); }

// Copied, but never used.
PLANTED(uninitialised_but_masked) {
  const u32 value = uninitialised();
  out[global_index()] = (value & 0) + in[thread_index()];
}

// Padding follows each instantiation.
template <typename T>
__global__ void copied(const u32* in, T* out, u32 count) {
  if (global_index() < count) out[global_index()] = static_cast<T>(in[thread_index()]);
}
template __global__ void copied<u8>(const u32*, u8*, u32);
template __global__ void copied<u32>(const u32*, u32*, u32);

// A compare-and-swap loop, for an atomic that the hardware lacks. Each lane has its own address,
// which other waves share: the compiler would read an address common to all lanes by a scalar load.
PLANTED(add_floats) {
  __hip_atomic_fetch_add(reinterpret_cast<float*>(out) + thread_index() % 32,
                         static_cast<float>(in[thread_index()]), __ATOMIC_RELAXED,
                         __HIP_MEMORY_SCOPE_AGENT);
}

// ---- races

PLANTED(race_with_atomics) {
  atomic_add(out, 1u);
  out[global_index() + 1] = *static_cast<const volatile u32*>(out);
}

PLANTED(race_in_lds) {
  numbers().at[thread_index()] = 0;
  barrier();
  numbers().at[thread_index()] = in[thread_index()];
  out[global_index()] = numbers().at[(thread_index() + 65) % 256];
}

PLANTED(race_in_loop) {
  const u32 t = thread_index();
  numbers().at[t] = in[t];
  barrier();
  for (u32 half = 128; half > 0; half /= 2) {
    if (t < half) numbers().at[t] += numbers().at[t + half];
  }
  if (t == 0) out[block_index()] = numbers().at[0];
}

PLANTED(race_in_global) {
  out[global_index()] = in[thread_index()];
  if (thread_index() < 4) out[global_index() + 100] = 0;
}

// ---- memory

PLANTED(read_past_end) {
  out[global_index()] = in[thread_index() + 1];  // the last thread reads outside
}

PLANTED(write_past_end) {
  if (global_index() < count) out[global_index() + 16] = in[thread_index()];
}

PLANTED(host_pointer) { out[global_index()] = in[thread_index()]; }

PLANTED(null_output) { out[global_index()] = in[thread_index()]; }

PLANTED(use_after_free) { out[global_index()] = in[thread_index()]; }

PLANTED(lds_overrun) {
  numbers().at[thread_index()] = in[thread_index()];
  barrier();
  out[global_index()] = numbers().at[thread_index() + count];
}

PLANTED(misaligned_atomic) {
  atomic_add(reinterpret_cast<u32*>(reinterpret_cast<char*>(out) + 2), 1u);
}

// ---- uninitialised values

PLANTED(uninitialised_lds) {
  if (thread_index() < 128) numbers().at[thread_index()] = in[thread_index()];
  barrier();
  out[global_index()] = numbers().at[thread_index()];
}

PLANTED(uninitialised_register) { out[global_index()] = in[thread_index()] + uninitialised(); }

PLANTED(uninitialised_memory) { out[global_index()] = in[thread_index()]; }

PLANTED(uninitialised_address) { out[global_index()] = in[uninitialised() % 256]; }

PLANTED(uninitialised_branch) {
  if (uninitialised() & 1) out[global_index()] = 1;
}

// ---- needs the host

PLANTED(calls_printf) {
  if (thread_index() == 0) printf("%u\n", in[0]);
}

PLANTED(calls_assert) { assert(in[thread_index()] > count); }

// ---- control flow

PLANTED(divergent_lanes) {
  if (thread_index() % 2 == 0) barrier();
  out[global_index()] = in[thread_index()];
}

PLANTED(lanes_that_leave) {
  if (thread_index() % 32 >= 20) return;
  out[global_index()] = in[thread_index()];
  barrier();
}

PLANTED(barriers_by_lane) {
  for (u32 i = 0; i <= thread_index() % 5; ++i) barrier();
}

PLANTED(divergent_waves) {
  if (thread_index() >= 128) return;
  out[global_index()] = in[thread_index()];
  barrier();
}

PLANTED(endless_loop) {
  while (*static_cast<const volatile u32*>(in) == 0) {
  }
  out[global_index()] = 1;
}
