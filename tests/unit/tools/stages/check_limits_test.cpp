#include "tools/stages/check_limits.hpp"

#include <catch2/catch_test_macros.hpp>

#include "base/diagnostic.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

Artifact image(const std::string& target, ImageFormat format, const std::string& version) {
  Artifact artifact;
  artifact.target = artifact.info.target = parse_target_id(target).value();
  artifact.info.format = format;
  artifact.info.format_version = version;
  artifact.path = "images/m/" + target;
  artifact.bytes = std::string(100, 'x');
  return artifact;
}

Need need(const std::string& target, ImageFormat format, const std::string& version,
          const std::string& nvcc = "") {
  return need_of(image(target, format, version), nvcc);
}

}  // namespace

TEST_CASE("need_of knows the oldest driver by what decides it for each format") {
  Artifact ptx = image("compute_80", ImageFormat::kPtx, "PTX ISA 8.4");
  ptx.info.ptx_isa = 84;
  CHECK(need_of(ptx, "").cuda == 12040);
  // A driver accepts any toolkit of its own major version, unless the chip is newer.
  CHECK(need("sm_80", ImageFormat::kCubin, "cubin abi 7", "12.6.20").cuda == 12000);
  CHECK(need("sm_100a", ImageFormat::kCubin, "cubin abi 7", "12.8.61").cuda == 12080);
  CHECK(need("sm_80", ImageFormat::kCubin, "cubin abi 8", "13.0.88").cuda == 13000);
  CHECK(need("gfx1100", ImageFormat::kHsaco, "code object v5").rocm == 6000);
  CHECK(need("gfx11-generic", ImageFormat::kHsaco, "code object v6").rocm == 6040);
  CHECK(need("host", ImageFormat::kHost, "host abi 1").cuda == 0);
  CHECK(need_of_bundle(std::string("CCOB\3\0\1\0", 8)).rocm == 7000);
  CHECK(need_of_bundle("__CLANG_OFFLOAD_BUNDLE__").rocm == 0);
}

TEST_CASE("check_floors names what needs newer software, why, and the manifest's floor") {
  const Need code = need("gfx11-generic", ImageFormat::kHsaco, "code object v6");
  CHECK(check_floors("x", code, {.cuda = 13000, .rocm = 0}).empty());
  CHECK(check_floors("x", code, {.cuda = 0, .rocm = 6040}).empty());
  const auto errors = check_floors("images/m/x.hsaco", code, {.cuda = 0, .rocm = 6020});
  REQUIRE(errors.size() == 1);
  CHECK(render(errors[0]) ==
        "kiln: error: 'images/m/x.hsaco' needs ROCm 6.4 or later: it is code object v6\n"
        "note: the manifest's 'min_rocm' is '6.2'\n");
}

TEST_CASE("check_budgets names the kernels and images that exceed one, the worst first") {
  kiln::tools::Catalog catalog;
  Module module;
  module.name = "m";
  module.images = {image("gfx1100", ImageFormat::kHsaco, ""),
                   image("sm_90", ImageFormat::kCubin, "")};
  KernelInfo small, large;
  small.name = "small";
  large.name = "_Z5largeIfEvPT_";
  small.registers = 40;
  large.registers = 200;
  large.spill_stores = 16;
  large.scalar_spills = 2;
  large.shared_bytes = 70000;
  module.images[0].info.kernels = {large, small};
  module.images[1].info.kernels = {small};
  catalog.modules = {module};
  CHECK(check_budgets(catalog).empty());

  Budgets& budgets = catalog.settings.budgets;
  budgets = {.image_bytes = 100,
             .module_bytes = 200,
             .total_bytes = 200,
             .registers = 200,
             .spills = 18,
             .shared_bytes = 70000};
  CHECK(check_budgets(catalog).empty());
  budgets = {.image_bytes = 99,
             .module_bytes = 199,
             .total_bytes = 199,
             .registers = 39,
             .spills = 0,
             .shared_bytes = 65536};
  std::vector<Error> errors = check_budgets(catalog);
  CHECK(render(merge_errors(errors)) ==
        "kiln: error: the budget 'image_bytes' of module 'm' is 99, and 2 things exceed it\n"
        "note: 'images/m/gfx1100': 100 bytes\n"
        "note: 'images/m/sm_90': 100 bytes\n"
        "kiln: error: the budget 'module_bytes' of module 'm' is 199, and one thing exceeds it\n"
        "note: its images: 200 bytes\n"
        "kiln: error: the budget 'registers' of module 'm' is 39, and 3 things exceed it\n"
        "note: '_Z5largeIfEvPT_ (large<float>)' in 'images/m/gfx1100': 200 registers\n"
        "note: 'small' in 'images/m/gfx1100': 40 registers\n"
        "note: 'small' in 'images/m/sm_90': 40 registers\n"
        "kiln: error: the budget 'spills' of module 'm' is 0, and one thing exceeds it\n"
        "note: '_Z5largeIfEvPT_ (large<float>)' in 'images/m/gfx1100': 18 spilled\n"
        "kiln: error: the budget 'shared_bytes' of module 'm' is 65536, and one thing exceeds it\n"
        "note: '_Z5largeIfEvPT_ (large<float>)' in 'images/m/gfx1100': 70000 bytes\n"
        "kiln: error: the budget 'total_bytes' of the manifest is 199, and one thing exceeds it\n"
        "note: all images: 200 bytes\n");
  // A module's own budget takes precedence.
  catalog.modules[0].budgets.registers = 256;
  budgets = {};
  budgets.registers = 39;
  CHECK(check_budgets(catalog).empty());
}
