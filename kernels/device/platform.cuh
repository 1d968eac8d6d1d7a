// The platform layer: everything that GPU vendors spell differently, under one name each.
//
// This file and the platform_*.cuh files beside it are the only ones that test the vendor or the
// architecture. They turn the answers into named features, which all other files test instead. No
// vendor header is included. Compiler builtins suffice, so the version of a toolkit's headers
// cannot change what a kernel computes.
//
// A face is the implementation for one platform. It provides
//   KILN_DEVICE KILN_NOINLINE KILN_KERNEL KILN_BOUNDED_KERNEL KILN_SHARED KILN_VARIABLE  qualifiers
//   thread_index block_size block_index block_count   geometry along x, u32
//   thread_y block_y                                  thread index and block size along y
//   block_index_y block_index_z block_count_y         block index along y and z, blocks along y
//   barrier                                           waits for all threads of the block
//   dynamic_shared                                    shared memory whose size the launch sets
//
//   wave_width shuffle_word wave_ballot wave_barrier  lanes of a wave; see device/wave.cuh
//   atomic_add atomic_exchange_if atomic_load         relaxed, device-wide
//   multiprocessors                                   number on the device, or on the largest
//                                                     device of the architecture
//
//   load_16_bytes store_16_bytes                      one access; the address is a multiple of 16
//   copy_async wait_for_copies                        from global to shared memory
//   permute_bytes<A, B, C, D>                         four of the eight bytes of two words
//   look_up_halves look_up_mixed mix_halves           half bytes in a table of sixteen bytes
//   count_ones                                        number of bits set
//   dot_bytes                                         dot product of the four bytes of two words
//   multiply_byte_fragments                           matrix units, if the hardware has them
//
//   math::                                            the vendor's accurate functions
//   exp2_approximate reciprocal_approximate           fast, with the error bounds given below
//   reciprocal_root_approximate                       likewise
//   f16_bits_from_f32 ...                             conversions, if the hardware has them
#pragma once

#include "device/types.cuh"
#include "tuning/architecture.hpp"

#if defined(__HIP__)
#define KILN_PLATFORM_HIP 1
#elif defined(__NVCC__) || defined(__CUDACC_RTC__)
#define KILN_PLATFORM_CUDA 1
#elif defined(KILN_HOST_WAVE)
#define KILN_PLATFORM_HOST 1
#include "device/host_runtime.hpp"
#else
#error "kernels/device/platform.cuh has no face for this compiler"
#endif

namespace kiln {

// Sixteen bytes, the widest access that one thread makes.
struct alignas(16) Words {
  u32 word[4];
};

// Spells any type, arrays included, so that a variable's name can follow it.
template <class T>
using SharedType = T;

}  // namespace kiln

// ---- qualifiers -------------------------------------------------------------------------------

// KILN_NOINLINE marks a rarely taken path that needs many registers. It is called, not inlined, so
// that the usual path does not pay for its registers.
//
// KILN_BOUNDED_KERNEL declares an exported kernel with its parameters; the body follows. Blocks have
// up to `threads` threads. Where the compiler can, it limits registers so that `blocks` blocks fit on
// a multiprocessor.
//
// KILN_SHARED declares a variable in shared memory: KILN_SHARED(sum, float), KILN_SHARED(tile,
// float[256]). KILN_VARIABLE precedes a variable that the host program finds by name.

#if KILN_PLATFORM_CUDA
#include "device/platform_cuda.cuh"
#elif KILN_PLATFORM_HIP
#define KILN_DEVICE __attribute__((device, always_inline)) inline
#define KILN_NOINLINE static __attribute__((device)) inline
#define KILN_BOUNDED_KERNEL(threads, blocks, name, ...) \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, threads))) void name(__VA_ARGS__)
#define KILN_SHARED(name, ...) __attribute__((shared)) ::kiln::SharedType<__VA_ARGS__> name
#define KILN_VARIABLE __attribute__((device))
#elif KILN_PLATFORM_HOST
#define KILN_DEVICE inline
#define KILN_NOINLINE static __attribute__((noinline, unused))
#define KILN_BOUNDED_KERNEL(threads, blocks, name, ...) \
  static void name(__VA_ARGS__);                        \
  KILN_HOST_ENTRY(threads, name)                        \
  static void name(__VA_ARGS__)
