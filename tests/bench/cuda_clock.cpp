#include "tests/bench/cuda_clock.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"

namespace kiln::bench {
namespace {

// The driver's types, as in cuda.h since CUDA 4.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using Handle = void*;  // context, module, function, stream, event or graph
constexpr int kCaptureRelaxed = 2;

// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, and what a function has without asking.
constexpr int kMaxDynamicShared = 8;
constexpr unsigned kGrantedShared = 48 * 1024;

struct Symbols {
  CUresult (*init)(unsigned flags);
  CUresult (*error_name)(CUresult, const char** text);
  CUresult (*device_get)(CUdevice*, int ordinal);
  CUresult (*primary_retain)(Handle* context, CUdevice);
  CUresult (*primary_release)(CUdevice);
  CUresult (*set_current)(Handle context);
  CUresult (*module_load)(Handle* module, const void* image);
  CUresult (*module_unload)(Handle module);
  CUresult (*get_function)(Handle* function, Handle module, const char* name);
  CUresult (*set_attribute)(Handle function, int attribute, int value);
  CUresult (*launch)(Handle function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned shared_bytes, Handle stream, void** arguments, void** extra);
  CUresult (*copy)(CUdeviceptr target, CUdeviceptr source, std::size_t, Handle stream);
  CUresult (*event_create)(Handle* event, unsigned flags);
  CUresult (*event_destroy)(Handle event);
  CUresult (*event_record)(Handle event, Handle stream);
  CUresult (*event_synchronize)(Handle event);
  CUresult (*event_elapsed)(float* milliseconds, Handle start, Handle end);
  CUresult (*begin_capture)(Handle stream, int mode);
  CUresult (*end_capture)(Handle stream, Handle* graph);
  CUresult (*instantiate)(Handle* executable, Handle graph, unsigned long long flags);
  CUresult (*graph_launch)(Handle executable, Handle stream);
  CUresult (*graph_destroy)(Handle graph);
  CUresult (*executable_destroy)(Handle executable);
  CUresult (*stream_synchronize)(Handle stream);
};

// ISA 7.0 and sm_80: every driver of recent years compiles this for every GPU since sm_80.
constexpr const char* kPtx = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry nothing() { ret; }

.visible .entry copy16(.param .u64 target, .param .u64 source, .param .u64 items)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %d<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %d1, %r1, %r2;
  cvt.u64.u32 %d2, %r3;
  add.u64 %d1, %d1, %d2;
  ld.param.u64 %d3, [items];
  setp.ge.u64 %p, %d1, %d3;
  @%p ret;
  shl.b64 %d1, %d1, 4;
  ld.param.u64 %d4, [source];
  ld.param.u64 %d5, [target];
  add.u64 %d4, %d4, %d1;
  add.u64 %d5, %d5, %d1;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d4];
  st.global.v4.u32 [%d5], {%r4, %r5, %r6, %r7};
  ret;
}

// Four pieces of 16 bytes a thread, a block of threads apart. The result is written where the
// pieces give one number by chance.
.visible .entry read64(.param .u64 target, .param .u64 source, .param .u64 items)
{
  .reg .pred %p<6>;
  .reg .b32 %r<24>;
  .reg .b64 %d<8>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d1, %r1, 1024;
  cvt.u64.u32 %d2, %r2;
  add.u64 %d1, %d1, %d2;
  ld.param.u64 %d3, [items];
  ld.param.u64 %d4, [source];
  ld.param.u64 %d5, [target];
  shl.b64 %d6, %d1, 4;
  add.u64 %d4, %d4, %d6;
  mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0;
  mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u32 %r10, 0; mov.u32 %r11, 0;
  mov.u32 %r12, 0; mov.u32 %r13, 0; mov.u32 %r14, 0; mov.u32 %r15, 0;
  mov.u32 %r16, 0; mov.u32 %r17, 0; mov.u32 %r18, 0; mov.u32 %r19, 0;
  setp.lt.u64 %p1, %d1, %d3;
  add.u64 %d1, %d1, 256;
  setp.lt.u64 %p2, %d1, %d3;
  add.u64 %d1, %d1, 256;
  setp.lt.u64 %p3, %d1, %d3;
  add.u64 %d1, %d1, 256;
  setp.lt.u64 %p4, %d1, %d3;
  @%p1 ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d4];
  @%p2 ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%d4 + 4096];
  @%p3 ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%d4 + 8192];
  @%p4 ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%d4 + 12288];
  add.u32 %r4, %r4, %r5; xor.b32 %r6, %r6, %r7; add.u32 %r8, %r8, %r9; xor.b32 %r10, %r10, %r11;
  add.u32 %r12, %r12, %r13; xor.b32 %r14, %r14, %r15; add.u32 %r16, %r16, %r17; xor.b32 %r18, %r18, %r19;
  xor.b32 %r4, %r4, %r6; add.u32 %r8, %r8, %r10; xor.b32 %r12, %r12, %r14; add.u32 %r16, %r16, %r18;
  add.u32 %r4, %r4, %r8; xor.b32 %r12, %r12, %r16; add.u32 %r4, %r4, %r12;
  setp.eq.u32 %p5, %r4, 0x9e3779b9;
  @%p5 st.global.u32 [%d5], %r4;
  ret;
}
)";

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

