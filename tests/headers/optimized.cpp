// The public headers in a program's own code, which the optimizer looks through: no warning is theirs.
#include <kernels.hpp>
#include <kiln/runtime.hpp>

#include <cstdio>

int main() {
  auto runtime = kiln::Runtime::open();
  if (!runtime) return std::fprintf(stderr, "%s\n", runtime.error().text().c_str()), 1;
  auto device = runtime->default_device();
  if (!device) return std::fprintf(stderr, "%s\n", device.error().text().c_str()), 1;
  auto tick = device->function(kernels::tick);
  if (!tick) return std::fprintf(stderr, "%s\n", tick.error().text().c_str()), 1;
  auto done = tick->launch({{1}, {32}});
  if (!done) return std::fprintf(stderr, "%s\n", done.error().text().c_str()), 1;
  return static_cast<int>(device->upload(std::vector<float>{1})->count());
}
