// A program that carries no image, only the source of its kernels: `kiln build
// --embed-source=instead`. The first run compiles the source for the present device, with NVRTC,
// hipRTC or the host's C++ compiler, and caches the result under ~/.cache/kiln/compiled. The next
// run finds it there. KILN_TRACE=1 shows which of the two happened.
#include <cstdio>
#include <kiln/runtime.hpp>
#include <kiln_kernels.hpp>  // generated: see examples/CMakeLists.txt
#include <vector>

namespace {

int fail(const kiln::Error& error) {
  std::fprintf(stderr, "runtime_compile: %s\n", error.text().c_str());
  return 1;
}

}  // namespace

int main() {
  const auto runtime = kiln::Runtime::open();
  if (!runtime) return fail(runtime.error());
  const auto device = runtime->default_device();
  if (!device) return fail(device.error());

  const auto affine = device->function(source_kernels::affine_f32);  // compiles if needed
  if (!affine) return fail(affine.error());
  const kiln::ModuleStatistics statistics = device->statistics(source_kernels::modules::affine);
  std::printf("%s: module 'affine' was there after %.0f ms\n", device->info().id.c_str(),
              statistics.load_milliseconds);

  const std::vector<float> input = {1, 2, 3, 4};
  const auto in = device->upload(input);
  if (!in) return fail(in.error());
  const auto out = device->allocate<float>(in->count());
  if (!out) return fail(out.error());
  const std::size_t* const contiguous = nullptr;
  const auto done = affine->launch({{1}, {64}}, input.size(), std::size_t{1}, contiguous,
                                   *in, *out, 2.0f, 1.0f);
  if (!done) return fail(done.error());
  const auto output = device->download(*out);
  if (!output) return fail(output.error());
  for (const float value : *output) std::printf("%g ", value);
  std::printf("\n");
  return (*output)[3] == 9.0f ? 0 : 1;
}
