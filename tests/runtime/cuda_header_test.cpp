// Compares kiln's few declarations of the CUDA driver with the real cuda.h, if there is one.
#include <catch2/catch_test_macros.hpp>

#if !__has_include(<cuda.h>)

TEST_CASE("Our declarations agree with cuda.h") { SKIP("no cuda.h on this machine"); }

#else

#include <cuda.h>

#include "runtime/src/cuda_types.hpp"
#include "same_shape.hpp"

namespace ours = kiln::runtime::cuda;

namespace kiln::runtime::cuda {
// Optional functions may be missing in an older cuda.h.
#define KILN_CHECK_REQUIRED(exported, parameters) \
  static_assert(testing::kSameShape<CUresult(*) parameters, decltype(&::exported)>, #exported);
#define KILN_CHECK_OPTIONAL(exported, parameters)
#define KILN_CUDA_SYMBOL(presence, name, exported, parameters) \
  KILN_CHECK_##presence(exported, parameters)
#include "runtime/src/cuda_symbols.def"
}  // namespace kiln::runtime::cuda

TEST_CASE("Our declarations agree with cuda.h") {
  CHECK(sizeof(ours::CUdeviceptr) == sizeof(::CUdeviceptr));
  CHECK(ours::kSuccess == CUDA_SUCCESS);
  CHECK(ours::kDeinitialized == CUDA_ERROR_DEINITIALIZED);
  CHECK(ours::kNoDevice == CUDA_ERROR_NO_DEVICE);
  CHECK(ours::kNotFound == CUDA_ERROR_NOT_FOUND);
  CHECK(ours::kContextDestroyed == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(ours::kCaptureImplicit == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CHECK(ours::kNonBlocking == CU_STREAM_NON_BLOCKING);
  CHECK(ours::kPortable == CU_MEMHOSTALLOC_PORTABLE);
  CHECK(ours::kNoCapture == CU_STREAM_CAPTURE_STATUS_NONE);
  CHECK(ours::kRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
  CHECK(ours::kMemoryPoolsSupported == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  CHECK(ours::kReleaseThreshold == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
  CHECK(ours::kPinnedAllocation == CU_MEM_ALLOCATION_TYPE_PINNED);
  CHECK(ours::kOnDevice == CU_MEM_LOCATION_TYPE_DEVICE);
  CHECK(sizeof(ours::CUmemPoolProps) >= sizeof(::CUmemPoolProps));
  CHECK(offsetof(ours::CUmemPoolProps, device) == offsetof(::CUmemPoolProps, location.id));
  CHECK(ours::kMaxThreadsPerBlock == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  CHECK(ours::kMaxSharedPerBlock == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  CHECK(ours::kMaxSharedPerBlockOptin == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  CHECK(ours::kWarpSize == CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  CHECK(ours::kMultiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  CHECK(ours::kCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  CHECK(ours::kCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  CHECK(ours::kStaticShared == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  CHECK(ours::kMaxDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  CHECK(ours::kErrorLogBuffer == CU_JIT_ERROR_LOG_BUFFER);
  CHECK(ours::kErrorLogBufferSize == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
}

#endif
