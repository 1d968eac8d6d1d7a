// Compares kiln's few declarations of HIP with the real headers, if there are some.
#include <catch2/catch_test_macros.hpp>

#if !__has_include(<hip/hip_runtime_api.h>)

TEST_CASE("Our declarations agree with HIP's headers") { SKIP("no HIP headers on this machine"); }

#else

#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1  // overloads, which have no unique address
#include <hip/hip_runtime_api.h>

#include "runtime/src/hip_types.hpp"
#include "same_shape.hpp"

namespace ours = kiln::runtime::hip;

namespace kiln::runtime::hip {
// Optional functions are missing in the headers of some releases.
#define KILN_CHECK_REQUIRED(name, result, parameters) \
  static_assert(testing::kSameShape<result(*) parameters, decltype(&::name)>, #name);
#define KILN_CHECK_OPTIONAL(name, result, parameters)
#define KILN_HIP_SYMBOL(presence, name, result, parameters) \
  KILN_CHECK_##presence(name, result, parameters)
#include "runtime/src/hip_symbols.def"
}  // namespace kiln::runtime::hip

TEST_CASE("Our declarations agree with HIP's headers") {
  CHECK(sizeof(ours::hipDeviceProp_t) > sizeof(::hipDeviceProp_t));
  CHECK(offsetof(::hipDeviceProp_t, gcnArchName) >= 256);
  CHECK(ours::kSuccess == hipSuccess);
  CHECK(ours::kDeinitialized == hipErrorDeinitialized);
  CHECK(ours::kNoDevice == hipErrorNoDevice);
  CHECK(ours::kNotFound == hipErrorNotFound);
  CHECK(ours::kContextDestroyed == hipErrorContextIsDestroyed);
  CHECK(ours::kCaptureImplicit == hipErrorStreamCaptureImplicit);
  CHECK(ours::kNonBlocking == hipStreamNonBlocking);
  CHECK(ours::kPortable == hipHostMallocPortable);
  CHECK(ours::kNoCapture == hipStreamCaptureStatusNone);
  CHECK(ours::kRelaxed == hipStreamCaptureModeRelaxed);
  CHECK(ours::kMemoryPoolsSupported == hipDeviceAttributeMemoryPoolsSupported);
  CHECK(ours::kReleaseThreshold == hipMemPoolAttrReleaseThreshold);
  CHECK(ours::kPinnedAllocation == hipMemAllocationTypePinned);
  CHECK(ours::kOnDevice == hipMemLocationTypeDevice);
  CHECK(sizeof(ours::hipMemPoolProps) >= sizeof(::hipMemPoolProps));
  CHECK(offsetof(ours::hipMemPoolProps, device) == offsetof(::hipMemPoolProps, location.id));
  CHECK(ours::kMaxThreadsPerBlock == hipDeviceAttributeMaxThreadsPerBlock);
  CHECK(ours::kMultiprocessorCount == hipDeviceAttributeMultiprocessorCount);
  CHECK(ours::kMaxSharedPerBlock == hipDeviceAttributeMaxSharedMemoryPerBlock);
  CHECK(ours::kWarpSize == hipDeviceAttributeWarpSize);
  CHECK(ours::kHostToDevice == hipMemcpyHostToDevice);
  CHECK(ours::kDeviceToHost == hipMemcpyDeviceToHost);
  CHECK(ours::kDeviceToDevice == hipMemcpyDeviceToDevice);
}

#endif
