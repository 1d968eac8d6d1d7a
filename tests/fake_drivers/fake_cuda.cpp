// A libcuda that drives a fake machine. Every function of cuda_symbols.def is declared from the
// table and defined here. A missing function, or one with other parameters, does not build.
// CMakeLists.txt makes older versions from this file, by renaming the functions that they lack.
#include <atomic>
#include <cstring>

#include "runtime/src/cuda_types.hpp"
#include "tests/fake_drivers/machine_state.hpp"

kiln::fake::Script kiln::fake::default_script() {
  Script script;
  script.devices = {{.name = "Fake H200", .arch = "90"}};
  script.version = 12080;
  return script;
}

namespace kiln::runtime::cuda {

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))
#define KILN_CUDA_SYMBOL(presence, name, exported, parameters) \
  FAKE_EXPORT CUresult exported parameters;
#include "runtime/src/cuda_symbols.def"

// References every function, so that an undefined one fails to link with -z defs.
extern const void* const kEveryFunction[];
const void* const kEveryFunction[] = {
#define KILN_CUDA_SYMBOL(presence, name, exported, parameters) \
  reinterpret_cast<const void*>(&exported),
#include "runtime/src/cuda_symbols.def"
};

namespace {

using fake::machine;

// The handle of a primary context is the number of its device plus one. A context that a caller
// creates also has its own number in the bits above. Each thread has its own current context.
CUcontext& current_context() {
  thread_local CUcontext context = nullptr;
  thread_local unsigned generation = 0;
  if (generation != machine().generation()) context = nullptr;
  generation = machine().generation();
  return context;
}
CUcontext context_of(CUdevice device) {
  return reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
}
constexpr std::uintptr_t kDeviceMask = 0xff;
int current() {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(current_context()) & kDeviceMask) - 1;
}
void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}
CUdeviceptr address(void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace

#define ENTER() \
  if (const int status = machine().enter(__func__); status != 0) return status
#define ENTER_IN_CONTEXT() \
  ENTER();                 \
  if (current_context() == nullptr) return fake::kInvalidContext

FAKE_EXPORT CUresult cuInit(unsigned int) {
  ENTER();
  return machine().device_count() == 0 ? fake::kNoDevice : fake::kSuccess;
}
FAKE_EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = fake::status_name(error, "CUDA_ERROR_", false);
  return *name != nullptr ? fake::kSuccess : fake::kInvalidValue;
}
FAKE_EXPORT CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = fake::status_text(error);
  return *text != nullptr ? fake::kSuccess : fake::kInvalidValue;
}
FAKE_EXPORT CUresult cuDriverGetVersion(int* version) {
  ENTER();
  *version = machine().script().version;
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuDeviceGetCount(int* count) {
  ENTER();
  *count = machine().device_count();
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  ENTER();
  *device = ordinal;
  return machine().valid_device(ordinal) ? fake::kSuccess : fake::kInvalidValue;
}
FAKE_EXPORT CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  ENTER();
  const std::string& text = machine().script().devices[static_cast<std::size_t>(device)].name;
  std::strncpy(name, text.c_str(), static_cast<std::size_t>(size));
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                          CUdevice device) {
  ENTER();
  const fake::DeviceScript& script = machine().script().devices[static_cast<std::size_t>(device)];
  const int capability = std::stoi(script.arch);
  switch (attribute) {
    case kCapabilityMajor: *value = capability / 10; break;
    case kCapabilityMinor: *value = capability % 10; break;
    case kWarpSize: *value = script.wave_width; break;
    case kMultiprocessorCount: *value = 132; break;
    case kMaxThreadsPerBlock: *value = 1024; break;
    case kMaxSharedPerBlock: *value = 48 * 1024; break;
    case kMaxSharedPerBlockOptin: *value = 227 * 1024; break;
    case kMemoryPoolsSupported: *value = machine().script().has_pools ? 1 : 0; break;
    default: return fake::kInvalidValue;
  }
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  ENTER();
  *bytes = machine().script().devices[static_cast<std::size_t>(device)].memory_bytes;
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ENTER();
  machine().retain(device);
  *context = context_of(device);
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ENTER();
  return machine().release(device);
}
FAKE_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  ENTER();
  *context = current_context();
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER();
  current_context() = context;
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
  ENTER_IN_CONTEXT();
  *device = current();
  return fake::kSuccess;
}
// Called only by tests, in the role of a program that creates its own context.
FAKE_EXPORT CUresult cuCtxCreate_v2(CUcontext* context, unsigned int, CUdevice device) {
  static std::atomic<std::uintptr_t> made{0};
  *context = reinterpret_cast<CUcontext>(reinterpret_cast<std::uintptr_t>(context_of(device)) |
                                         (++made * (kDeviceMask + 1)));
  current_context() = *context;
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  if (current_context() == context) current_context() = nullptr;
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuCtxSynchronize() {
  ENTER_IN_CONTEXT();
  return machine().synchronize();
}

namespace {

CUresult load(fake::Module** module, const void* image, unsigned int count, CUjit_option* options,
              void** values) {
  std::string log;
  const int status = machine().load(current(), static_cast<const char*>(image), module, &log);
  char* buffer = nullptr;
  std::size_t size = 0;
  for (unsigned int i = 0; i < count; ++i) {
    if (options[i] == kErrorLogBuffer) buffer = static_cast<char*>(values[i]);
    if (options[i] == kErrorLogBufferSize) size = reinterpret_cast<std::uintptr_t>(values[i]);
  }
  if (buffer != nullptr && size > 0) {
    log.resize(std::min(log.size(), size - 1));
    std::memcpy(buffer, log.c_str(), log.size() + 1);
  }
  return status;
}

}  // namespace

FAKE_EXPORT CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count,
                                        CUjit_option* options, void** values) {
  ENTER_IN_CONTEXT();
  return load(reinterpret_cast<fake::Module**>(module), image, count, options, values);
}
FAKE_EXPORT CUresult cuModuleUnload(CUmodule module) {
  ENTER_IN_CONTEXT();
  return machine().unload(reinterpret_cast<fake::Module*>(module));
}
FAKE_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ENTER_IN_CONTEXT();
  fake::Kernel* kernel = nullptr;
  const int status =
      machine().find_function(reinterpret_cast<fake::Module*>(module), name, &kernel);
  *function = reinterpret_cast<CUfunction>(kernel);
  return status;
}
FAKE_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr* where, size_t* bytes, CUmodule module,
                                          const char* name) {
  ENTER_IN_CONTEXT();
  void* memory = nullptr;
  const int status =
      machine().find_symbol(reinterpret_cast<fake::Module*>(module), name, &memory, bytes);
  *where = address(memory);
  return status;
}
FAKE_EXPORT CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                        CUfunction function) {
  ENTER_IN_CONTEXT();
  fake::Kernel& kernel = *reinterpret_cast<fake::Kernel*>(function);
  *value = fake::kStaticShared;
  if (attribute == kMaxThreads) *value = fake::max_threads(kernel);
  if (attribute == kMaxDynamicShared) *value = machine().dynamic_shared_limit(kernel);
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute, int value) {
  ENTER_IN_CONTEXT();
  if (value > 226 * 1024) return fake::kInvalidValue;
  machine().set_dynamic_shared_limit(*reinterpret_cast<fake::Kernel*>(function), value);
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuFuncLoad(CUfunction) {
  ENTER_IN_CONTEXT();
  return fake::kSuccess;
}
FAKE_EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset,
                                        size_t* size) {
  ENTER_IN_CONTEXT();
  return machine().parameter(reinterpret_cast<fake::Kernel*>(function), index, offset, size);
}
FAKE_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                    unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                    unsigned int block_z, unsigned int shared, CUstream stream,
                                    void** parameters, void**) {
  ENTER_IN_CONTEXT();
  if (const int status = machine().check_stream(current(), stream); status != 0) return status;
  const int limit = machine().dynamic_shared_limit(*reinterpret_cast<fake::Kernel*>(function));
  if (shared > static_cast<unsigned>(limit)) return fake::kInvalidValue;
  return machine().launch(current(), stream, reinterpret_cast<fake::Kernel*>(function),
                          1ULL * grid_x * grid_y * grid_z, 1ULL * block_x * block_y * block_z,
                          parameters);
}

