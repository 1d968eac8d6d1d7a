// CUDA's qualifiers; device/platform.cuh describes them. They stand apart because hipify-perl adds
// hip/hip_runtime.h to every file that has the word for a kernel or the one for shared memory. That
// header takes a second to compile, and no AMD kernel of ours needs it.
#pragma once

#define KILN_DEVICE __device__ __forceinline__
// Not static, because PTX would then repeat the file's name in each parameter.
#define KILN_NOINLINE inline __device__ __noinline__
#define KILN_BOUNDED_KERNEL(threads, blocks, name, ...) \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(__VA_ARGS__)
#define KILN_SHARED(name, ...) __shared__ ::kiln::SharedType<__VA_ARGS__> name
#define KILN_VARIABLE __device__