struct CudaClock::State {
  void* library = nullptr;
  Symbols cuda{};
  CUdevice device = 0;
  Handle context = nullptr, module = nullptr, nothing = nullptr, copy16 = nullptr, read64 = nullptr;
  Handle start = nullptr, end = nullptr;
  std::vector<Handle> loaded;  // modules
  std::vector<Handle> marks;   // events between the samples of several works

  ~State() {
    for (const Handle mark : marks) cuda.event_destroy(mark);
    for (const Handle each : loaded) cuda.module_unload(each);
    if (start != nullptr) cuda.event_destroy(start);
    if (end != nullptr) cuda.event_destroy(end);
    if (module != nullptr) cuda.module_unload(module);
    if (context != nullptr) cuda.primary_release(device);
    if (library != nullptr) dlclose(library);
  }

  Result<void> check(CUresult result, const char* call) const {
    if (result == 0) return {};
    const char* name = nullptr;
    if (cuda.error_name != nullptr) cuda.error_name(result, &name);
    return Error{ErrorCode::kDriver,
                 std::string(call) + ": " + (name != nullptr ? name : std::to_string(result)),
                 {},
                 {}};
  }

  Result<void> find_symbols() {
    std::string missing;
    const auto find = [&](auto& target, const char* name) {
      target = reinterpret_cast<std::remove_reference_t<decltype(target)>>(dlsym(library, name));
      if (target == nullptr) missing += std::string(missing.empty() ? "" : ", ") + name;
    };
    find(cuda.init, "cuInit");
    find(cuda.error_name, "cuGetErrorName");
    find(cuda.device_get, "cuDeviceGet");
    find(cuda.primary_retain, "cuDevicePrimaryCtxRetain");
    find(cuda.primary_release, "cuDevicePrimaryCtxRelease_v2");
    find(cuda.set_current, "cuCtxSetCurrent");
    find(cuda.module_load, "cuModuleLoadData");
    find(cuda.module_unload, "cuModuleUnload");
    find(cuda.get_function, "cuModuleGetFunction");
    find(cuda.set_attribute, "cuFuncSetAttribute");
    find(cuda.launch, "cuLaunchKernel");
    find(cuda.copy, "cuMemcpyDtoDAsync_v2");
    find(cuda.event_create, "cuEventCreate");
    find(cuda.event_destroy, "cuEventDestroy_v2");
    find(cuda.event_record, "cuEventRecord");
    find(cuda.event_synchronize, "cuEventSynchronize");
    find(cuda.event_elapsed, "cuEventElapsedTime");
    find(cuda.begin_capture, "cuStreamBeginCapture_v2");
    find(cuda.end_capture, "cuStreamEndCapture");
    find(cuda.instantiate, "cuGraphInstantiateWithFlags");
    find(cuda.graph_launch, "cuGraphLaunch");
    find(cuda.graph_destroy, "cuGraphDestroy");
    find(cuda.executable_destroy, "cuGraphExecDestroy");
    find(cuda.stream_synchronize, "cuStreamSynchronize");
    if (missing.empty()) return {};
    return Error{ErrorCode::kUnavailable, "libcuda.so.1 lacks " + missing, {}, {}};
  }

