// The few types and numbers of the CUDA Driver API that kiln uses, so that it builds where no CUDA
// is. tests/runtime checks them against the real cuda.h where there is one.
#pragma once

#include <cstddef>

namespace kiln::runtime::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUdevice_attribute = int;
using CUfunction_attribute = int;
using CUjit_option = int;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using std::size_t;

inline constexpr CUresult kSuccess = 0;             // CUDA_SUCCESS
inline constexpr CUresult kInvalidValue = 1;        // CUDA_ERROR_INVALID_VALUE
inline constexpr CUresult kOutOfMemory = 2;         // CUDA_ERROR_OUT_OF_MEMORY
inline constexpr CUresult kDeinitialized = 4;       // CUDA_ERROR_DEINITIALIZED
inline constexpr CUresult kNoDevice = 100;          // CUDA_ERROR_NO_DEVICE
inline constexpr CUresult kNotFound = 500;          // CUDA_ERROR_NOT_FOUND
inline constexpr CUresult kContextDestroyed = 709;  // CUDA_ERROR_CONTEXT_IS_DESTROYED

inline constexpr CUdevice_attribute kMaxThreadsPerBlock = 1;    // ..._MAX_THREADS_PER_BLOCK
inline constexpr CUdevice_attribute kMaxSharedPerBlock = 8;     // ..._MAX_SHARED_MEMORY_PER_BLOCK
inline constexpr CUdevice_attribute kWarpSize = 10;             // ..._WARP_SIZE
inline constexpr CUdevice_attribute kMultiprocessorCount = 16;  // ..._MULTIPROCESSOR_COUNT
inline constexpr CUdevice_attribute kCapabilityMajor = 75;      // ..._COMPUTE_CAPABILITY_MAJOR
inline constexpr CUdevice_attribute kCapabilityMinor = 76;      // ..._COMPUTE_CAPABILITY_MINOR
inline constexpr CUdevice_attribute kMaxSharedPerBlockOptin = 97;  // ..._PER_BLOCK_OPTIN

inline constexpr CUfunction_attribute kStaticShared = 1;      // ..._SHARED_SIZE_BYTES
inline constexpr CUfunction_attribute kMaxDynamicShared = 8;  // ..._MAX_DYNAMIC_SHARED_SIZE_BYTES

inline constexpr CUjit_option kErrorLogBuffer = 5;      // CU_JIT_ERROR_LOG_BUFFER
inline constexpr CUjit_option kErrorLogBufferSize = 6;  // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES

}  // namespace kiln::runtime::cuda
