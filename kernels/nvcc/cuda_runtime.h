// Declares the parts of CUDA that kernels use. nvcc includes a file of this name before every
// source, and takes this one if its folder is searched. The toolkit's own header has the whole
// runtime API and the C++ mathematics library; reading it takes longer than compiling a small
// module. The compiler knows the names declared here, and the PTX of all sources is the same with
// either header. That was verified for one release of CUDA; any other release uses the toolkit's
// header.
#pragma once

#if __CUDACC_VER_MAJOR__ != 13 || __CUDACC_VER_MINOR__ != 0
#include_next <cuda_runtime.h>
#else

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define KILN_BUILTIN __attribute__((device_builtin))
#define KILN_KNOWN extern "C" __device__ KILN_BUILTIN
#define KILN_INLINE static __device__ __forceinline__

struct KILN_BUILTIN uint3 {
  unsigned x, y, z;
};
struct KILN_BUILTIN dim3 {
  unsigned x, y, z;
};
struct KILN_BUILTIN alignas(16) uint4 {
  unsigned x, y, z, w;
};
extern const KILN_BUILTIN uint3 threadIdx, blockIdx;
extern const KILN_BUILTIN dim3 blockDim, gridDim;

// ---- mathematics ------------------------------------------------------------------------------

#define KILN_FUNCTION(name)        \
  KILN_KNOWN float name##f(float); \
  KILN_KNOWN double name(double);
KILN_FUNCTION(fabs)
KILN_FUNCTION(sqrt)
KILN_FUNCTION(ceil)
KILN_FUNCTION(floor)
KILN_FUNCTION(round)
KILN_FUNCTION(exp)
KILN_FUNCTION(expm1)
KILN_FUNCTION(log)
KILN_FUNCTION(sin)
KILN_FUNCTION(cos)
KILN_FUNCTION(tanh)
KILN_FUNCTION(erf)
KILN_FUNCTION(normcdf)
#undef KILN_FUNCTION
KILN_KNOWN float powf(float, float);
KILN_KNOWN double pow(double, double);
KILN_KNOWN float fmaxf(float, float);
KILN_KNOWN float fminf(float, float);
KILN_KNOWN float fmaf(float, float, float);
KILN_KNOWN double fma(double, double, double);
KILN_KNOWN float rsqrtf(float);
KILN_KNOWN float __fmul_rn(float, float);

// ---- words ------------------------------------------------------------------------------------

KILN_KNOWN float __uint_as_float(unsigned);
KILN_KNOWN int __popc(unsigned);
KILN_KNOWN int __clz(int);
KILN_KNOWN unsigned __byte_perm(unsigned, unsigned, unsigned);
KILN_INLINE int __dp4a(int a, int b, int sum) {
  int result;
  asm volatile("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}

// ---- threads of a block -----------------------------------------------------------------------

KILN_KNOWN void __syncthreads();
KILN_KNOWN void __nvvm_bar_warp_sync(unsigned);
KILN_KNOWN unsigned __nvvm_vote_ballot_sync(unsigned, int);
KILN_KNOWN unsigned __nvvm_shfl_idx_sync(unsigned, unsigned, unsigned, unsigned);
KILN_KNOWN unsigned __nvvm_shfl_bfly_sync(unsigned, unsigned, unsigned, unsigned);
KILN_INLINE void __syncwarp() { __nvvm_bar_warp_sync(~0u); }
KILN_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
KILN_INLINE unsigned __shfl_sync(unsigned mask, unsigned value, int source, int width) {
  return __nvvm_shfl_idx_sync(mask, value, source, (32 - width) << 8 | 31);
}
KILN_INLINE unsigned __shfl_xor_sync(unsigned mask, unsigned value, int lanes) {
  return __nvvm_shfl_bfly_sync(mask, value, lanes, 31);
}

// ---- memory -----------------------------------------------------------------------------------

KILN_KNOWN unsigned long __nv_cvta_generic_to_shared_impl(const void*);
KILN_INLINE unsigned long __cvta_generic_to_shared(const void* address) {
  return __nv_cvta_generic_to_shared_impl(address);
}
KILN_KNOWN unsigned __uAtomicAdd(unsigned*, unsigned);
KILN_KNOWN float __fAtomicAdd(float*, float);
KILN_KNOWN double __dAtomicAdd(double*, double);
KILN_KNOWN unsigned __uAtomicCAS(unsigned*, unsigned, unsigned);
KILN_KNOWN unsigned long long __ullAtomicCAS(unsigned long long*, unsigned long long,
                                             unsigned long long);
KILN_INLINE unsigned atomicAdd(unsigned* address, unsigned value) {
  return __uAtomicAdd(address, value);
}
KILN_INLINE float atomicAdd(float* address, float value) { return __fAtomicAdd(address, value); }
KILN_INLINE double atomicAdd(double* address, double value) { return __dAtomicAdd(address, value); }
KILN_INLINE unsigned atomicCAS(unsigned* address, unsigned expected, unsigned value) {
  return __uAtomicCAS(address, expected, value);
}
KILN_INLINE unsigned long long atomicCAS(unsigned long long* address, unsigned long long expected,
                                         unsigned long long value) {
  return __ullAtomicCAS(address, expected, value);
}

#undef KILN_BUILTIN
#undef KILN_KNOWN
#undef KILN_INLINE
#endif
