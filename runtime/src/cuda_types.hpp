// The types and constants of the CUDA Driver API that kiln uses, so that it builds without CUDA. If
// a real cuda.h is present, tests/runtime checks them against it.
#pragma once

#include <cstddef>

namespace kiln::runtime::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUdevice_attribute = int;
using CUfunction_attribute = int;
using CUjit_option = int;
using CUstreamCaptureStatus = int;
using CUstreamCaptureMode = int;
using CUmemPool_attribute = int;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using std::size_t;

// Properties of a memory pool. `rest` holds the members that kiln leaves at zero.
struct CUmemPoolProps {
  int allocation;  // CUmemAllocationType
  int handles;     // 0: no handles, because the memory is private to this process
  int place;       // CUmemLocationType
  int device;
  unsigned char rest[112];
};

inline constexpr CUresult kSuccess = 0;             // CUDA_SUCCESS
inline constexpr CUresult kInvalidValue = 1;        // CUDA_ERROR_INVALID_VALUE
inline constexpr CUresult kOutOfMemory = 2;         // CUDA_ERROR_OUT_OF_MEMORY
inline constexpr CUresult kDeinitialized = 4;       // CUDA_ERROR_DEINITIALIZED
inline constexpr CUresult kNoDevice = 100;          // CUDA_ERROR_NO_DEVICE
inline constexpr CUresult kNotFound = 500;          // CUDA_ERROR_NOT_FOUND
inline constexpr CUresult kContextDestroyed = 709;  // CUDA_ERROR_CONTEXT_IS_DESTROYED
inline constexpr CUresult kCaptureImplicit = 906;  // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT

inline constexpr unsigned int kNonBlocking = 1;     // CU_STREAM_NON_BLOCKING
inline constexpr unsigned int kPortable = 1;        // CU_MEMHOSTALLOC_PORTABLE
inline constexpr CUstreamCaptureStatus kNoCapture = 0;  // CU_STREAM_CAPTURE_STATUS_NONE
inline constexpr CUstreamCaptureMode kRelaxed = 2;      // CU_STREAM_CAPTURE_MODE_RELAXED

inline constexpr CUdevice_attribute kMaxThreadsPerBlock = 1;    // ..._MAX_THREADS_PER_BLOCK
inline constexpr CUdevice_attribute kMaxSharedPerBlock = 8;     // ..._MAX_SHARED_MEMORY_PER_BLOCK
inline constexpr CUdevice_attribute kWarpSize = 10;             // ..._WARP_SIZE
inline constexpr CUdevice_attribute kMultiprocessorCount = 16;  // ..._MULTIPROCESSOR_COUNT
inline constexpr CUdevice_attribute kCapabilityMajor = 75;      // ..._COMPUTE_CAPABILITY_MAJOR
inline constexpr CUdevice_attribute kCapabilityMinor = 76;      // ..._COMPUTE_CAPABILITY_MINOR
inline constexpr CUdevice_attribute kMaxSharedPerBlockOptin = 97;  // ..._PER_BLOCK_OPTIN

inline constexpr int kPinnedAllocation = 1;  // CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr int kOnDevice = 1;          // CU_MEM_LOCATION_TYPE_DEVICE
inline constexpr CUmemPool_attribute kReleaseThreshold = 4;  // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD

inline constexpr CUdevice_attribute kMemoryPoolsSupported = 115;  // ..._MEMORY_POOLS_SUPPORTED

inline constexpr CUfunction_attribute kMaxThreads = 0;        // ..._MAX_THREADS_PER_BLOCK
inline constexpr CUfunction_attribute kStaticShared = 1;      // ..._SHARED_SIZE_BYTES
inline constexpr CUfunction_attribute kMaxDynamicShared = 8;  // ..._MAX_DYNAMIC_SHARED_SIZE_BYTES

inline constexpr CUjit_option kErrorLogBuffer = 5;      // CU_JIT_ERROR_LOG_BUFFER
inline constexpr CUjit_option kErrorLogBufferSize = 6;  // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES

}  // namespace kiln::runtime::cuda
