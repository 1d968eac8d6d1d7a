// Prints the embedded images, so that the test sees when they change. Opens the runtime, so that it
// is linked.
#include <gpu_kernels.hpp>
#include <kiln/runtime.hpp>

#include <cstdio>

static_assert(gpu::scale.kParameterCount == 2);

int main() {
  const kiln::ModuleEntry& module = *gpu::find("scaling");
  for (const kiln::ImageEntry& image : module.images) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < image.stored_size; ++i) sum = sum * 31 + image.data[i];
    std::printf("%.*s %zu bytes, digest %016llx, sum %08x\n", static_cast<int>(image.target.size()),
                image.target.data(), image.stored_size, static_cast<unsigned long long>(image.digest),
                sum);
  }
  return module.images.empty() || !kiln::Runtime::open() ? 1 : 0;
}