  // Returns the microseconds of one run of `batch`, which puts work on the stream.
  Result<double> time_once(Handle stream, const std::function<Result<void>()>& batch) const {
    KILN_TRY(check(cuda.event_record(start, stream), "cuEventRecord"));
    KILN_TRY(batch());
    KILN_TRY(check(cuda.event_record(end, stream), "cuEventRecord"));
    KILN_TRY(check(cuda.event_synchronize(end), "cuEventSynchronize"));
    float milliseconds = 0;
    KILN_TRY(check(cuda.event_elapsed(&milliseconds, start, end), "cuEventElapsedTime"));
    return 1000.0 * static_cast<double>(milliseconds);
  }

  // Estimates the microseconds of a piece. Several short pieces are run, because the latency of a
  // single launch is longer than a short piece. Works of the same length must have the same number
  // of pieces, and so of places in memory, or the cache would hold more of one than of another.
  Result<double> estimate_us(Handle stream, std::size_t pieces, const Work& work) const {
    KILN_TRY_ASSIGN(const double one_us, time_once(stream, [&] { return work(1); }));
    const std::size_t count = std::min<std::size_t>(pieces, 32);
    if (one_us > 50) return one_us;
    KILN_TRY_ASSIGN(const double all_us, time_once(stream, [&]() -> Result<void> {
                      for (std::size_t i = 0; i < count; ++i) KILN_TRY(work(i));
                      return {};
                    }));
    return all_us / static_cast<double>(count);
  }

  // Runs a work once before it is captured: what a first launch does in addition (loading a module,
  // copying a layout) cannot be captured.
  Result<void> run_first(StreamRef stream, const Work& work) const {
    KILN_TRY(work(0));
    return check(cuda.stream_synchronize(stream.native()), "cuStreamSynchronize");
  }

  // Returns a graph of `pieces` pieces, ready to launch.
  Result<Handle> instantiate(StreamRef stream, std::size_t pieces, const Work& work) const {
    KILN_TRY(check(cuda.begin_capture(stream.native(), kCaptureRelaxed), "cuStreamBeginCapture"));
    Result<void> captured;
    for (std::size_t i = 0; i < pieces && captured; ++i) captured = work(i);
    Handle graph = nullptr, executable = nullptr;
    KILN_TRY(check(cuda.end_capture(stream.native(), &graph), "cuStreamEndCapture"));
    Result<void> done =
        captured ? check(cuda.instantiate(&executable, graph, 0), "cuGraphInstantiateWithFlags")
                 : std::move(captured);
    cuda.graph_destroy(graph);
    KILN_TRY(std::move(done));
    return executable;
  }

  // Launches the graphs in turns for `rounds` rounds, each of which begins with another graph,
  // without waiting in between, so that the device never idles. Adds the microseconds of each graph
  // to its `samples`.
  Result<void> run_interleaved(Handle stream, const std::vector<Handle>& graphs, std::size_t rounds,
                               std::vector<std::vector<double>>& samples) {
    while (marks.size() < rounds * graphs.size() + 1) {
      Handle mark = nullptr;
      KILN_TRY(check(cuda.event_create(&mark, 0), "cuEventCreate"));
      marks.push_back(mark);
    }
    // This launch is not measured. While it runs, the host gets ahead of the device.
    KILN_TRY(check(cuda.graph_launch(graphs[0], stream), "cuGraphLaunch"));
    KILN_TRY(check(cuda.event_record(marks[0], stream), "cuEventRecord"));
    const auto graph_at = [&](std::size_t step) {
      return (step / graphs.size() + step) % graphs.size();
    };
    const std::size_t steps = rounds * graphs.size();
    for (std::size_t step = 0; step < steps; ++step) {
      KILN_TRY(check(cuda.graph_launch(graphs[graph_at(step)], stream), "cuGraphLaunch"));
      KILN_TRY(check(cuda.event_record(marks[step + 1], stream), "cuEventRecord"));
    }
    KILN_TRY(check(cuda.stream_synchronize(stream), "cuStreamSynchronize"));
    for (std::size_t step = 0; step < steps; ++step) {
      float milliseconds = 0;
      KILN_TRY(check(cuda.event_elapsed(&milliseconds, marks[step], marks[step + 1]),
                     "cuEventElapsedTime"));
      samples[graph_at(step)].push_back(1000.0 * static_cast<double>(milliseconds));
    }
    return {};
  }

