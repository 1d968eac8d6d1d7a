// The work of a stream as a graph of the driver under test. kiln has no graphs of its own, so a
// program uses the vendor's functions, as this class does.
#pragma once

#include <functional>
#include <string>

#include "kiln/runtime.hpp"
#include "subject.hpp"

namespace kiln::testing {

inline bool subject_has_graphs() {
  return subject().backend == Backend::kCuda || subject().backend == Backend::kHip;
}

class StreamGraph {
 public:
  using Work = std::function<Result<void>()>;

  // Captures the work that `work` puts on the stream, without running it.
  StreamGraph(const Runtime& runtime, const Device& device, StreamRef stream, const Work& work)
      : runtime_(runtime), device_(device), stream_(stream) {
    as_current([&] {
      constexpr int kGlobal = 0;  // no thread may make calls that cannot be captured
      begun_ = call(begin(), stream_.native(), kGlobal);
      if (begun_ != 0) return;
      work_ = work();
      ended_ = call(prefix() + "StreamEndCapture", stream_.native(), &graph_);
      if (ended_ == 0) {
        ended_ = call(prefix() + "GraphInstantiateWithFlags", &executable_, graph_, 0ULL);
      }
    });
  }
  ~StreamGraph() {
    as_current([&] {
      if (executable_ != nullptr) call(prefix() + "GraphExecDestroy", executable_);
      if (graph_ != nullptr) call(prefix() + "GraphDestroy", graph_);
    });
  }
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  int begun() const { return begun_; }                // the driver's status; 0: the capture began
  int ended() const { return ended_; }                // the driver's status; 0: there is a graph
  const Result<void>& work() const { return work_; }  // the result of `work` during the capture

  // Returns the driver's status.
  int launch() const {
    int status = -1;
    as_current([&] { status = call(prefix() + "GraphLaunch", executable_, stream_.native()); });
    return status;
  }

 private:
  static std::string prefix() { return subject().backend == Backend::kCuda ? "cu" : "hip"; }
  static std::string begin() {
    return subject().backend == Backend::kCuda ? "cuStreamBeginCapture_v2" : "hipStreamBeginCapture";
  }

  template <typename... Arguments>
  int call(const std::string& name, Arguments... arguments) const {
    return vendor_function<int(Arguments...)>(runtime_, name.c_str())(arguments...);
  }
  void as_current(const std::function<void()>& body) const {
    (void)device_.as_current([&]() -> Result<void> {
      body();
      return {};
    });
  }

  const Runtime& runtime_;
  const Device& device_;
  const StreamRef stream_;
  Result<void> work_;
  void *graph_ = nullptr, *executable_ = nullptr;
  int begun_ = -1, ended_ = -1;
};

}  // namespace kiln::testing
