// Asynchronous copies in groups. See copy_async().
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

#if KILN_PLATFORM_CUDA && __CUDA_ARCH__ >= 800
#define KILN_HAS_COPIES 1
// Copies of sixteen bytes to shared memory, whose address is computed once and then offset.
using SharedPlace = u32;
KILN_DEVICE SharedPlace shared_place(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}
KILN_DEVICE void copy_async_16(SharedPlace to, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
// The same, through the first-level cache.
KILN_DEVICE void copy_async_16_cached(SharedPlace to, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
// Returns the address, but hides it from the compiler, which would otherwise compute a separate
// address for each conditional copy.
KILN_DEVICE const u8* one_address(const u8* address) {
  asm volatile("" : "+l"(address));
  return address;
}
// Copies sixteen bytes between the places that lie kAt bytes after the two addresses.
template <u32 kAt>
KILN_DEVICE void copy_async_16_at(SharedPlace to, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0+%2], [%1+%2], 16;" ::"r"(to), "l"(global), "n"(kAt)
               : "memory");
}
// end_group() makes a group of the copies that the thread has begun since the last call; it may be
// empty. wait_for_groups() waits for all groups except the last kPending.
KILN_DEVICE void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <u32 kPending>
KILN_DEVICE void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
// Waits for all kThreads threads of part `part` of the block. A part consists of whole waves. A
// block has at most fifteen parts.
template <u32 kThreads>
KILN_DEVICE void part_barrier(u32 part) {
  asm volatile("bar.sync %0, %1;" ::"r"(part + 1), "n"(kThreads) : "memory");
}
// Size in bytes of the dynamic shared memory of the launch.
KILN_DEVICE u32 dynamic_shared_bytes() {
  u32 bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}
// Like dot_bytes(), but the bytes of the first word are unsigned.
KILN_DEVICE i32 dot_unsigned_bytes(u32 a, u32 b, i32 sum) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
#else
using SharedPlace = u8*;
KILN_DEVICE SharedPlace shared_place(const void* shared) {
  return static_cast<u8*>(const_cast<void*>(shared));
}
KILN_DEVICE void copy_async_16(SharedPlace to, const void* global) { copy_async<16>(to, global); }
KILN_DEVICE void copy_async_16_cached(SharedPlace to, const void* global) {
  copy_async<16>(to, global);
}
KILN_DEVICE void end_group() {}
template <u32>
KILN_DEVICE void wait_for_groups() {}
#endif

}  // namespace kiln::device
