// Finds a kernel by the name on the command line and passes it arguments that are known only at run
// time:
//
//   by_name [MODULE [KERNEL]]          by default: affine affine_f64
//
// Any kernel of that module that scales and shifts numbers of 32 or 64 bits will do. For another
// name, the error suggests a similar one.
#include <cstdio>
#include <kiln/runtime.hpp>
#include <kiln_kernels.hpp>  // generated: see examples/CMakeLists.txt
#include <string_view>
#include <vector>

namespace {

int fail(const kiln::Error& error) {
  std::fprintf(stderr, "by_name: %s\n", error.text().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view module_name = argc > 1 ? argv[1] : "affine";
  const std::string_view kernel_name = argc > 2 ? argv[2] : "affine_f64";
  const kiln::ModuleEntry* module = kiln_kernels::find(module_name);
  if (module == nullptr) {
    std::fprintf(stderr, "by_name: there is no such module; there are");
    for (const kiln::ModuleEntry* each : kiln_kernels::catalog().modules) {
      std::fprintf(stderr, " %.*s", static_cast<int>(each->name.size()), each->name.data());
    }
    std::fprintf(stderr, "\n");
    return 1;
  }

  const auto runtime = kiln::Runtime::open();
  if (!runtime) return fail(runtime.error());
  const auto device = runtime->default_device();
  if (!device) return fail(device.error());
  const auto kernel = device->function(kernel_name, *module);
  if (!kernel) return fail(kernel.error());

  // The catalog knows the number of parameters and the size of each in bytes.
  std::printf("%.*s on %s takes", static_cast<int>(kernel_name.size()), kernel_name.data(),
              device->info().id.c_str());
  for (const kiln::Parameter& parameter : kernel->kernel()->parameters) {
    std::printf(" %d", parameter.size);
  }
  std::printf(" bytes\n");

  const std::vector<double> input = {1, 2, 3, 4};
  const auto in = device->upload(input);
  if (!in) return fail(in.error());
  const auto out = device->upload(input);
  if (!out) return fail(out.error());
  // (numel, num_dims, dims_and_strides, in, out, mul, add). launch_raw() checks only the number of
  // arguments; launch() also checks the types.
  const std::size_t count = input.size(), dims = 1;
  const void *const contiguous = nullptr, *const from = in->data(), *const to = out->data();
  const double mul = 10, add = 0.5;
  const void* const arguments[] = {&count, &dims, &contiguous, &from, &to, &mul, &add};
  if (const auto done = kernel->launch_raw({{1}, {64}}, arguments, 7); !done) {
    return fail(done.error());
  }
  const auto output = device->download(*out);
  if (!output) return fail(output.error());
  for (const double value : *output) std::printf("%g ", value);
  std::printf("\n");
  return kernel_name != "affine_f64" || (*output)[3] == 40.5 ? 0 : 1;
}
