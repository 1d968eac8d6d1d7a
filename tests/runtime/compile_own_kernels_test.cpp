// The real compilers, on the source of kiln's own modules as written by `kiln build
// --embed-source`: every module compiles, and the image has the kernels that the catalog lists.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <kiln_kernels.hpp>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "formats/image.hpp"
#include "formats/source_bundle.hpp"
#include "runtime/src/source_compiler.hpp"
#include "runtime/src/unpack_image.hpp"

using namespace kiln;
using namespace kiln::runtime;

namespace {

// The option of NVRTC to stop before code generation, with templates instantiated: it takes a tenth
// of the time. Images are then made for only a few modules; the build makes the others with the
// same compiler.
const std::string kSyntaxAlone = "--fdevice-syntax-only";

bool has_syntax_alone(SourceCompiler& compiler, Backend backend, const TargetId& target) {
  SourceBundle small;
  small.nvidia_flags = {kSyntaxAlone};
  small.files = {{"small.cu", "__global__ void small() {}\n"}};
  return backend == Backend::kCuda &&
         compiler.compile(write_source_bundle(small), backend, target).has_value();
}

void compile_all(Backend backend, const std::string& target_name,
                 const std::vector<std::string_view>& modules_with_images = {}) {
  SourceCompiler compiler({});
  const TargetId target = *parse_target_id(target_name);
  const bool may_leave_out_images = has_syntax_alone(compiler, backend, target);
  for (const ModuleEntry* module : runtime_source_kernels::catalog().modules) {
    CAPTURE(module->name, target_name);
    REQUIRE(module->images.size() == module->unit_count);
    const bool is_image_made =
        !may_leave_out_images || std::find(modules_with_images.begin(), modules_with_images.end(),
                                           module->name) != modules_with_images.end();
    std::vector<std::string> expected, found;
    for (const KernelEntry& kernel : module->kernels) expected.emplace_back(kernel.name);
    for (const ImageEntry& source : module->images) {
      REQUIRE(source.format == ImageFormat::kSource);
      const auto stored = unpack_image(source);
      REQUIRE(stored);
      auto bundle = read_source_bundle(as_text(stored->bytes));
      REQUIRE(bundle);
      // This only tests that the source compiles; the build makes the optimized image of the same
      // source.
      bundle->host_flags.emplace_back("-O0");
      if (!is_image_made) bundle->nvidia_flags.push_back(kSyntaxAlone);
      const auto image = compiler.compile(write_source_bundle(*bundle), backend, target);
      if (!image && image.error().code == ErrorCode::kUnavailable) SKIP(image.error().message);
      if (!image) FAIL(render(image.error()));
      if (!is_image_made) continue;
      const auto info = read_image(as_bytes(image->bytes));
      if (!info) FAIL(render(info.error()));
      CHECK(to_string(info->target) == target_name);
      for (const KernelInfo& kernel : info->kernels) found.push_back(kernel.name);
    }
    std::sort(found.begin(), found.end());
    if (is_image_made) CHECK(found == expected);
  }
}

}  // namespace

TEST_CASE("NVRTC compiles kiln's own modules") {
  compile_all(Backend::kCuda, "sm_90", {"affine", "sort"});
}
TEST_CASE("hipRTC compiles kiln's own modules") { compile_all(Backend::kHip, "gfx1100"); }
TEST_CASE("The host's compiler compiles kiln's own modules") {
  compile_all(Backend::kHost, "host:wave64");
}

TEST_CASE("The compilers find the headers that macros name") {
  SourceBundle bundle;
  bundle.defines = {"FIRST=\"first.cuh\""};
  bundle.include_directories = {"include"};
  bundle.files = {{"kernels/named.cu",
                   "#include FIRST\n#define THIRD <third.cuh>\n#include THIRD\n"
                   "extern \"C\" KERNEL void named(int* x) { *x = SECOND + THREE; }\n"},
                  {"kernels/first.cuh", "#define SECOND \"deep/second.cuh\"\n#include SECOND\n"},
                  {"kernels/deep/second.cuh", "#undef SECOND\n#define SECOND 2\n"},
                  {"include/third.cuh", "#define THREE 3\n"}};
  SourceCompiler compiler({});
  const auto compile = [&](Backend backend, const std::string& target) {
    SourceBundle one = bundle;
    one.defines.emplace_back(backend == Backend::kHost ? "KERNEL=" : "KERNEL=__global__");
    return compiler.compile(write_source_bundle(one), backend, *parse_target_id(target));
  };
  const std::vector<std::pair<Backend, std::string>> targets = {
      {Backend::kCuda, "sm_90"}, {Backend::kHip, "gfx1100"}, {Backend::kHost, "host"}};
  for (const auto& [backend, target] : targets) {
    CAPTURE(target);
    const auto image = compile(backend, target);
    if (!image && image.error().code == ErrorCode::kUnavailable) continue;
    if (!image) FAIL(render(image.error()));
    CHECK_FALSE(image->bytes.empty());
  }
}
