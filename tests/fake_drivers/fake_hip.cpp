// A libamdhip64 that drives a fake machine. Every function of hip_symbols.def is declared from the
// table and defined here. A missing function, or one with other parameters, does not build.
//
// With KILN_FAKE_HIP_5 it is release 5: no hipGetDevicePropertiesR0600, and the layout of that
// release.
#include <cstring>

#include "runtime/src/hip_types.hpp"
#include "tests/fake_drivers/machine_state.hpp"

#ifdef KILN_FAKE_HIP_5
#define hipGetDevicePropertiesR0600 hipGetDeviceProperties
#endif

kiln::fake::Script kiln::fake::default_script() {
  Script script;
  script.devices = {{.name = "Fake MI210", .arch = "gfx90a:sramecc+:xnack-", .wave_width = 64}};
  script.version = 60443483;
  script.uses_image_in_place = true;
  return script;
}

namespace kiln::runtime::hip {

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))
#define KILN_HIP_SYMBOL(presence, name, result, parameters) FAKE_EXPORT result name parameters;
#include "runtime/src/hip_symbols.def"

// References every function, so that an undefined one fails to link with -z defs.
extern const void* const kEveryFunction[];
const void* const kEveryFunction[] = {
#define KILN_HIP_SYMBOL(presence, name, result, parameters) reinterpret_cast<const void*>(&name),
#include "runtime/src/hip_symbols.def"
};

namespace {

using fake::machine;

// Each thread has a current device, initially the first one.
int& current() {
  thread_local int device = 0;
  thread_local unsigned generation = 0;
  if (generation != machine().generation()) device = 0;
  generation = machine().generation();
  return device;
}

const fake::DeviceScript& script(int device) {
  return machine().script().devices[static_cast<std::size_t>(device)];
}

hipError_t properties(hipDeviceProp_t* target, int device, std::size_t size, std::size_t arch_at) {
  std::memset(target->bytes, 0x2A, size);
  std::memset(target->bytes, 0, 256);
  std::strncpy(target->bytes, script(device).name.c_str(), 255);
  std::memset(target->bytes + arch_at, 0, 256);
  std::strncpy(target->bytes + arch_at, script(device).arch.c_str(), 255);
  return fake::kSuccess;
}

}  // namespace

#define ENTER() \
  if (const int status = machine().enter(__func__); status != 0) return status
#define ENTER_ON_STREAM(stream) \
  ENTER();                      \
  if (const int status = machine().check_stream(current(), stream); status != 0) return status

FAKE_EXPORT hipError_t hipInit(unsigned int) {
  ENTER();
  return machine().device_count() == 0 ? fake::kNoDevice : fake::kSuccess;
}
FAKE_EXPORT const char* hipGetErrorName(hipError_t error) {
  const char* name = fake::status_name(error, "hipError", true);
  return name != nullptr ? name : "hipErrorUnknown";
}
FAKE_EXPORT const char* hipGetErrorString(hipError_t error) {
  const char* text = fake::status_text(error);
  return text != nullptr ? text : "unknown error";
}
FAKE_EXPORT hipError_t hipRuntimeGetVersion(int* version) {
  ENTER();
  *version = machine().script().version;
  return fake::kSuccess;
}
FAKE_EXPORT hipError_t hipGetDeviceCount(int* count) {
  ENTER();
  *count = machine().device_count();
  return fake::kSuccess;
}
FAKE_EXPORT hipError_t hipGetDevice(int* device) {
  ENTER();
  *device = current();
  return fake::kSuccess;
}
FAKE_EXPORT hipError_t hipSetDevice(int device) {
  ENTER();
  if (!machine().valid_device(device)) return fake::kInvalidValue;
  current() = device;
  return fake::kSuccess;
}
FAKE_EXPORT hipError_t hipDeviceGetName(char* name, int size, int device) {
  ENTER();
  std::strncpy(name, script(device).name.c_str(), static_cast<std::size_t>(size));
  return fake::kSuccess;
}
FAKE_EXPORT hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute,
                                             int device) {
  ENTER();
  switch (attribute) {
    case kWarpSize: *value = script(device).wave_width; break;
    case kMultiprocessorCount: *value = 104; break;
    case kMaxThreadsPerBlock: *value = 1024; break;
    case kMaxSharedPerBlock: *value = 64 * 1024; break;
    case kMemoryPoolsSupported: *value = machine().script().has_pools ? 1 : 0; break;
    default: return fake::kInvalidValue;
  }
  return fake::kSuccess;
}
FAKE_EXPORT hipError_t hipDeviceTotalMem(size_t* bytes, int device) {
  ENTER();
  *bytes = script(device).memory_bytes;
  return fake::kSuccess;
}
#ifdef KILN_FAKE_HIP_5
FAKE_EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t* target, int device) {
  ENTER();
  return properties(target, device, 792, 396);
}
#else
FAKE_EXPORT hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_t* target, int device) {
  ENTER();
  return properties(target, device, 1472, 1160);
}
// Release 6 keeps the old layout under the old name. A caller that has the new name does not call
// this.
FAKE_EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t*, int) {
  ENTER();
  return fake::kInvalidValue;
}
#endif
FAKE_EXPORT hipError_t hipDeviceSynchronize() {
  ENTER();
  return machine().synchronize();
}

