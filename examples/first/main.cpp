// Runs one kernel, affine_f32, on the first GPU of this machine, and checks what it computes.
//
// On a machine without a GPU it prints what is embedded and what is missing, and succeeds: the program
// is complete, it only has nothing to run on.
#include <kiln/runtime.hpp>
#include <kiln_kernels.hpp>  // generated: see CMakeLists.txt

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace {

void print(const kiln::Error& error) {
  std::fprintf(stderr, "first: %s\n", error.message.c_str());
  for (const kiln::Note& note : error.notes) std::fprintf(stderr, "  %s\n", note.text.c_str());
}

// A module a line, an image a line below it.
void print_catalog(const kiln::Catalog& catalog) {
  std::printf("embedded in this program:\n");
  for (const kiln::ModuleEntry* module : catalog.modules) {
    std::printf("  %-12s %zu kernels\n", std::string(module->name).c_str(), module->kernels.size());
    for (const kiln::ImageEntry& image : module->images) {
      std::printf("    %-14s %9zu bytes, %zu stored\n", std::string(image.target).c_str(), image.size,
                  image.stored_size);
    }
  }
  for (const std::string_view target : catalog.missing_targets) {
    std::printf("  not built for %s: its compiler is not on the machine that built this\n",
                std::string(target).c_str());
  }
}

// out[i] = in[i] * 2 + 1 on `device`, checked.
kiln::Result<void> run_affine(const kiln::Device& device) {
  const std::size_t count = 1'000'000;
  std::vector<float> input(count);
  for (std::size_t i = 0; i < count; ++i) input[i] = static_cast<float>(i) * 0.25f;

  auto affine = device.function(kiln_kernels::affine_f32);
  if (!affine) return affine.error();
  auto in = device.upload(input);
  if (!in) return in.error();
  auto out = device.allocate(count * sizeof(float));
  if (!out) return out.error();

  // affine_f32(numel, num_dims, dims_and_strides, in, out, mul, add). Contiguous data needs no strides.
  // An argument of another size, or one too few, does not compile.
  const std::size_t* const contiguous = nullptr;
  const kiln::LaunchConfig config{{static_cast<std::uint32_t>((count + 255) / 256)}, {256}};
  auto launched = affine->launch(config, count, std::size_t{1}, contiguous, in->as<const float>(),
                                 out->as<float>(), 2.0f, 1.0f);
  if (!launched) return launched;
  auto output = device.download<float>(*out);
  if (!output) return output.error();

  for (std::size_t i = 0; i < count; ++i) {
    const float expected = std::fma(input[i], 2.0f, 1.0f);
    if ((*output)[i] != expected) {
      return kiln::Error{kiln::ErrorCode::kInternal,
                         "affine_f32 computed " + std::to_string((*output)[i]) + " at " +
                             std::to_string(i) + ", expected " + std::to_string(expected),
                         {}, {}};
    }
  }
  std::printf("affine_f32 on %s (%s): %zu elements, all as expected\n", device.info().name.c_str(),
              device.info().target.c_str(), count);
  return {};
}

}  // namespace

int main() {
  auto runtime = kiln::Runtime::open();
  if (!runtime) return print(runtime.error()), 1;

  auto device = runtime->default_device();
  const bool no_gpu = !device || device->info().backend == kiln::Backend::kHost;
  if (no_gpu) {
    print_catalog(kiln_kernels::catalog());
    std::printf("nothing was launched: no GPU of this machine can be used\n");
    for (const kiln::BackendStatus& backend : runtime->backends()) {
      if (backend.backend == kiln::Backend::kHost) continue;
      for (const std::string& reason : backend.reasons) {
        std::printf("  %s: %s\n", std::string(kiln::to_string(backend.backend)).c_str(),
                    reason.c_str());
      }
    }
    std::printf("an NVIDIA GPU needs its driver, an AMD GPU needs ROCm's HIP runtime; then run this again\n");
    return 0;
  }

  if (auto done = run_affine(*device); !done) return print(done.error()), 1;
  return 0;
}
