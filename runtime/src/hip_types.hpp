// The types and constants of the HIP API that kiln uses, so that it builds without ROCm. If the
// real headers are present, tests/runtime checks them against those.
#pragma once

#include <cstddef>

namespace kiln::runtime::hip {

using hipError_t = int;
using hipDeviceAttribute_t = int;
using hipFunction_attribute = int;
using hipMemcpyKind = int;
using hipStreamCaptureStatus = int;
using hipStreamCaptureMode = int;
using hipMemPoolAttr = int;
using hipMemPool_t = struct ihipMemPoolHandle_t*;
using hipDeviceptr_t = void*;
using hipJitOption = int;
using hipLibraryOption = int;
using hipLibrary_t = struct ihipLibrary_t*;
using hipKernel_t = struct ihipKernel_t*;
using hipModule_t = struct ihipModule_t*;
using hipFunction_t = struct ihipModuleSymbol_t*;
using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;
using std::size_t;

// The layout of this struct changed in release 6.0 and grows with releases. The symbol that is
// called decides which layout the library fills in. kiln only searches it for a text, so the struct
// is a byte array that is larger than any release's (792 bytes in 5.x, 1472 in 6.x).
struct hipDeviceProp_t {
  char bytes[8192];
};

// Properties of a memory pool. `rest` holds the members that kiln leaves at zero.
struct hipMemPoolProps {
  int allocation;  // hipMemAllocationType
  int handles;     // 0: no handles, because the memory is private to this process
  int place;       // hipMemLocationType
  int device;
  unsigned char rest[112];
};

inline constexpr hipError_t kSuccess = 0;             // hipSuccess
inline constexpr hipError_t kDeinitialized = 4;       // hipErrorDeinitialized
inline constexpr hipError_t kNoDevice = 100;          // hipErrorNoDevice
inline constexpr hipError_t kNotFound = 500;          // hipErrorNotFound
inline constexpr hipError_t kContextDestroyed = 709;  // hipErrorContextIsDestroyed
inline constexpr hipError_t kCaptureImplicit = 906;   // hipErrorStreamCaptureImplicit

inline constexpr unsigned int kNonBlocking = 1;          // hipStreamNonBlocking
inline constexpr unsigned int kPortable = 1;             // hipHostMallocPortable
inline constexpr hipStreamCaptureStatus kNoCapture = 0;  // hipStreamCaptureStatusNone
inline constexpr hipStreamCaptureMode kRelaxed = 2;      // hipStreamCaptureModeRelaxed

inline constexpr int kPinnedAllocation = 1;             // hipMemAllocationTypePinned
inline constexpr int kOnDevice = 1;                     // hipMemLocationTypeDevice
inline constexpr hipMemPoolAttr kReleaseThreshold = 4;  // hipMemPoolAttrReleaseThreshold

inline constexpr hipFunction_attribute kMaxThreads = 0;  // ..._MAX_THREADS_PER_BLOCK

inline constexpr hipDeviceAttribute_t kMaxThreadsPerBlock = 56;   // ...MaxThreadsPerBlock
inline constexpr hipDeviceAttribute_t kMultiprocessorCount = 63;  // ...MultiprocessorCount
inline constexpr hipDeviceAttribute_t kMaxSharedPerBlock = 74;    // ...MaxSharedMemoryPerBlock
inline constexpr hipDeviceAttribute_t kWarpSize = 87;             // ...WarpSize
inline constexpr hipDeviceAttribute_t kMemoryPoolsSupported = 88;  // ...MemoryPoolsSupported

inline constexpr hipMemcpyKind kHostToDevice = 1;    // hipMemcpyHostToDevice
inline constexpr hipMemcpyKind kDeviceToHost = 2;    // hipMemcpyDeviceToHost
inline constexpr hipMemcpyKind kDeviceToDevice = 3;  // hipMemcpyDeviceToDevice

}  // namespace kiln::runtime::hip