#define KILN_SHARED(name, ...) \
  static char name##_tag;      \
  auto& name = ::kiln::host::shared_memory<__VA_ARGS__>(&name##_tag)
#define KILN_VARIABLE __attribute__((visibility("default")))
#endif

#define KILN_KERNEL(threads, name, ...) KILN_BOUNDED_KERNEL(threads, 1, name, __VA_ARGS__)

#if KILN_PLATFORM_CUDA
// Intrinsics that the compiler knows by these names. They give shorter PTX than inline assembly.
extern "C" __device__ __attribute__((device_builtin)) float __nvvm_h2f(unsigned short);
extern "C" __device__ __attribute__((device_builtin)) float __nvvm_ex2_approx_ftz_f(float);
#endif
#if KILN_PLATFORM_HIP
extern "C" __attribute__((device, const)) unsigned long __ockl_get_num_groups(unsigned);
extern "C" __attribute__((device, const)) unsigned long __ockl_get_local_size(unsigned);
extern "C" __attribute__((device, const)) float __ocml_rsqrt_f32(float);
#endif

namespace kiln::device {

// ---- architecture -----------------------------------------------------------------------------

#if KILN_PLATFORM_CUDA
#if __CUDA_ARCH__ >= 1200
inline constexpr auto kArchitecture = tuning::Architecture::kSm120;
#elif __CUDA_ARCH__ >= 1000
inline constexpr auto kArchitecture = tuning::Architecture::kSm100;
#elif __CUDA_ARCH__ >= 900
inline constexpr auto kArchitecture = tuning::Architecture::kSm90;
#elif __CUDA_ARCH__ >= 890
inline constexpr auto kArchitecture = tuning::Architecture::kSm89;
#elif __CUDA_ARCH__ >= 860
inline constexpr auto kArchitecture = tuning::Architecture::kSm86;
#elif __CUDA_ARCH__ >= 800
inline constexpr auto kArchitecture = tuning::Architecture::kSm80;
#else
inline constexpr auto kArchitecture = tuning::Architecture::kSm75;
#endif
#elif KILN_PLATFORM_HIP
#if defined(__GFX12__)
inline constexpr auto kArchitecture = tuning::Architecture::kRdna4;
#elif defined(__GFX11__)
inline constexpr auto kArchitecture = tuning::Architecture::kRdna3;
#elif defined(__GFX10__)
inline constexpr auto kArchitecture = tuning::Architecture::kRdna2;
#elif defined(__gfx942__) || defined(__gfx950__)
inline constexpr auto kArchitecture = tuning::Architecture::kCdna3;
#else
inline constexpr auto kArchitecture = tuning::Architecture::kCdna2;
#endif
#elif KILN_PLATFORM_HOST
inline constexpr auto kArchitecture = tuning::Architecture::kHost;
#endif

inline constexpr tuning::Machine kMachine = tuning::machine(kArchitecture);

// The source location of a call, for error messages. Used as a default argument; empty on platforms
// that cannot report one.
#if KILN_PLATFORM_HOST
using Here = host::Site;
#define KILN_HERE ::kiln::host::here()
#else
struct Here {};
#define KILN_HERE \
  {}
#endif

// ---- geometry ---------------------------------------------------------------------------------

#if KILN_PLATFORM_CUDA
KILN_DEVICE u32 thread_index() { return threadIdx.x; }
KILN_DEVICE u32 block_size() { return blockDim.x; }
KILN_DEVICE u32 thread_y() { return threadIdx.y; }
KILN_DEVICE u32 block_y() { return blockDim.y; }
KILN_DEVICE u32 block_index() { return blockIdx.x; }
KILN_DEVICE u32 block_index_y() { return blockIdx.y; }
KILN_DEVICE u32 block_index_z() { return blockIdx.z; }
KILN_DEVICE u32 block_count_y() { return gridDim.y; }
KILN_DEVICE u32 block_count() { return gridDim.x; }
KILN_DEVICE u32 multiprocessors() {
  u32 count;
  asm("mov.u32 %0, %%nsmid;" : "=r"(count));
  return count;
}
KILN_DEVICE void barrier() { __syncthreads(); }
// Aligned to 16 bytes.
KILN_DEVICE void* dynamic_shared() {
  extern KILN_SHARED(kiln_dynamic_shared, Words[]);
  return kiln_dynamic_shared;
}
#elif KILN_PLATFORM_HIP
KILN_DEVICE u32 thread_index() { return __builtin_amdgcn_workitem_id_x(); }
KILN_DEVICE u32 block_size() { return static_cast<u32>(__ockl_get_local_size(0)); }
KILN_DEVICE u32 thread_y() { return __builtin_amdgcn_workitem_id_y(); }
KILN_DEVICE u32 block_y() { return static_cast<u32>(__ockl_get_local_size(1)); }
KILN_DEVICE u32 block_index() { return __builtin_amdgcn_workgroup_id_x(); }
KILN_DEVICE u32 block_index_y() { return __builtin_amdgcn_workgroup_id_y(); }
KILN_DEVICE u32 block_index_z() { return __builtin_amdgcn_workgroup_id_z(); }
KILN_DEVICE u32 block_count_y() { return static_cast<u32>(__ockl_get_num_groups(1)); }
KILN_DEVICE u32 block_count() { return static_cast<u32>(__ockl_get_num_groups(0)); }
KILN_DEVICE u32 multiprocessors() { return kMachine.multiprocessors; }
KILN_DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KILN_DEVICE void* dynamic_shared() {
  extern __attribute__((shared)) Words kiln_dynamic_shared[];
  return kiln_dynamic_shared;
}
#elif KILN_PLATFORM_HOST
KILN_DEVICE u32 thread_index() { return host::current_block()->thread_index; }
KILN_DEVICE u32 block_size() { return host::block_size(); }
KILN_DEVICE u32 thread_y() {
  const host::Block& block = *host::current_block();
  return block.thread / block.block_dim.x % block.block_dim.y;
}
KILN_DEVICE u32 block_y() { return host::current_block()->block_dim.y; }
KILN_DEVICE u32 block_index() { return host::block_index(); }
KILN_DEVICE u32 block_index_y() { return host::current_block()->block_index.y; }
KILN_DEVICE u32 block_index_z() { return host::current_block()->block_index.z; }
KILN_DEVICE u32 block_count_y() { return host::current_block()->grid_dim.y; }
KILN_DEVICE u32 block_count() { return host::block_count(); }
KILN_DEVICE u32 multiprocessors() { return kMachine.multiprocessors; }
KILN_DEVICE void barrier(Here here = KILN_HERE) {
  host::current_block()->services->block_barrier(host::current_block(), here);
}
KILN_DEVICE void* dynamic_shared() { return host::current_block()->dynamic_shared; }
#endif

// ---- lanes ------------------------------------------------------------------------------------
// Primitives for device/wave.cuh, which kernels use instead. `width` is a power of two, at most the
// wave's width. `source` counts within the group of `width` lanes, and all lanes of the group take
// part. `Lanes` has one bit for each lane of a wave.

#if KILN_PLATFORM_CUDA
// The width of a warp on every NVIDIA GPU. Unlike `warpSize` it is a compile-time constant.
inline constexpr u32 kWarp = 32;
using Lanes = u32;
KILN_DEVICE u32 wave_width() { return kWarp; }
// Returns one bit for each lane of the calling lane's group. For the whole wave this is a constant:
// with any other mask, a vote or a shuffle takes a dozen instructions.
KILN_DEVICE u32 group_mask(u32 width) {
  if (width == kWarp) return ~0u;
  const u32 rank = threadIdx.y * blockDim.x + threadIdx.x;
  const u32 first = rank & (kWarp - 1) & (0 - width);
  return ((1u << width) - 1u) << first;
}
KILN_DEVICE u32 shuffle_word(u32 value, u32 source, u32 width, Here) {
  return __shfl_sync(group_mask(width), value, static_cast<int>(source), static_cast<int>(width));
}
KILN_DEVICE Lanes wave_ballot(bool predicate, Here) { return __ballot_sync(~0u, predicate); }
KILN_DEVICE void wave_barrier(Here = KILN_HERE) { __syncwarp(); }
#elif KILN_PLATFORM_HIP
#if __AMDGCN_WAVEFRONT_SIZE__ == 64
using Lanes = u64;
#else
using Lanes = u32;
#endif
KILN_DEVICE u32 wave_width() { return __builtin_amdgcn_wavefrontsize(); }
KILN_DEVICE u32 shuffle_word(u32 value, u32 source, u32 width, Here) {
  const u32 lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  const u32 from = (lane & ~(width - 1)) | source;
  return static_cast<u32>(
      __builtin_amdgcn_ds_bpermute(static_cast<int>(from * 4), static_cast<int>(value)));
}
KILN_DEVICE Lanes wave_ballot(bool predicate, Here) {
#if __AMDGCN_WAVEFRONT_SIZE__ == 64
  return __builtin_amdgcn_ballot_w64(predicate);
#else
  return __builtin_amdgcn_ballot_w32(predicate);
#endif
}
KILN_DEVICE void wave_barrier(Here = KILN_HERE) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#elif KILN_PLATFORM_HOST
using Lanes = u64;
KILN_DEVICE u32 wave_width() { return KILN_HOST_WAVE; }
KILN_DEVICE u32 shuffle_word(u32 value, u32 source, u32 width, Here here) {
  return host::current_block()->services->shuffle(host::current_block(), value, source, width,
                                                  here);
}
KILN_DEVICE Lanes wave_ballot(bool predicate, Here here) {
  return host::current_block()->services->ballot(host::current_block(), predicate, wave_width(),
                                                 here);
}
KILN_DEVICE void wave_barrier(Here here = KILN_HERE) {
  host::current_block()->services->wave_barrier(host::current_block(), wave_width(), here);
}
#endif

// ---- atomics ----------------------------------------------------------------------------------
// Relaxed and device-wide. Each returns the previous value.

KILN_DEVICE u32 atomic_add(u32* address, u32 value) {
#if KILN_PLATFORM_CUDA
  return atomicAdd(address, value);
#elif KILN_PLATFORM_HIP
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#elif KILN_PLATFORM_HOST
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
#endif
}

// Stores `desired` if the word equals `expected`. A word is a u32 or a u64.
template <class Word>
KILN_DEVICE Word atomic_exchange_if(Word* address, Word expected, Word desired) {
#if KILN_PLATFORM_CUDA
  return atomicCAS(address, expected, desired);
#elif KILN_PLATFORM_HIP
  __hip_atomic_compare_exchange_strong(address, &expected, desired, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  return expected;
#elif KILN_PLATFORM_HOST
  __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  return expected;
#endif
}
// Reads a word that other threads may be changing.
template <class Word>
KILN_DEVICE Word atomic_load(Word* address) {
  return atomic_exchange_if(address, Word{0}, Word{0});
}

// Floating-point additions, if the hardware has them.
#if KILN_PLATFORM_CUDA
#define KILN_HAS_FLOAT_ATOMICS 1
KILN_DEVICE void atomic_add(f32* address, f32 value) { atomicAdd(address, value); }
KILN_DEVICE void atomic_add(f64* address, f64 value) { atomicAdd(address, value); }
#endif

// ---- memory -----------------------------------------------------------------------------------

#if KILN_PLATFORM_CUDA
KILN_DEVICE Words load_16_bytes(const void* address) {
  const uint4 v = *static_cast<const uint4*>(address);
  return {{v.x, v.y, v.z, v.w}};
}
KILN_DEVICE void store_16_bytes(void* address, Words words) {
  // Inline assembly, because the compiler would split an assignment into four stores.
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(words.word[0]),
               "r"(words.word[1]), "r"(words.word[2]), "r"(words.word[3])
               : "memory");
}
#elif KILN_PLATFORM_HIP
using NativeWords = u32 __attribute__((ext_vector_type(4)));
KILN_DEVICE Words load_16_bytes(const void* address) {
  const NativeWords v = *static_cast<const NativeWords*>(address);
  return {{v.x, v.y, v.z, v.w}};
}
KILN_DEVICE void store_16_bytes(void* address, Words words) {
  *static_cast<NativeWords*>(address) =
      NativeWords{words.word[0], words.word[1], words.word[2], words.word[3]};
}
#elif KILN_PLATFORM_HOST
// The compiler is not told that the address is aligned. GCC might otherwise move the load ahead of
// a test for alignment.
KILN_DEVICE Words load_16_bytes(const void* address) {
#if __SANITIZE_ADDRESS__
  address = __builtin_assume_aligned(address, 16);  // checked
#endif
  Words words;
  __builtin_memcpy(&words, address, sizeof words);
  return words;
}
KILN_DEVICE void store_16_bytes(void* address, Words words) {
  __builtin_memcpy(__builtin_assume_aligned(address, 16), &words, sizeof words);
}
#endif

// Element `i` of an array. Its distance from the beginning in bytes must fit into 32 bits: AMD's
// GPUs add such an offset to the address as part of the access.
template <class T>
KILN_DEVICE T& at32(T* array, u32 i) {
#if KILN_PLATFORM_HIP
  char* const bytes = const_cast<char*>(reinterpret_cast<const char*>(array));
  return *reinterpret_cast<T*>(bytes + i * static_cast<u32>(sizeof(T)));
#else
  return array[i];
#endif
}

// ---- words ------------------------------------------------------------------------------------

// Bytes A, B, C and D (lowest first) of the eight bytes low[0..3], high[4..7].
template <u32 A, u32 B, u32 C, u32 D>
KILN_DEVICE u32 permute_bytes(u32 low, u32 high) {
#if KILN_PLATFORM_CUDA
  return __byte_perm(low, high, A | B << 4 | C << 8 | D << 12);
#elif KILN_PLATFORM_HIP
  return __builtin_amdgcn_perm(high, low, A | B << 8 | C << 16 | D << 24);
#elif KILN_PLATFORM_HOST
  const u64 bytes = static_cast<u64>(high) << 32 | low;
  return static_cast<u32>((bytes >> 8 * A & 0xff) | (bytes >> 8 * B & 0xff) << 8 |
                          (bytes >> 8 * C & 0xff) << 16 | (bytes >> 8 * D & 0xff) << 24);
#endif
}

// Two words: of the low halves, and of the high halves, of a word's bytes.
struct Halves {
  u32 low, high;
};
// Looks up the eight half bytes of `halves` in a table of sixteen bytes. Hardware selects among
// eight bytes, so each half of the table gives an entry, and the number's highest bit one of both.
// look_up_mixed() leaves the entries in the order in which hardware finds them, and mix_halves()
// puts other words into this order.
#if KILN_PLATFORM_CUDA
// Four of the eight bytes of two words. Each four bits of `bytes` choose one, the lowest bits the
// lowest byte, and are less than eight.
KILN_DEVICE u32 select_bytes(u32 low, u32 high, u32 bytes) {
  u32 chosen;  // not __byte_perm(), which the compiler surrounds by masks
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(chosen) : "r"(low), "r"(high), "r"(bytes));
  return chosen;
}
KILN_DEVICE Halves look_up_mixed(u32 first, u32 second, u32 third, u32 fourth, u32 halves) {
  // Each instruction takes four half bytes: two low ones and two high ones.
  const u32 numbers = halves & 0x77777777u, from = (halves >> 1 & 0x44444444u) | 0x32103210u;
  const auto entries = [&](u32 shift) {
    return select_bytes(select_bytes(first, second, numbers >> shift),
                        select_bytes(third, fourth, numbers >> shift), from >> shift);
  };
  return {entries(0), entries(16)};
}
KILN_DEVICE Halves mix_halves(Halves words) {
  return {permute_bytes<0, 4, 1, 5>(words.low, words.high),
          permute_bytes<2, 6, 3, 7>(words.low, words.high)};
}
KILN_DEVICE Halves look_up_halves(u32 first, u32 second, u32 third, u32 fourth, u32 halves) {
  const Halves mixed = look_up_mixed(first, second, third, fourth, halves);
  return {permute_bytes<0, 2, 4, 6>(mixed.low, mixed.high),
          permute_bytes<1, 3, 5, 7>(mixed.low, mixed.high)};
}
#else
KILN_DEVICE Halves look_up_halves(u32 first, u32 second, u32 third, u32 fourth, u32 halves) {
  const auto entries = [&](u32 numbers) {
#if KILN_PLATFORM_HIP
    const u32 lower = numbers & 0x07070707u, from = (numbers >> 1 & 0x04040404u) | 0x03020100u;
    return __builtin_amdgcn_perm(__builtin_amdgcn_perm(fourth, third, lower),
                                 __builtin_amdgcn_perm(second, first, lower), from);
#elif KILN_PLATFORM_HOST
    const u32 table[] = {first, second, third, fourth};
    u32 word = 0;
    for (u32 shift = 0; shift != 32; shift += 8) {
      const u32 number = numbers >> shift & 0xf;
      word |= (table[number / 4] >> 8 * (number % 4) & 0xff) << shift;
    }
    return word;
#endif
  };
  return {entries(halves), entries(halves >> 4)};
}
KILN_DEVICE Halves look_up_mixed(u32 first, u32 second, u32 third, u32 fourth, u32 halves) {
  return look_up_halves(first, second, third, fourth, halves);
}
KILN_DEVICE Halves mix_halves(Halves words) { return words; }
#endif

KILN_DEVICE u32 count_ones(u32 word) {
#if KILN_PLATFORM_CUDA
  return static_cast<u32>(__popc(static_cast<int>(word)));
#else
  return static_cast<u32>(__builtin_popcount(word));
#endif
}
#if !KILN_PLATFORM_CUDA
KILN_DEVICE u32 count_ones(u64 lanes) { return static_cast<u32>(__builtin_popcountll(lanes)); }
#endif

// Returns the condition. The compiler places the code for true so that it is reached without a
// jump.
KILN_DEVICE bool likely(bool condition) { return __builtin_expect(condition, true); }

// Returns the value, but hides it from the compiler. Used in loop conditions for which the compiler
// would otherwise write the loop body once for each outcome.
KILN_DEVICE u32 opaque(u32 value) {
#if KILN_PLATFORM_CUDA
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// Returns sum + a[0] * b[0] + ... + a[3] * b[3] for the signed bytes of two words.
KILN_DEVICE i32 dot_bytes(u32 a, u32 b, i32 sum) {
#if KILN_PLATFORM_CUDA
  return __dp4a(static_cast<i32>(a), static_cast<i32>(b), sum);
#elif KILN_PLATFORM_HIP && (defined(__GFX11__) || defined(__GFX12__))
  return __builtin_amdgcn_sudot4(true, static_cast<i32>(a), true, static_cast<i32>(b), sum, false);
#elif KILN_PLATFORM_HIP
  return __builtin_amdgcn_sdot4(static_cast<i32>(a), static_cast<i32>(b), sum, false);
#elif KILN_PLATFORM_HOST
  for (u32 shift = 0; shift != 32; shift += 8) {
    sum += static_cast<i32>(static_cast<i8>(a >> shift)) * static_cast<i8>(b >> shift);
  }
  return sum;
#endif
}

// ---- matrix units -----------------------------------------------------------------------------

#if KILN_PLATFORM_CUDA && __CUDA_ARCH__ >= 800
#define KILN_HAS_BYTE_MATRIX 1
// Computes c = a * b + first for signed bytes, by the 32 lanes of a warp. a has 16 rows and b has 8
// columns, of 16 or 32 bytes each. device/byte_matrix.cuh says which lane holds what.
KILN_DEVICE void multiply_byte_fragments(i32 (&c)[4], i32 first, u32 a0, u32 a1, u32 b0) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %7, %7, %7};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a0), "r"(a1), "r"(b0), "r"(first));
}
KILN_DEVICE void multiply_byte_fragments(i32 (&c)[4], i32 first, u32 a0, u32 a1, u32 a2, u32 a3,
                                         u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %10, %10, %10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(first));
}
#endif

