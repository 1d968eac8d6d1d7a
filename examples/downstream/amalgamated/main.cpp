// y = 1 + 2 * x on the default device. Needs nothing of kiln except the one header.
#define KILN_IMPLEMENTATION  // the loader, in only this file of the program
#include <kernels_amalgamated.hpp>

#include <cstdio>

kiln::Result<std::vector<float>> run(const std::vector<float>& input) {
  auto runtime = kiln::Runtime::open();
  if (!runtime) return runtime.error();
  auto device = runtime->default_device();
  if (!device) return device.error();
  auto x = device->upload(input);
  if (!x) return x.error();
  auto y = device->upload(std::vector<float>(input.size(), 1.0f));
  if (!y) return y.error();
  auto saxpy = device->function(kernels::saxpy);
  if (!saxpy) return saxpy.error();
  const auto n = static_cast<std::uint32_t>(input.size());
  auto done = saxpy->launch({{(n + 255) / 256}, {256}}, n, 2.0f, *x, *y);
  if (!done) return done.error();
  return device->download(*y);
}

int main() {
  const auto result = run({1, 2, 3, 4});
  if (!result) return std::fprintf(stderr, "%s\n", result.error().text().c_str()), 1;
  for (const float value : *result) std::printf("%g ", value);
  return std::puts(""), 0;
}
