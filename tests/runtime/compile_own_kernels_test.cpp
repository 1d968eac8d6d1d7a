// The real compilers, on the source of kiln's own modules as `kiln build --embed-source` writes it:
// every module gives an image that has the kernels which the catalog lists.
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

void compile_all(Backend backend, const std::string& target) {
  SourceCompiler compiler({});
  for (const ModuleEntry* module : runtime_source_kernels::catalog().modules) {
    CAPTURE(module->name, target);
    REQUIRE(module->images.size() == module->unit_count);
    std::vector<std::string> expected, found;
    for (const KernelEntry& kernel : module->kernels) expected.emplace_back(kernel.name);
    for (const ImageEntry& source : module->images) {
      REQUIRE(source.format == ImageFormat::kSource);
      const auto stored = unpack_image(source);
      REQUIRE(stored);
      auto bundle = read_source_bundle(as_text(stored->bytes));
      REQUIRE(bundle);
      // What is asked here is that it compiles: the build makes the optimized image of the same
      // source.
      bundle->host_flags.emplace_back("-O0");
      const auto image =
          compiler.compile(write_source_bundle(*bundle), backend, *parse_target_id(target));
      if (!image && image.error().code == ErrorCode::kUnavailable) SKIP(image.error().message);
      if (!image) FAIL(render(image.error()));
      const auto info = read_image(as_bytes(image->bytes));
      if (!info) FAIL(render(info.error()));
      CHECK(to_string(info->target) == target);
      for (const KernelInfo& kernel : info->kernels) found.push_back(kernel.name);
    }
    std::sort(found.begin(), found.end());
    CHECK(found == expected);
  }
}

}  // namespace

TEST_CASE("NVRTC compiles kiln's own modules") { compile_all(Backend::kCuda, "sm_90"); }
TEST_CASE("hipRTC compiles kiln's own modules") { compile_all(Backend::kHip, "gfx1100"); }
TEST_CASE("The host's compiler compiles kiln's own modules") {
  compile_all(Backend::kHost, "host:wave64");
}