// AMD's: c += a * b for signed bytes. a has 16 rows and b 16 columns, of 16 bytes each, and lane i
// holds bytes of row i % 16 of a and of column i % 16 of b.
#if KILN_PLATFORM_HIP && defined(__gfx90a__)
// Each of the 64 lanes of a wave holds four bytes, from 4 * (i / 16) on. Its result c[r] is in row
// 4 (i / 16) + r and column i % 16 (CDNA2 ISA, "MFMA").
#define KILN_HAS_BYTE_MFMA 1
KILN_DEVICE void multiply_byte_columns(i32 (&c)[4], const u32 (&a)[1], const u32 (&b)[1]) {
  using Results = i32 __attribute__((ext_vector_type(4)));
  const Results sums = __builtin_amdgcn_mfma_i32_16x16x16i8(
      static_cast<i32>(a[0]), static_cast<i32>(b[0]), __builtin_bit_cast(Results, c), 0, 0, 0);
  for (u32 r = 0; r < 4; ++r) c[r] = sums[r];
}
#elif KILN_PLATFORM_HIP && defined(__GFX11__) && __AMDGCN_WAVEFRONT_SIZE__ == 32
// Each of the 32 lanes of a wave holds all bytes. Its result c[r] is in row 2 r + i / 16 and column
// i % 16 (RDNA3 ISA, "WMMA").
#define KILN_HAS_BYTE_WMMA 1
KILN_DEVICE void multiply_byte_columns(i32 (&c)[8], const u32 (&a)[4], const u32 (&b)[4]) {
  using Elements = i32 __attribute__((ext_vector_type(4)));
  using Results = i32 __attribute__((ext_vector_type(8)));
  constexpr bool kSigned = true, kSaturates = false;
  const Results sums = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(
      kSigned, __builtin_bit_cast(Elements, a), kSigned, __builtin_bit_cast(Elements, b),
      __builtin_bit_cast(Results, c), kSaturates);
  for (u32 r = 0; r < 8; ++r) c[r] = sums[r];
}
#endif