FAKE_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* where, size_t bytes) {
  ENTER_IN_CONTEXT();
  void* memory = nullptr;
  const int status = machine().allocate(current(), bytes, &memory);
  *where = address(memory);
  return status;
}
FAKE_EXPORT CUresult cuMemFree_v2(CUdeviceptr where) {
  ENTER_IN_CONTEXT();
  return machine().release_memory(pointer(where));
}
FAKE_EXPORT CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  ENTER();
  return machine().create_pool(properties->device, reinterpret_cast<void**>(pool));
}
FAKE_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  ENTER();
  return machine().destroy_pool(pool);
}
FAKE_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute attribute, void*) {
  ENTER();
  return attribute == kReleaseThreshold ? fake::kSuccess : fake::kInvalidValue;
}
FAKE_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* where, size_t bytes, CUmemoryPool pool,
                                             CUstream stream) {
  ENTER_IN_CONTEXT();
  if (const int status = machine().check_pool(current(), pool); status != 0) return status;
  if (const int status = machine().check_stream(current(), stream); status != 0) return status;
  void* memory = nullptr;
  const int status = machine().allocate_in_order(current(), bytes, stream, &memory);
  *where = address(memory);
  return status;
}
FAKE_EXPORT CUresult cuMemFreeAsync(CUdeviceptr where, CUstream stream) {
  ENTER_IN_CONTEXT();
  if (const int status = machine().check_stream(current(), stream); status != 0) return status;
  return machine().release_in_order(pointer(where), stream);
}
FAKE_EXPORT CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned int) {
  ENTER_IN_CONTEXT();
  return machine().allocate_pinned(bytes, memory);
}
FAKE_EXPORT CUresult cuMemFreeHost(void* memory) {
  ENTER_IN_CONTEXT();
  return machine().release_pinned(memory);
}
FAKE_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, size_t bytes,
                                          CUstream stream) {
  ENTER_IN_CONTEXT();
  if (const int status = machine().check_stream(current(), stream); status != 0) return status;
  return machine().copy(current(), stream, pointer(target), true, source, false, bytes);
}
FAKE_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, size_t bytes,
                                          CUstream stream) {
  ENTER_IN_CONTEXT();
  if (const int status = machine().check_stream(current(), stream); status != 0) return status;
  return machine().copy(current(), stream, target, false, pointer(source), true, bytes);
}
FAKE_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                          CUstream stream) {
  ENTER_IN_CONTEXT();
  if (const int status = machine().check_stream(current(), stream); status != 0) return status;
  return machine().copy(current(), stream, pointer(target), true, pointer(source), true, bytes);
}
FAKE_EXPORT CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes,
                                     CUstream stream) {
  ENTER_IN_CONTEXT();
  if (const int status = machine().check_stream(current(), stream); status != 0) return status;
  return machine().fill(current(), stream, pointer(target), value, bytes);
}

