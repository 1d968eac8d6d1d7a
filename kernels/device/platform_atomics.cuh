// Platform atomics that few kernels need: ordered ones, and sums of several neighbours at once.
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

// Adds, and returns the previous value. Device-wide, with acquire and release order: a thread that
// sees the sum also sees everything that this thread wrote, or had seen, before.
KILN_DEVICE u32 atomic_add_ordered(u32* address, u32 value) {
#if KILN_PLATFORM_CUDA
  u32 before;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(address), "r"(value)
               : "memory");
  return before;
#elif KILN_PLATFORM_HIP
  return __hip_atomic_fetch_add(address, value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
#elif KILN_PLATFORM_HOST
  return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
#endif
}

// Stores the bits of an element where other threads may store theirs: one of them stays, whole.
template <class T, class Bits>
KILN_DEVICE void store_relaxed(T* address, Bits bits) {
  static_assert(sizeof(T) == sizeof(Bits));
#if KILN_PLATFORM_CUDA
  *reinterpret_cast<Bits*>(address) = bits;  // aligned stores are whole
#elif KILN_PLATFORM_HIP
  __hip_atomic_store(reinterpret_cast<Bits*>(address), bits, __ATOMIC_RELAXED,
                     __HIP_MEMORY_SCOPE_AGENT);
#elif KILN_PLATFORM_HOST
  __atomic_store_n(reinterpret_cast<Bits*>(address), bits, __ATOMIC_RELAXED);
#endif
}

// True for types with add_in_memory(): the hardware adds to memory as it would in registers. For f32
// it flushes subnormals, and for f16 and bf16 it adds to pairs.
template <class T>
inline constexpr bool kAddsInMemory = false;

// Adds to memory, and does not wait for it. Relaxed, device-wide. Additions of one thread to one
// address keep their order (program order per location in PTX's memory model).
#if KILN_PLATFORM_CUDA
template <>
inline constexpr bool kAddsInMemory<u32> = true;
KILN_DEVICE void add_in_memory(u32* address, u32 value) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}
template <>
inline constexpr bool kAddsInMemory<i64> = true;
KILN_DEVICE void add_in_memory(i64* address, i64 value) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}
template <>
inline constexpr bool kAddsInMemory<f64> = true;
KILN_DEVICE void add_in_memory(f64* address, f64 value) {
  asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(address), "d"(value) : "memory");
}
#endif

// Additions of neighbouring floats, each by itself. Relaxed, device-wide. The address is a multiple
// of the size of all of them.
#if KILN_PLATFORM_CUDA
#define KILN_HAS_PAIR_ATOMICS 1
KILN_DEVICE void atomic_add_f16_pair_bits(void* address, u32 bits) {
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(address), "r"(bits) : "memory");
}
#if __CUDA_ARCH__ >= 900
#define KILN_HAS_BF16_PAIR_ATOMICS 1
KILN_DEVICE void atomic_add_bf16_pair_bits(void* address, u32 bits) {
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(address), "r"(bits) : "memory");
}
#define KILN_HAS_WIDE_ATOMICS 1
KILN_DEVICE void atomic_add_f32_bits(void* address, const u32 (&bits)[4]) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(address),
               "f"(__uint_as_float(bits[0])), "f"(__uint_as_float(bits[1])),
               "f"(__uint_as_float(bits[2])), "f"(__uint_as_float(bits[3]))
               : "memory");
}
KILN_DEVICE void atomic_add_f16_bits(void* address, const u32 (&bits)[4]) {
  asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};" ::"l"(address),
               "r"(bits[0]), "r"(bits[1]), "r"(bits[2]), "r"(bits[3])
               : "memory");
}
KILN_DEVICE void atomic_add_bf16_bits(void* address, const u32 (&bits)[4]) {
  asm volatile("red.global.add.noftz.v4.bf16x2 [%0], {%1, %2, %3, %4};" ::"l"(address),
               "r"(bits[0]), "r"(bits[1]), "r"(bits[2]), "r"(bits[3])
               : "memory");
}
#endif
#endif

}  // namespace kiln::device