// ---- asynchronous copies ----------------------------------------------------------------------

// Copies kBytes (4 or 16) bytes from global to shared memory; both addresses are multiples of
// kBytes. After wait_for_copies() a thread sees its own copies, and after a further barrier those
// of other threads. Hardware without asynchronous copies copies at once.
#if KILN_PLATFORM_CUDA && __CUDA_ARCH__ >= 800
template <u32 kBytes>
KILN_DEVICE void copy_async(void* shared, const void* global) {
  const u32 to = static_cast<u32>(__cvta_generic_to_shared(shared));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(global) : "memory");
  }
}
KILN_DEVICE void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
template <u32 kBytes>
KILN_DEVICE void copy_async(void* shared, const void* global) {
  if constexpr (kBytes == 16) {
    const Words words = load_16_bytes(global);
    for (u32 i = 0; i < 4; ++i) static_cast<u32*>(shared)[i] = words.word[i];
  } else {
    *static_cast<u32*>(shared) = *static_cast<const u32*>(global);
  }
}
KILN_DEVICE void wait_for_copies() {}
#endif

// ---- arithmetic -------------------------------------------------------------------------------
// The vendor's accurate functions, under one name for f32 and f64.

namespace math {

#if KILN_PLATFORM_CUDA
#define KILN_MATH(name, single, twice, ocml)          \
  KILN_DEVICE f32 name(f32 x) { return ::single(x); } \
  KILN_DEVICE f64 name(f64 x) { return ::twice(x); }
#define KILN_MATH_OF_TWO(name, single, twice, ocml)             \
  KILN_DEVICE f32 name(f32 x, f32 y) { return ::single(x, y); } \
  KILN_DEVICE f64 name(f64 x, f64 y) { return ::twice(x, y); }
#elif KILN_PLATFORM_HIP
#define KILN_MATH(name, single, twice, ocml)                       \
  extern "C" __attribute__((device)) f32 __ocml_##ocml##_f32(f32); \
  extern "C" __attribute__((device)) f64 __ocml_##ocml##_f64(f64); \
  KILN_DEVICE f32 name(f32 x) { return __ocml_##ocml##_f32(x); }   \
  KILN_DEVICE f64 name(f64 x) { return __ocml_##ocml##_f64(x); }
#define KILN_MATH_OF_TWO(name, single, twice, ocml)                        \
  extern "C" __attribute__((device)) f32 __ocml_##ocml##_f32(f32, f32);    \
  extern "C" __attribute__((device)) f64 __ocml_##ocml##_f64(f64, f64);    \
  KILN_DEVICE f32 name(f32 x, f32 y) { return __ocml_##ocml##_f32(x, y); } \
  KILN_DEVICE f64 name(f64 x, f64 y) { return __ocml_##ocml##_f64(x, y); }
#elif KILN_PLATFORM_HOST
// erfc(-x / sqrt 2) / 2. For small results erfc amplifies the rounding error of its argument x^2
// times. The f32 version therefore computes in f64. The f64 version corrects the result by the
// argument's error times the slope of erfc.
KILN_DEVICE f32 normal_cdf(f32 x) {
  return static_cast<f32>(0.5 * __builtin_erfc(x * -0.70710678118654752440));
}
KILN_DEVICE f64 normal_cdf(f64 x) {
  const f64 high = -0x1.6a09e667f3bcdp-1, low = 0x1.bdd3413b26456p-55;  // -sqrt(1/2) in two parts
  const f64 at = x * high;
  const f64 error = __builtin_fma(x, high, -at) + x * low;
  const f64 value = __builtin_erfc(at);
  // For an infinite x the error is NaN. Where erfc is 0 or 2 there is nothing to correct.
  if (!(__builtin_fabs(x) < 40)) return 0.5 * value;
  return 0.5 * value - 0.56418958354775628695 * error * __builtin_exp(-at * at);
}
// In f64, since glibc's tanhf errs by up to 2.2 units in the last place.
KILN_DEVICE f32 tanh(f32 x) { return static_cast<f32>(__builtin_tanh(x)); }
// (e^2x - 1) / (e^2x + 1), with the roundings of the sum and of the division corrected. It errs by
// up to 1.5 units, glibc's tanh by 2.2.
KILN_DEVICE f64 tanh(f64 x) {
  const f64 magnitude = __builtin_fabs(x);
  if (magnitude > 20) return __builtin_copysign(1.0, x);
  const f64 power = __builtin_expm1(2 * magnitude);
  const f64 sum = power + 2, rest = power < 2 ? (2 - sum) + power : (power - sum) + 2;
  const f64 quotient = power / sum;
  const f64 left = __builtin_fma(-quotient, rest, __builtin_fma(-quotient, sum, power));
  return __builtin_copysign(quotient + left / sum, x);
}
#define KILN_MATH(name, single, twice, ocml)                    \
  KILN_DEVICE f32 name(f32 x) { return __builtin_##single(x); } \
  KILN_DEVICE f64 name(f64 x) { return __builtin_##twice(x); }
#define KILN_MATH_OF_TWO(name, single, twice, ocml)                       \
  KILN_DEVICE f32 name(f32 x, f32 y) { return __builtin_##single(x, y); } \
  KILN_DEVICE f64 name(f64 x, f64 y) { return __builtin_##twice(x, y); }
#endif

// clang-format off
KILN_MATH(abs,        fabsf,    fabs,    fabs)
KILN_MATH(sqrt,       sqrtf,    sqrt,    sqrt)
KILN_MATH(ceil,       ceilf,    ceil,    ceil)
KILN_MATH(floor,      floorf,   floor,   floor)
KILN_MATH(round,      roundf,   round,   round)
KILN_MATH(exp,        expf,     exp,     exp)
KILN_MATH(expm1,      expm1f,   expm1,   expm1)
KILN_MATH(log,        logf,     log,     log)
KILN_MATH(sin,        sinf,     sin,     sin)
KILN_MATH(cos,        cosf,     cos,     cos)
KILN_MATH(erf,        erff,     erf,     erf)
#if !KILN_PLATFORM_HOST
KILN_MATH(tanh,       tanhf,    tanh,    tanh)
KILN_MATH(normal_cdf, normcdff, normcdf, ncdf)
#endif
KILN_MATH_OF_TWO(pow, powf, pow, pow)
// clang-format on
#undef KILN_MATH
#undef KILN_MATH_OF_TWO

#if KILN_PLATFORM_CUDA
KILN_DEVICE f32 fma(f32 a, f32 b, f32 c) { return ::fmaf(a, b, c); }
KILN_DEVICE f64 fma(f64 a, f64 b, f64 c) { return ::fma(a, b, c); }
#else
KILN_DEVICE f32 fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
KILN_DEVICE f64 fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
#endif

// 1 / sqrt(x), within two units in the last place.
KILN_DEVICE f32 reciprocal_root(f32 x) {
#if KILN_PLATFORM_CUDA
  return ::rsqrtf(x);
#elif KILN_PLATFORM_HIP
  return __ocml_rsqrt_f32(x);
#elif KILN_PLATFORM_HOST
  return 1 / __builtin_sqrtf(x);
#endif
}

// a * b, rounded by itself: never fused into a sum that uses it.
KILN_DEVICE f32 rounded_product(f32 a, f32 b) {
#if KILN_PLATFORM_CUDA
  return __fmul_rn(a, b);
#elif KILN_PLATFORM_HIP
#pragma clang fp contract(off)
  return a * b;
#elif KILN_PLATFORM_HOST
  return a * b;  // host images are compiled without contraction
#endif
}

// a / b within two units in the last place, as PTX states for div.full.
KILN_DEVICE f32 quotient_approximate(f32 a, f32 b) {
#if KILN_PLATFORM_CUDA
  f32 quotient;
  asm("div.full.f32 %0, %1, %2;" : "=f"(quotient) : "f"(a), "f"(b));
  return quotient;
#else
  return a / b;
#endif
}

// The square root with a relative error of at most 2^-23, as PTX states for sqrt.approx.
KILN_DEVICE f32 sqrt_approximate(f32 x) {
#if KILN_PLATFORM_CUDA
  f32 root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
#else
  return sqrt(x);
#endif
}

// The largest integer that is at most x, for |x| below 2^31. One instruction of NVIDIA's.
KILN_DEVICE i32 floor_to_i32(f32 x) {
#if KILN_PLATFORM_CUDA
  return __nvvm_f2i_rm(x);
#else
  return static_cast<i32>(floor(x));
#endif
}

// x rounded to an integer, halves away from zero; |x| is below 2^31.
KILN_DEVICE i32 rounded_integer(f32 x) {
#if KILN_PLATFORM_CUDA
  f32 sum;  // rounded towards zero, so that it reaches no integer that the exact sum does not
  asm("{ .reg .f32 half; copysign.f32 half, %1, 0f3F000000; add.rz.f32 %0, %1, half; }"
      : "=f"(sum)
      : "f"(x));
  return static_cast<i32>(sum);
#else
  return static_cast<i32>(round(x));
#endif
}

}  // namespace math

// 2^x with a relative error below 2^-21. Results below the smallest normal number may be zero.
KILN_DEVICE f32 exp2_approximate(f32 x) {
#if KILN_PLATFORM_CUDA
  return __nvvm_ex2_approx_ftz_f(x);
#elif KILN_PLATFORM_HIP
  return __builtin_amdgcn_exp2f(x);
#elif KILN_PLATFORM_HOST
  return __builtin_exp2f(x);
#endif
}

// 1 / x with a relative error of at most 2^-23, as PTX states for rcp.approx and AMD, as one unit
// in the last place, for v_rcp_f32. Subnormal arguments and results may count as zero.
KILN_DEVICE f32 reciprocal_approximate(f32 x) {
#if KILN_PLATFORM_CUDA
  f32 y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#elif KILN_PLATFORM_HIP
  return __builtin_amdgcn_rcpf(x);
#elif KILN_PLATFORM_HOST
  return 1.0f / x;
#endif
}

// 1 / sqrt(x) of a positive normal number. The relative error is below 2^-22 in f32, as PTX states
// for rsqrt.approx and AMD, as one unit in the last place, for v_rsq_f32, and below 2^-19 in f64.
KILN_DEVICE f32 reciprocal_root_approximate(f32 x) {
#if KILN_PLATFORM_CUDA
  f32 y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#elif KILN_PLATFORM_HIP
  return __builtin_amdgcn_rsqf(x);
#elif KILN_PLATFORM_HOST
  return 1 / __builtin_sqrtf(x);
#endif
}
KILN_DEVICE f64 reciprocal_root_approximate(f64 x) {
#if KILN_PLATFORM_CUDA
  f64 y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
#elif KILN_PLATFORM_HIP
  return __builtin_amdgcn_rsq(x);
#elif KILN_PLATFORM_HOST
  return 1 / __builtin_sqrt(x);
#endif
}

// ---- hardware conversions ---------------------------------------------------------------------
// Each conversion rounds once, to nearest even. dtypes.cuh computes the same in software if the
// hardware lacks a feature. "pair" converts two values into one word, the first into the low half.

#if KILN_PLATFORM_CUDA
#define KILN_HAS_F16_CONVERSION 1
KILN_DEVICE f32 f32_from_f16_bits(u16 bits) { return __nvvm_h2f(bits); }
KILN_DEVICE u16 f16_bits_from_f32(f32 x) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#define KILN_HAS_F16_FROM_F64 1
KILN_DEVICE u16 f16_bits_from_f64(f64 x) {
  u16 bits;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
  return bits;
}
#if __CUDA_ARCH__ >= 800
#define KILN_HAS_PAIR_CONVERSION 1
KILN_DEVICE u32 f16_bits_from_f32_pair(f32 first, f32 second) {
  u32 bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
}
KILN_DEVICE u32 bf16_bits_from_f32_pair(f32 first, f32 second) {
  u32 bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
}
#define KILN_HAS_BF16_CONVERSION 1
KILN_DEVICE u16 bf16_bits_from_f32(f32 x) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif
#if __CUDA_ARCH__ >= 900
#define KILN_HAS_BF16_FROM_F64 1
KILN_DEVICE u16 bf16_bits_from_f64(f64 x) {
  u16 bits;
  asm("cvt.rn.bf16.f64 %0, %1;" : "=h"(bits) : "d"(x));
  return bits;
}
#endif
#if __CUDA_ARCH__ >= 890
#define KILN_HAS_F8_CONVERSION 1
// Saturates at the largest number.
KILN_DEVICE u16 f8_e4m3_bits_from_f32_pair(f32 first, f32 second) {
  u16 bits;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(second), "f"(first));
  return bits;
}
// Converts to f16, which represents every f8_e4m3 number.
KILN_DEVICE u32 f16_bits_from_f8_e4m3_pair(u16 bits) {
  u32 pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(bits));
  return pair;
}
#endif
#elif KILN_PLATFORM_HIP
#define KILN_HAS_F16_CONVERSION 1
KILN_DEVICE f32 f32_from_f16_bits(u16 bits) { return __builtin_bit_cast(_Float16, bits); }
KILN_DEVICE u16 f16_bits_from_f32(f32 x) {
  return __builtin_bit_cast(u16, static_cast<_Float16>(x));
}
#endif

}  // namespace kiln::device