FAKE_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  ENTER_IN_CONTEXT();
  return machine().create_stream(current(), reinterpret_cast<void**>(stream), flags);
}
FAKE_EXPORT CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags) {
  ENTER_IN_CONTEXT();
  return machine().stream_flags(stream, flags);
}
FAKE_EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* captured) {
  ENTER_IN_CONTEXT();
  return machine().is_capturing(stream, captured);
}
FAKE_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  ENTER();
  return machine().exchange_capture_mode(mode);
}
FAKE_EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER_IN_CONTEXT();
  return machine().destroy_stream(stream);
}
FAKE_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  ENTER_IN_CONTEXT();
  if (const int status = machine().check_stream(current(), stream); status != 0) return status;
  return machine().synchronize_stream(stream);
}
FAKE_EXPORT CUresult cuEventCreate(CUevent* event, unsigned int) {
  ENTER_IN_CONTEXT();
  return machine().create_event(current(), reinterpret_cast<void**>(event));
}
FAKE_EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  ENTER_IN_CONTEXT();
  return machine().destroy_event(event);
}
FAKE_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  ENTER_IN_CONTEXT();
  if (const int status = machine().check_stream(current(), stream); status != 0) return status;
  return machine().record_event(event);
}
FAKE_EXPORT CUresult cuEventSynchronize(CUevent event) {
  ENTER_IN_CONTEXT();
  return machine().check_event(event);
}
FAKE_EXPORT CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent stop) {
  ENTER_IN_CONTEXT();
  *milliseconds = 0.5F;
  const int status = machine().check_recorded(start);
  return status != 0 ? status : machine().check_recorded(stop);
}

// Graphs, which the runtime leaves to programs.
FAKE_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  ENTER_IN_CONTEXT();
  return machine().begin_capture(stream, mode);
}
FAKE_EXPORT CUresult cuStreamEndCapture(CUstream stream, void** graph) {
  ENTER_IN_CONTEXT();
  return machine().end_capture(stream, graph);
}
FAKE_EXPORT CUresult cuGraphInstantiateWithFlags(void** executable, void* graph,
                                                 unsigned long long) {
  ENTER_IN_CONTEXT();
  return machine().instantiate(graph, executable);
}
FAKE_EXPORT CUresult cuGraphLaunch(void* executable, CUstream) {
  ENTER_IN_CONTEXT();
  return machine().launch_graph(executable);
}
FAKE_EXPORT CUresult cuGraphExecDestroy(void* executable) {
  ENTER();
  return machine().destroy_graph(executable);
}
FAKE_EXPORT CUresult cuGraphDestroy(void* graph) {
  ENTER();
  return machine().destroy_graph(graph);
}

}  // namespace kiln::runtime::cuda