  Result<double> median_us(Handle stream, const Plan& plan,
                           const std::function<Result<void>()>& batch) const {
    std::vector<double> samples;
    // Warms clocks and caches.
    for (std::size_t i = 0; i < 3; ++i) KILN_TRY(time_once(stream, batch));
    for (std::size_t i = 0; i < plan.samples; ++i) {
      KILN_TRY_ASSIGN(const double us, time_once(stream, batch));
      samples.push_back(us / static_cast<double>(plan.pieces));
    }
    return median(std::move(samples));
  }
};

CudaClock::CudaClock(std::unique_ptr<State> state) : state_(std::move(state)) {}
CudaClock::CudaClock(CudaClock&&) noexcept = default;
CudaClock& CudaClock::operator=(CudaClock&&) noexcept = default;
CudaClock::~CudaClock() = default;

Result<CudaClock> CudaClock::open(int ordinal) {
  auto state = std::make_unique<State>();
  state->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (state->library == nullptr) return Error{ErrorCode::kUnavailable, dlerror(), {}, {}};
  KILN_TRY(state->find_symbols());
  const Symbols& cuda = state->cuda;
  KILN_TRY(state->check(cuda.init(0), "cuInit"));
  KILN_TRY(state->check(cuda.device_get(&state->device, ordinal), "cuDeviceGet"));
  KILN_TRY(state->check(cuda.primary_retain(&state->context, state->device),
                        "cuDevicePrimaryCtxRetain"));
  KILN_TRY(state->check(cuda.set_current(state->context), "cuCtxSetCurrent"));
  KILN_TRY(state->check(cuda.module_load(&state->module, kPtx), "cuModuleLoadData"));
  KILN_TRY(state->check(cuda.get_function(&state->nothing, state->module, "nothing"),
                        "cuModuleGetFunction"));
  KILN_TRY(state->check(cuda.get_function(&state->copy16, state->module, "copy16"),
                        "cuModuleGetFunction"));
  KILN_TRY(state->check(cuda.get_function(&state->read64, state->module, "read64"),
                        "cuModuleGetFunction"));
  KILN_TRY(state->check(cuda.event_create(&state->start, 0), "cuEventCreate"));
  KILN_TRY(state->check(cuda.event_create(&state->end, 0), "cuEventCreate"));
  return CudaClock(std::move(state));
}

Result<double> CudaClock::graph_us(StreamRef stream, const Plan& plan, const Work& work) const {
  const State& state = *state_;
  KILN_TRY(state.run_first(stream, work));
  KILN_TRY_ASSIGN(const Handle graph, state.instantiate(stream, plan.pieces, work));
  Result<double> measured = state.median_us(stream.native(), plan, [&] {
    return state.check(state.cuda.graph_launch(graph, stream.native()), "cuGraphLaunch");
  });
  state.cuda.executable_destroy(graph);
  return measured;
}

Result<std::vector<double>> CudaClock::graphs_us(StreamRef stream, const Plan& plan,
                                                 double budget_us,
                                                 const std::vector<Work>& works) const {
  State& state = *state_;
  struct Graphs {
    const Symbols& cuda;
    std::vector<Handle> list;
    ~Graphs() {
      for (const Handle each : list) cuda.executable_destroy(each);
    }
  } graphs{state.cuda, {}};
  std::vector<double> pieces;
  for (const Work& work : works) {
    KILN_TRY(state.run_first(stream, work));
    KILN_TRY_ASSIGN(const double one_us, state.estimate_us(stream.native(), plan.pieces, work));
    const auto target = static_cast<std::size_t>(kSampleUs / one_us);
    const std::size_t min_pieces = one_us < kSampleUs ? std::min<std::size_t>(plan.pieces, 4) : 1;
    const std::size_t count = std::clamp(target, min_pieces, plan.pieces);
    KILN_TRY_ASSIGN(const Handle graph, state.instantiate(stream, count, work));
    graphs.list.push_back(graph);
    pieces.push_back(static_cast<double>(count));
  }
  std::vector<std::vector<double>> samples(works.size());
  KILN_TRY(
      state.run_interleaved(stream.native(), graphs.list, 1, samples));  // warms clocks and caches
  double round_us = 0;
  for (std::vector<double>& each : samples) {
    round_us += each.back();
    each.clear();
  }
  const auto affordable = static_cast<std::size_t>(budget_us / round_us);
  const std::size_t rounds = std::min(plan.samples, std::max(kMinSamples, affordable));
  KILN_TRY(state.run_interleaved(stream.native(), graphs.list,
                                 round_us < 3 * budget_us ? rounds : 1, samples));
  std::vector<double> medians;
  for (std::size_t i = 0; i < works.size(); ++i) {
    medians.push_back(median(std::move(samples[i])) / pieces[i]);
  }
  return medians;
}

