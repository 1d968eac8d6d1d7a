// Barriers in shared memory that count threads and the bytes of asynchronous copies. They exist
// only where there are warp groups (device/platform_matrix.cuh).
#pragma once

#include "device/platform.cuh"
#include "device/platform_matrix.cuh"

#if KILN_HAS_WARP_GROUPS
namespace kiln::device {

// Phases follow one another, numbered from 0. A phase ends when as many threads as init() says have
// arrived, and all the bytes that they announced (PTX ISA, "mbarrier").
class Arrivals {
 public:
  // Called by one thread, before the others use the object; show_arrivals() and a barrier of the
  // block must follow.
  KILN_DEVICE void init(u32 threads) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place()), "r"(threads) : "memory");
  }
  // Waits for the end of a phase, which is the current one or the one before it.
  KILN_DEVICE void wait(u32 phase) {
    asm volatile(
        "{.reg .pred ended; WAIT: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1; "
        "@!ended bra WAIT;}" ::"r"(place()),
        "r"(phase & 1)
        : "memory");
  }
  KILN_DEVICE void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place()) : "memory");
  }
  // Arrives when all copies that the thread began by copy_async() are complete.
  KILN_DEVICE void arrive_behind_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(place()) : "memory");
  }
  // Arrives and announces `bytes` bytes that the thread's copies will bring. The phase does not end
  // before they are there.
  KILN_DEVICE void arrive_before_copies(u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place()), "r"(bytes)
                 : "memory");
  }
  // Begins a copy that counts toward the phase. Both addresses and `bytes` are multiples of 16.
  KILN_DEVICE void copy(void* shared, const void* global, u32 bytes) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], %3, [%0];" ::
            "r"(place()),
        "r"(static_cast<u32>(__cvta_generic_to_shared(shared))), "l"(global), "r"(bytes)
        : "memory");
  }

 private:
  KILN_DEVICE u32 place() { return static_cast<u32>(__cvta_generic_to_shared(&word_)); }

  u64 word_;
};
KILN_DEVICE void show_arrivals() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Ends the kernel with an error, for a launch in which threads would wait forever.
KILN_DEVICE void refuse_launch() { asm volatile("trap;"); }

}  // namespace kiln::device
#endif
