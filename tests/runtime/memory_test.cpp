// Allocation from a driver with a memory pool, and from one without. contract_test.cpp tests
// copies.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <set>
#include <utility>
#include <vector>

#include "subject.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

Device open_device(OpenOptions options) {
  Result<Runtime> runtime = Runtime::open(std::move(options));
  REQUIRE(runtime);
  return *runtime->default_device();
}

void allocate_and_free(const Device& device) {
  const Stream stream = *device.create_stream();
  REQUIRE(device.allocate(64));
  REQUIRE(device.allocate(64, stream));
}

}  // namespace

TEST_CASE("Memory of a pool goes back without a wait") {
  SECTION("CUDA") {
    allocate_and_free(open_device(fake_cuda_options()));
    CHECK(fake_cuda().calls("cuMemAllocFromPoolAsync") == 2);
    CHECK(fake_cuda().calls("cuMemFreeAsync") == 2);
    for (const char* waits : {"cuMemFree_v2", "cuCtxSynchronize", "cuStreamSynchronize"}) {
      CHECK(fake_cuda().calls(waits) == 0);
    }
  }
  SECTION("HIP") {
    allocate_and_free(open_device(fake_hip_options()));
    CHECK(fake_hip().calls("hipMallocFromPoolAsync") == 2);
    CHECK(fake_hip().calls("hipFreeAsync") == 2);
    for (const char* waits : {"hipFree", "hipDeviceSynchronize", "hipStreamSynchronize"}) {
      CHECK(fake_hip().calls(waits) == 0);
    }
  }
}

TEST_CASE("The runtimes of a program share a device's pool, which the last one destroys") {
  const auto check_shared = [](const fake::Machine& machine, const OpenOptions& options,
                               const std::string& create, const std::string& destroy) {
    {
      const Device first = open_device(options);
      allocate_and_free(first);
      {
        const Device second = open_device(options);
        allocate_and_free(second);
        CHECK(machine.calls(create) == 1);
      }
      CHECK(machine.calls(destroy) == 0);
      allocate_and_free(first);
    }
    CHECK(machine.calls(destroy) == 1);
    allocate_and_free(open_device(options));
    CHECK(machine.calls(create) == 2);
    CHECK(machine.calls(destroy) == 2);
  };
  SECTION("CUDA") {
    check_shared(fake_cuda(), fake_cuda_options(), "cuMemPoolCreate", "cuMemPoolDestroy");
  }
  SECTION("HIP") {
    check_shared(fake_hip(), fake_hip_options(), "hipMemPoolCreate", "hipMemPoolDestroy");
  }
}

TEST_CASE("A pool that the driver does not make is asked for again") {
  const Device device = open_device(fake_cuda_options());
  fake_cuda().fail("cuMemPoolCreate", 1, 2);
  CHECK_FALSE(device.allocate(64));
  CHECK(device.allocate(64));
}

TEST_CASE("A device without a pool, and a program that wants none, allocate as before") {
  fake::Script script = cuda_script();
  script.has_pools = GENERATE(false, true);
  OpenOptions options = fake_cuda_options(script);
  if (script.has_pools) options.memory_pool = "off";
  allocate_and_free(open_device(options));
  CHECK(fake_cuda().calls("cuMemAllocFromPoolAsync") == 0);
  CHECK(fake_cuda().calls("cuMemAlloc_v2") == 2);
  CHECK(fake_cuda().calls("cuMemFree_v2") == 2);
}

