// A CUDA or HIP graph of the work on a stream. The driver starts all of it for about the price of
// one launch. The graph functions are the vendor's; they are found in the library that kiln has
// opened.
//
// While a stream is captured, nothing may be loaded or allocated: call prepare() for all launches
// first. Their buffers must live as long as the graph.
#pragma once

#include <dlfcn.h>

#include <functional>
#include <string>

#include "kiln/runtime.hpp"

class Graph {
 public:
  // Records what `work` puts on the device's stream. Errors: the errors of `work`; kUnavailable if
  // the device has no graphs; kDriver.
  static kiln::Result<Graph> record(const kiln::Runtime& runtime, const kiln::Device& device,
                                    const kiln::Stream& stream,
                                    const std::function<kiln::Result<void>()>& work) {
    const kiln::Backend backend = device.info().backend;
    if (backend != kiln::Backend::kCuda && backend != kiln::Backend::kHip) {
      return kiln::Error{kiln::ErrorCode::kUnavailable, device.info().id + " has no graphs"};
    }
    Graph graph(device, stream.native(), backend == kiln::Backend::kCuda);
    for (const kiln::BackendStatus& status : runtime.backends()) {
      if (status.backend == backend) graph.library_ = dlopen(status.library.c_str(), RTLD_NOW);
    }
    // The vendor's functions need a current context.
    kiln::Result<void> done = device.as_current([&] { return graph.capture(work); });
    if (!done) return std::move(done).error();
    return graph;
  }
  Graph(Graph&& other) noexcept
      : device_(other.device_),
        stream_(other.stream_),
        is_cuda_(other.is_cuda_),
        library_(other.library_),
        runnable_(std::exchange(other.runnable_, nullptr)) {}
  ~Graph() {
    if (runnable_ == nullptr) return;
    (void)device_.as_current([&] {
      return check(call(is_cuda_ ? "cuGraphExecDestroy" : "hipGraphExecDestroy", runnable_), "");
    });
  }

  // Puts the recorded work on the stream again.
  kiln::Result<void> launch() const {
    return device_.as_current([&] {
      return check(call(is_cuda_ ? "cuGraphLaunch" : "hipGraphLaunch", runnable_, stream_),
                   "start the graph");
    });
  }

 private:
  Graph(kiln::Device device, void* stream, bool is_cuda)
      : device_(std::move(device)), stream_(stream), is_cuda_(is_cuda) {}

  kiln::Result<void> capture(const std::function<kiln::Result<void>()>& work) {
    void* graph = nullptr;
    kiln::Result<void> done =
        check(call(is_cuda_ ? "cuStreamBeginCapture_v2" : "hipStreamBeginCapture", stream_, 0),
              "begin to capture");
    if (!done) return done;
    kiln::Result<void> recorded = work();
    done = check(call(is_cuda_ ? "cuStreamEndCapture" : "hipStreamEndCapture", stream_, &graph),
                 "end the capture");
    if (!recorded) return recorded;
    if (!done) return done;
    done = check(call(is_cuda_ ? "cuGraphInstantiateWithFlags" : "hipGraphInstantiateWithFlags",
                      &runnable_, graph, 0ULL),
                 "make the graph runnable");
    call(is_cuda_ ? "cuGraphDestroy" : "hipGraphDestroy", graph);
    return done;
  }

  // Calls a function of the vendor's. Returns its status, 0 for success, or -1 if the library lacks
  // it.
  template <typename... Arguments>
  int call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
    return function != nullptr ? function(arguments...) : -1;
  }
  kiln::Result<void> check(int status, const std::string& what) const {
    if (status == 0) return {};
    return kiln::Error{kiln::ErrorCode::kDriver, "failed to " + what + " on " + device_.info().id +
                                                     ": status " + std::to_string(status)};
  }

  kiln::Device device_;
  void* stream_;
  bool is_cuda_;
  void* library_ = nullptr;
  void* runnable_ = nullptr;
};