FAKE_EXPORT hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  ENTER();
  fake::Module* loaded = nullptr;
  const int status = machine().load(current(), static_cast<const char*>(image), &loaded, nullptr);
  *module = reinterpret_cast<hipModule_t>(loaded);
  return status;
}
FAKE_EXPORT hipError_t hipModuleUnload(hipModule_t module) {
  ENTER();
  return machine().unload(reinterpret_cast<fake::Module*>(module));
}
FAKE_EXPORT hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module,
                                            const char* name) {
  ENTER();
  fake::Kernel* kernel = nullptr;
  const int status =
      machine().find_function(reinterpret_cast<fake::Module*>(module), name, &kernel);
  *function = reinterpret_cast<hipFunction_t>(kernel);
  return status;
}
FAKE_EXPORT hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* bytes,
                                          hipModule_t module, const char* name) {
  ENTER();
  return machine().find_symbol(reinterpret_cast<fake::Module*>(module), name, address, bytes);
}
FAKE_EXPORT hipError_t hipLibraryLoadData(hipLibrary_t* library, const void* image, hipJitOption*,
                                          void**, unsigned int, hipLibraryOption*, void**,
                                          unsigned int) {
  ENTER();
  return machine().load(current(), static_cast<const char*>(image),
                        reinterpret_cast<fake::Module**>(library), nullptr);
}
FAKE_EXPORT hipError_t hipLibraryUnload(hipLibrary_t library) {
  ENTER();
  return machine().unload(reinterpret_cast<fake::Module*>(library));
}
FAKE_EXPORT hipError_t hipLibraryGetKernelCount(unsigned int* count, hipLibrary_t) {
  ENTER();
  *count = 2;
  return fake::kSuccess;
}
FAKE_EXPORT hipError_t hipLibraryGetKernel(hipKernel_t* kernel, hipLibrary_t library,
                                           const char* name) {
  ENTER();
  return machine().find_function(reinterpret_cast<fake::Module*>(library), name,
                                 reinterpret_cast<fake::Kernel**>(kernel));
}
FAKE_EXPORT hipError_t hipLibraryGetGlobal(hipDeviceptr_t* address, size_t* bytes,
                                           hipLibrary_t library, const char* name) {
  ENTER();
  return machine().find_symbol(reinterpret_cast<fake::Module*>(library), name, address, bytes);
}
FAKE_EXPORT hipError_t hipKernelGetFunction(hipFunction_t* function, hipKernel_t kernel) {
  ENTER();
  *function = reinterpret_cast<hipFunction_t>(kernel);
  return fake::kSuccess;
}
FAKE_EXPORT hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x,
                                             unsigned int grid_y, unsigned int grid_z,
                                             unsigned int block_x, unsigned int block_y,
                                             unsigned int block_z, unsigned int, hipStream_t stream,
                                             void** parameters, void**) {
  ENTER_ON_STREAM(stream);
  return machine().launch(current(), stream, reinterpret_cast<fake::Kernel*>(function),
                          1ULL * grid_x * grid_y * grid_z, 1ULL * block_x * block_y * block_z,
                          parameters);
}

FAKE_EXPORT hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute,
                                           hipFunction_t function) {
  ENTER();
  *value = fake::max_threads(*reinterpret_cast<fake::Kernel*>(function));
  return fake::kSuccess;
}

