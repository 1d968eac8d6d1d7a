// Records several launches into a CUDA or HIP graph, and replays it: the driver then starts them
// all for the price of about one. Graphs are the vendor's own; kiln's launches go into them like
// any other.
//
// Two rules: while a stream is captured nothing may be loaded or allocated, so prepare() first; and
// the buffers must live as long as the graph.
//
// The host runs a launch before the call returns, so there is nothing to record: there the example
// launches directly.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "kiln/ops.hpp"
#include "kiln/runtime.hpp"

namespace {

constexpr std::size_t kRows = 64, kColumns = 48;
constexpr int kReplays = 10;

// The vendor's functions, from the library that kiln has opened.
class Graphs {
 public:
  explicit Graphs(const kiln::BackendStatus& backend)
      : library_(dlopen(backend.library.c_str(), RTLD_NOW)),
        is_cuda_(backend.backend == kiln::Backend::kCuda) {}

  // Records what `work` puts on the stream, and runs it `times` times. Returns the vendor's status,
  // 0 for success.
  int replay(void* stream, int times, const std::function<kiln::Result<void>()>& work) const {
    void *graph = nullptr, *runnable = nullptr;
    if (is_cuda_) {
      // These functions want a current context; kiln leaves none behind.
      void* context = nullptr;
      call("cuDevicePrimaryCtxRetain", &context, 0);
      call("cuCtxSetCurrent", context);
    }
    int status = call(is_cuda_ ? "cuStreamBeginCapture_v2" : "hipStreamBeginCapture", stream, 0);
    if (status != 0) return status;
    const auto recorded = work();
    status = call(is_cuda_ ? "cuStreamEndCapture" : "hipStreamEndCapture", stream, &graph);
    if (!recorded) std::fprintf(stderr, "%s\n", recorded.error().message.c_str());
    if (status != 0 || !recorded) return status != 0 ? status : -1;
    status = is_cuda_ ? call("cuGraphInstantiateWithFlags", &runnable, graph, 0ULL)
                      : call("hipGraphInstantiateWithFlags", &runnable, graph, 0ULL);
    for (int i = 0; i < times && status == 0; ++i) {
      status = call(is_cuda_ ? "cuGraphLaunch" : "hipGraphLaunch", runnable, stream);
    }
    if (status == 0)
      status = call(is_cuda_ ? "cuStreamSynchronize" : "hipStreamSynchronize", stream);
    if (runnable != nullptr)
      call(is_cuda_ ? "cuGraphExecDestroy" : "hipGraphExecDestroy", runnable);
    call(is_cuda_ ? "cuGraphDestroy" : "hipGraphDestroy", graph);
    if (is_cuda_) {
      call("cuCtxSetCurrent", static_cast<void*>(nullptr));
      call("cuDevicePrimaryCtxRelease_v2", 0);
    }
    return status;
  }

 private:
  template <typename... Arguments>
  int call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
    return function != nullptr ? function(arguments...) : -1;
  }
  void* library_;
  bool is_cuda_;
};

int fail(const kiln::Error& error) {
  std::fprintf(stderr, "graph_capture: %s\n", error.message.c_str());
  for (const kiln::Note& note : error.notes) std::fprintf(stderr, "  %s\n", note.text.c_str());
  return 1;
}

}  // namespace

int main() {
  const auto runtime = kiln::Runtime::open();
  if (!runtime) return fail(runtime.error());
  const auto device = runtime->default_device();
  if (!device) return fail(device.error());
  const auto stream = device->create_stream();
  if (!stream) return fail(stream.error());
  const kiln::ops::Launcher launcher(*device, *stream);

  // y = x / 2 + 1 of a transposed matrix, then x = y: each replay starts from what the last one
  // left.
  const std::vector<float> zeros(kRows * kColumns);
  const auto x = device->upload(zeros);
  const auto y = device->upload(zeros);
  if (!x || !y) return fail(x ? y.error() : x.error());
  kiln::ops::Affine halve;
  halve.layout = {{kRows, kColumns}, {1, kRows}};  // sizes and strides
  halve.inp = x->data();
  halve.out = y->data();
  halve.mul = kiln::ops::Scalar::from(kiln::ops::DType::kF32, 0.5);
  halve.add = kiln::ops::Scalar::from(kiln::ops::DType::kF32, 1.0);

  if (const auto ready = launcher.prepare(halve); !ready) return fail(ready.error());
  const auto work = [&]() -> kiln::Result<void> {
    auto launched = launcher.launch(halve);
    if (!launched) return launched;
    return device->copy_on_device(x->data(), y->data(), x->size(), *stream);
  };

  const kiln::Backend backend = device->info().backend;
  if (backend == kiln::Backend::kCuda || backend == kiln::Backend::kHip) {
    for (const kiln::BackendStatus& status : runtime->backends()) {
      if (status.backend != backend) continue;
      const int failed = Graphs(status).replay(stream->native(), kReplays, work);
      if (failed != 0) return std::fprintf(stderr, "graph_capture: status %d\n", failed), 1;
    }
    std::printf("%s: recorded once, replayed %d times", device->info().id.c_str(), kReplays);
  } else {
    for (int i = 0; i < kReplays; ++i) {
      if (const auto done = work(); !done) return fail(done.error());
    }
    std::printf("%s: has no graphs, launched %d times", device->info().id.c_str(), kReplays);
  }

  const auto output = device->download<float>(*x);
  if (!output) return fail(output.error());
  const float expected = 2.0f - std::ldexp(2.0f, -kReplays);  // 1, 1.5, 1.75, ...
  bool right = true;
  for (const float value : *output) right = right && value == expected;
  std::printf("; %g, %s\n", (*output)[0], right ? "as expected" : "WRONG");
  return right ? 0 : 1;
}
