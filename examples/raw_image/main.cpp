// Runs a kernel from an image that is in no header, such as a file that comes with the program or
// over the network.
//
//   raw_image IMAGE...          affine_f32 of the first image that the default device runs
//
// IMAGE is a cubin, PTX or a fat binary, an AMD code object or bundle, or a host image. The folder
// out/images/affine of `kiln build` has one for each target.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <kiln/runtime.hpp>
#include <string>
#include <vector>

namespace {

int fail(const kiln::Error& error) {
  std::fprintf(stderr, "raw_image: %s\n", error.text().c_str());
  return 1;
}

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Computes out[i] = in[i] * 2 + 1. No header tells the kernel's parameter types, so the compiler
// cannot check the arguments.
kiln::Result<std::vector<float>> run(const kiln::Device& device, const kiln::Function& affine) {
  const std::vector<float> input = {1, 2, 3, 4};
  const auto in = device.upload(input);
  if (!in) return in.error();
  const auto out = device.allocate<float>(in->count());
  if (!out) return out.error();
  const void* const contiguous = nullptr;
  const auto done = affine.launch({{1}, {64}}, input.size(), std::size_t{1}, contiguous, *in, *out,
                                  2.0f, 1.0f);
  if (!done) return done.error();
  return device.download(*out);
}

}  // namespace

int main(int argc, char** argv) {
  const auto runtime = kiln::Runtime::open();
  if (!runtime) return fail(runtime.error());
  const auto device = runtime->default_device();
  if (!device) return fail(device.error());
  for (int i = 1; i < argc; ++i) {
    const std::string image = read_file(argv[i]);
    const auto affine = device->function("affine_f32", image.data(), image.size());
    if (!affine) {
      fail(affine.error());  // for example an image for another architecture
      continue;
    }
    const auto output = run(*device, *affine);
    if (!output) return fail(output.error());
    std::printf("%s on %s:", argv[i], device->info().id.c_str());
    for (const float value : *output) std::printf(" %g", value);
    std::printf("\n");
    return (*output)[3] == 9.0f ? 0 : 1;
  }
  std::fprintf(stderr, "raw_image: no image that %s runs\n", device->info().id.c_str());
  return 1;
}