Result<double> CudaClock::stream_us(StreamRef stream, const Plan& plan, const Work& work) const {
  return state_->median_us(stream.native(), plan, [&]() -> Result<void> {
    for (std::size_t i = 0; i < plan.pieces; ++i) KILN_TRY(work(i));
    return {};
  });
}

Result<void> CudaClock::copy(StreamRef stream, void* target, const void* source,
                             std::size_t bytes) const {
  return state_->check(state_->cuda.copy(address(target), address(source), bytes, stream.native()),
                       "cuMemcpyDtoDAsync");
}

Result<void> CudaClock::copy_by_kernel(StreamRef stream, void* target, const void* source,
                                       std::size_t bytes) const {
  constexpr unsigned kThreads = 256;
  std::size_t items = bytes / 16;
  void* arguments[] = {&target, &source, &items};
  const unsigned blocks = static_cast<unsigned>((items + kThreads - 1) / kThreads);
  return state_->check(state_->cuda.launch(state_->copy16, blocks, 1, 1, kThreads, 1, 1, 0,
                                           stream.native(), arguments, nullptr),
                       "cuLaunchKernel");
}

Result<void> CudaClock::read_by_kernel(StreamRef stream, void* target, const void* source,
                                       std::size_t bytes) const {
  constexpr unsigned kThreads = 256, kItems = 4 * kThreads;
  std::size_t items = bytes / 16;
  void* arguments[] = {&target, &source, &items};
  const unsigned blocks = static_cast<unsigned>((items + kItems - 1) / kItems);
  return state_->check(state_->cuda.launch(state_->read64, blocks, 1, 1, kThreads, 1, 1, 0,
                                           stream.native(), arguments, nullptr),
                       "cuLaunchKernel");
}

Result<void> CudaClock::launch_nothing(StreamRef stream, Dim3 grid, Dim3 block) const {
  return state_->check(state_->cuda.launch(state_->nothing, grid.x, grid.y, grid.z, block.x,
                                           block.y, block.z, 0, stream.native(), nullptr, nullptr),
                       "cuLaunchKernel");
}

Result<void*> CudaClock::load_module(const void* image) {
  Handle module = nullptr;
  KILN_TRY(state_->check(state_->cuda.module_load(&module, image), "cuModuleLoadData"));
  state_->loaded.push_back(module);
  return module;
}

Result<void*> CudaClock::find_function(void* module, const std::string& kernel) const {
  Handle function = nullptr;
  KILN_TRY(state_->check(state_->cuda.get_function(&function, module, kernel.c_str()),
                         ("cuModuleGetFunction of '" + kernel + "'").c_str()));
  return function;
}

Result<void> CudaClock::launch(StreamRef stream, void* function, Dim3 grid, Dim3 block,
                               unsigned shared_bytes, const void* const* arguments) const {
  if (shared_bytes > kGrantedShared) {
    KILN_TRY(state_->check(
        state_->cuda.set_attribute(function, kMaxDynamicShared, static_cast<int>(shared_bytes)),
        "cuFuncSetAttribute"));
  }
  return state_->check(
      state_->cuda.launch(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes,
                          stream.native(), const_cast<void**>(arguments), nullptr),
      "cuLaunchKernel");
}

}  // namespace kiln::bench
