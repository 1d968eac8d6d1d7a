// Records several launches into a CUDA or HIP graph and replays it. The driver then starts all of
// them for about the price of one. Graphs are the vendor's own; kiln's launches go into them like
// any others (graph.hpp).
#include <cmath>
#include <cstdio>
#include <vector>

#include "examples/graph_capture/graph.hpp"
#include "kiln/ops.hpp"
#include "kiln/runtime.hpp"

namespace {

constexpr std::size_t kRows = 64, kColumns = 48;
constexpr int kReplays = 10;

int fail(const kiln::Error& error) {
  std::fprintf(stderr, "graph_capture: %s\n", error.text().c_str());
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

  // y = x / 2 + 1 of a transposed matrix, then x = y. Each replay starts from the result of the
  // last one.
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
    return device->copy_on_device(*x, *y, *stream);
  };

  // The host runs a launch before the call returns, so there is nothing to record.
  const auto graph = Graph::record(*runtime, *device, *stream, work);
  if (!graph && graph.error().code != kiln::ErrorCode::kUnavailable) return fail(graph.error());
  for (int i = 0; i < kReplays; ++i) {
    if (const auto done = graph ? graph->launch() : work(); !done) return fail(done.error());
  }
  if (const auto done = stream->synchronize(); !done) return fail(done.error());
  std::printf("%s: %s %d times", device->info().id.c_str(),
              graph ? "recorded once, replayed" : "has no graphs, launched", kReplays);

  const auto output = device->download(*x);
  if (!output) return fail(output.error());
  const float expected = 2.0f - std::ldexp(2.0f, -kReplays);  // 1, 1.5, 1.75, ...
  bool right = true;
  for (const float value : *output) right = right && value == expected;
  std::printf("; %g, %s\n", (*output)[0], right ? "as expected" : "WRONG");
  return right ? 0 : 1;
}