TEST_CASE("A stream of the caller's that waits for nothing ends the use of the pool without one") {
  const Runtime runtime = *Runtime::open(fake_cuda_options());
  const Device device = *runtime.default_device();
  Buffer before = *device.allocate(64);
  void* stream = nullptr;
  REQUIRE(device.as_current([&]() -> Result<void> {
    REQUIRE(vendor_function<int(void**, unsigned)>(runtime, "cuStreamCreate")(&stream, 0) == 0);
    return {};
  }));
  REQUIRE(device.fill(before, 0, StreamRef::from_native(stream)));
  before = Buffer();
  CHECK(fake_cuda().calls("cuMemFree_v2") == 0);  // the release waits for the default stream

  before = *device.allocate(64);
  REQUIRE(device.as_current([&]() -> Result<void> {
    REQUIRE(vendor_function<int(void**, unsigned)>(runtime, "cuStreamCreate")(&stream, 1) == 0);
    return {};
  }));
  // Freeing plain memory is what waits: once for the new stream, and once before pooled memory goes
  // back.
  REQUIRE(device.fill(before, 0, StreamRef::from_native(stream)));
  CHECK(fake_cuda().calls("cuMemFree_v2") == 1);
  before = Buffer();
  CHECK(fake_cuda().calls("cuMemFree_v2") == 2);
  CHECK(fake_cuda().calls("cuMemFreeAsync") == 2);
  before = *device.allocate(64);
  CHECK(fake_cuda().calls("cuMemAlloc_v2") == 3);
  // In the order of that stream, nothing waits.
  REQUIRE(device.allocate(64, StreamRef::from_native(stream)));
  CHECK(fake_cuda().calls("cuMemFreeAsync") == 3);
  // The wait for a device would end a capture.
  CHECK(fake_cuda().calls("cuCtxSynchronize") == 0);
}

TEST_CASE("A stream that kiln made costs no driver calls when its native handle names it") {
  const Runtime runtime = *Runtime::open(fake_cuda_options());
  const Device device = *runtime.default_device();
  const Buffer buffer = *device.allocate(64);
  const auto calls_of_fill = [&](StreamRef stream) {
    const int before = fake_cuda().all_calls();
    REQUIRE(device.fill(buffer, 0, stream));
    return fake_cuda().all_calls() - before;
  };
  std::vector<Stream> streams;
  std::set<void*> handles;
  for (int i = 0; i < 8; ++i)
    handles.insert(streams.emplace_back(*device.create_stream()).native());
  for (const Stream& stream : streams) {
    CHECK(calls_of_fill(StreamRef::from_native(stream.native())) == calls_of_fill(stream));
  }

  // Once a stream is destroyed, the driver may give its handle to a stream of the caller's.
  streams.clear();
  void* reused = nullptr;
  REQUIRE(device.as_current([&]() -> Result<void> {
    const auto create = vendor_function<int(void**, unsigned)>(runtime, "cuStreamCreate");
    for (int i = 0; i < 100 && !handles.contains(reused); ++i) REQUIRE(create(&reused, 1) == 0);
    return {};
  }));
  REQUIRE(handles.contains(reused));
  CHECK(fake_cuda().calls("cuStreamGetFlags") == 0);
  REQUIRE(device.fill(buffer, 0, StreamRef::from_native(reused)));
  CHECK(fake_cuda().calls("cuStreamGetFlags") == 1);
}

TEST_CASE("Memory comes from the pool while a stream is captured, but not in the default order") {
  const Runtime runtime = *Runtime::open(fake_cuda_options());
  const Device device = *runtime.default_device();
  const Stream stream = *device.create_stream();
  const Stream other = *device.create_stream();
  REQUIRE(device.as_current([&]() -> Result<void> {
    REQUIRE(vendor_function<int(void*, int)>(runtime, "cuStreamBeginCapture_v2")(stream.native(),
                                                                                 1) == 0);
    return {};
  }));
  REQUIRE(device.allocate(64, other));
  CHECK(fake_cuda().calls("cuMemAllocFromPoolAsync") == 1);
  // The default stream would end the capture, so plain memory is allocated.
  REQUIRE(device.allocate(64));
  CHECK(fake_cuda().calls("cuMemAllocFromPoolAsync") == 1);
  CHECK(fake_cuda().calls("cuMemAlloc_v2") == 1);
}