FAKE_EXPORT hipError_t hipMalloc(void** address, size_t bytes) {
  ENTER();
  return machine().allocate(current(), bytes, address);
}
FAKE_EXPORT hipError_t hipFree(void* address) {
  ENTER();
  return machine().release_memory(address);
}
FAKE_EXPORT hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  ENTER();
  return machine().create_pool(properties->device, reinterpret_cast<void**>(pool));
}
FAKE_EXPORT hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  ENTER();
  return machine().destroy_pool(pool);
}
FAKE_EXPORT hipError_t hipMemPoolSetAttribute(hipMemPool_t, hipMemPoolAttr attribute, void*) {
  ENTER();
  return attribute == kReleaseThreshold ? fake::kSuccess : fake::kInvalidValue;
}
FAKE_EXPORT hipError_t hipMallocFromPoolAsync(void** address, size_t bytes, hipMemPool_t pool,
                                              hipStream_t stream) {
  ENTER_ON_STREAM(stream);
  if (const int status = machine().check_pool(current(), pool); status != 0) return status;
  return machine().allocate_in_order(current(), bytes, stream, address);
}
FAKE_EXPORT hipError_t hipFreeAsync(void* address, hipStream_t stream) {
  ENTER_ON_STREAM(stream);
  return machine().release_in_order(address, stream);
}
FAKE_EXPORT hipError_t hipHostMalloc(void** address, size_t bytes, unsigned int) {
  ENTER();
  return machine().allocate_pinned(bytes, address);
}
FAKE_EXPORT hipError_t hipHostFree(void* address) {
  ENTER();
  return machine().release_pinned(address);
}
FAKE_EXPORT hipError_t hipMemcpyAsync(void* target, const void* source, size_t bytes,
                                      hipMemcpyKind kind, hipStream_t stream) {
  ENTER_ON_STREAM(stream);
  return machine().copy(current(), stream, target, kind != kDeviceToHost, source,
                        kind != kHostToDevice, bytes);
}
FAKE_EXPORT hipError_t hipMemsetAsync(void* target, int value, size_t bytes, hipStream_t stream) {
  ENTER_ON_STREAM(stream);
  return machine().fill(current(), stream, target, value, bytes);
}

FAKE_EXPORT hipError_t hipStreamCreate(hipStream_t* stream) {
  ENTER();
  return machine().create_stream(current(), reinterpret_cast<void**>(stream));
}
// Called only by tests, in the role of a program that creates its own stream.
FAKE_EXPORT hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  ENTER();
  return machine().create_stream(current(), reinterpret_cast<void**>(stream), flags);
}
FAKE_EXPORT hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags) {
  ENTER();
  return machine().stream_flags(stream, flags);
}
FAKE_EXPORT hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* captured) {
  ENTER();
  return machine().is_capturing(stream, captured);
}
FAKE_EXPORT hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  ENTER();
  return machine().exchange_capture_mode(mode);
}
FAKE_EXPORT hipError_t hipStreamDestroy(hipStream_t stream) {
  ENTER();
  return machine().destroy_stream(stream);
}
FAKE_EXPORT hipError_t hipStreamSynchronize(hipStream_t stream) {
  ENTER_ON_STREAM(stream);
  return machine().synchronize_stream(stream);
}
FAKE_EXPORT hipError_t hipEventCreate(hipEvent_t* event) {
  ENTER();
  return machine().create_event(current(), reinterpret_cast<void**>(event));
}
FAKE_EXPORT hipError_t hipEventDestroy(hipEvent_t event) {
  ENTER();
  return machine().destroy_event(event);
}
FAKE_EXPORT hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  ENTER_ON_STREAM(stream);
  return machine().record_event(event);
}
FAKE_EXPORT hipError_t hipEventSynchronize(hipEvent_t event) {
  ENTER();
  return machine().check_event(event);
}
FAKE_EXPORT hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  ENTER();
  *milliseconds = 0.5F;
  const int status = machine().check_recorded(start);
  return status != 0 ? status : machine().check_recorded(stop);
}

// Graphs, which the runtime leaves to programs.
FAKE_EXPORT hipError_t hipStreamBeginCapture(hipStream_t stream, int mode) {
  ENTER_ON_STREAM(stream);
  return machine().begin_capture(stream, mode);
}
FAKE_EXPORT hipError_t hipStreamEndCapture(hipStream_t stream, void** graph) {
  ENTER_ON_STREAM(stream);
  return machine().end_capture(stream, graph);
}
FAKE_EXPORT hipError_t hipGraphInstantiateWithFlags(void** executable, void* graph,
                                                    unsigned long long) {
  ENTER();
  return machine().instantiate(graph, executable);
}
FAKE_EXPORT hipError_t hipGraphLaunch(void* executable, hipStream_t stream) {
  ENTER_ON_STREAM(stream);
  return machine().launch_graph(executable);
}
FAKE_EXPORT hipError_t hipGraphExecDestroy(void* executable) {
  ENTER();
  return machine().destroy_graph(executable);
}
FAKE_EXPORT hipError_t hipGraphDestroy(void* graph) {
  ENTER();
  return machine().destroy_graph(graph);
}

}  // namespace kiln::runtime::hip
