#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "base/diagnostic.hpp"
#include "formats/image_format.hpp"
#include "tools/stages/verify.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

constexpr auto kPointer = ParameterKind::kPointer;
constexpr auto kValue = ParameterKind::kValue;
constexpr auto kUnknown = ParameterKind::kUnknown;

Artifact image(const std::string& target, std::vector<KernelInfo> kernels, std::uint16_t unit = 0) {
  Artifact artifact;
  artifact.module = "affine";
  artifact.unit = unit;
  artifact.target = parse_target_id(target).value();
  artifact.info.target = artifact.target;
  artifact.info.format = format_of(artifact.target.kind);
  artifact.path = "images/affine/" + file_name(artifact.target);
  artifact.info.kernels = std::move(kernels);
  return artifact;
}

KernelInfo kernel(std::string name, std::vector<Parameter> parameters) {
  KernelInfo info;
  info.name = std::move(name);
  info.parameters = std::move(parameters);
  return info;
}

AbiKernel declared(std::string name, std::vector<Parameter> parameters) {
  AbiKernel kernel{.name = std::move(name), .parameters = {}, .where = {}};
  for (const Parameter& layout : parameters) kernel.parameters.push_back({layout, {}, {}});
  return kernel;
}

const std::vector<Parameter> kAmdParameters = {{0, 8, kValue}, {8, 8, kPointer}};
const std::vector<Parameter> kNvidiaParameters = {{0, 8, kUnknown}, {8, 8, kUnknown}};

}  // namespace

TEST_CASE("verify_module accepts images that have the same kernels, whatever each knows of kinds") {
  CHECK(verify_module("affine",
                      {image("gfx1100", {kernel("a", kAmdParameters), kernel("b", {})}),
                       image("sm_80", {kernel("a", kNvidiaParameters), kernel("b", {})})},
                      nullptr));
}

TEST_CASE("verify_module lists for each image what is missing, unexpected and different") {
  const std::vector<AbiKernel> abi = {declared("a", kAmdParameters), declared("b", {}), declared("c", {{0, 4, kValue}})};
  const auto result = verify_module(
      "affine",
      {image("gfx1100", {kernel("a", kAmdParameters), kernel("b", {}), kernel("c", {{0, 4, kValue}})}),
       image("sm_80", {kernel("a", kNvidiaParameters), kernel("c", {{0, 2, kUnknown}}), kernel("x", {})}),
       image("compute_80", {kernel("c", {{0, 4, kUnknown}})})},
      &abi);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kBuildFailed);
  CHECK(render(result.error()) ==
        "kiln: error: module 'affine': its kernels are not those of the abi file\n"
        "note: sm_80:\n"
        "  missing: b\n"
        "  unexpected: x\n"
        "  other parameters (offset:size, * for a pointer): c has (0:2), expected (0:4); "
        "parameter 1 (4 bytes) has 2 bytes in the image\n"
        "note: compute_80:\n"
        "  missing: a, b\n"
        "hint: change the kernels, or what the manifest's 'abi' file says of them\n");
}

TEST_CASE("verify_module says which kernel was probably meant by the abi file") {
  std::vector<AbiKernel> abi = {declared("_Z5scalePf", {{0, 8, kPointer}}), declared("fill_f23", {}),
                                declared("later", {})};
  abi[1].where = {"abi.json", 2, 4};
  const KernelInfo scale = kernel("_Z5scalePd", {{0, 8, kPointer}}), other = kernel("_Z5shiftPdf", {}),
                   fill = kernel("fill_f32", {});
  const auto result = verify_module(
      "fill", {image("sm_80", {scale, other, fill}), image("sm_90", {scale, other, fill})}, &abi);
  REQUIRE_FALSE(result);
  const std::string text = render(result.error());
  CHECK(text.ends_with(
      "\nhint: no image has '_Z5scalePf (scale)': did you mean '_Z5scalePd (scale)'?\n"
      "hint: abi.json:2:4: no image has 'fill_f23': did you mean 'fill_f32'?\n"
      "hint: change the kernels, or what the manifest's 'abi' file says of them\n"));
  abi.back() = declared("shift", {});
  const auto plain = verify_module("fill", {image("sm_80", {scale, other, fill})}, &abi);
  CHECK(render(plain.error()).find("\nhint: no image has 'shift', but '_Z5shiftPdf (shift)': write extern \"C\" before "
                                   "it, or take it out of the file\n") != std::string::npos);
  abi.pop_back();
  const auto exported = verify_module(
      "fill", {image("sm_80", {fill}), image("sm_90", {fill, kernel("fill_f23", {})})}, &abi);
  CHECK(render(exported.error()).find("did you mean") == std::string::npos);
}

TEST_CASE("verify_module leaves out what no image of a partial module exports, and nothing else") {
  const std::vector<AbiKernel> abi = {declared("a", {{0, 4, kValue}}), declared("b", {}),
                                      declared("later", {})};
  const auto verify = [&](std::vector<KernelInfo> amd, std::vector<KernelInfo> nvidia) {
    return verify_module("cast",
                         {image("gfx1100", std::move(amd)), image("sm_80", std::move(nvidia))},
                         &abi, AbiCoverage::kSome);
  };
  const KernelInfo a = kernel("a", {{0, 4, kUnknown}}), b = kernel("b", {});
  CHECK(verify({a, b}, {a, b}));
  CHECK(verify({a, b}, {a}).error().notes[0].text == "sm_80:\n  missing: b");
  CHECK(verify({a, kernel("x", {})}, {a}).error().notes[0].text == "gfx1100:\n  unexpected: x");
  CHECK(verify({kernel("a", {})}, {a}).error().notes[0].text.find("other parameters") !=
        std::string::npos);
  const auto none = verify({}, {});
  CHECK(none.error().message == "module 'cast' has no kernels");
  const std::vector<KernelInfo> all = {a, b, kernel("later", {})};
  const auto whole = verify(all, all);
  REQUIRE_FALSE(whole);
  CHECK(render(whole.error()) ==
        "kiln: error: module 'cast' has every kernel of the abi file\n"
        "hint: remove its 'partial' from the manifest, so that none gets lost\n");
}

TEST_CASE("verify_module compares the images with one another where there is no abi") {
  const auto result = verify_module("affine",
                                    {image("gfx1100", {kernel("a", {}), kernel("bf16", {})}),
                                     image("sm_80", {kernel("a", {})})},
                                    nullptr);
  REQUIRE_FALSE(result);
  CHECK(result.error().message == "module 'affine': its images do not all have the same kernels");
  REQUIRE(result.error().notes.size() == 2);
  CHECK(result.error().notes[0].text == "sm_80:\n  missing: bf16");
}

TEST_CASE("verify_module asks the abi file for extern \"C\" kernels alone") {
  const std::vector<AbiKernel> none, listed = {declared("_Z3addPf", {{0, 8, kPointer}})};
  const KernelInfo add = kernel("_Z3addPf", {{0, 8, kPointer}}), plain = kernel("plain", {});
  CHECK(verify_module("affine", {image("gfx1100", {add}), image("sm_80", {add})}, &none));
  CHECK(verify_module("affine", {image("gfx1100", {add}), image("sm_80", {})}, &none).error().notes[0].text ==
        "sm_80:\n  missing: _Z3addPf (add)");
  CHECK(verify_module("affine", {image("sm_80", {add, plain})}, &none).error().notes[0].text ==
        "sm_80:\n  unexpected: plain");
  CHECK_FALSE(verify_module("affine", {image("sm_80", {})}, &listed));
}

TEST_CASE("verify_module says that HIP has other names for kernels that take vectors") {
  const auto result = verify_module(
      "affine", {image("gfx1100", {kernel("_Z5scaleP15HIP_vector_typeIfLj4EE", {{0, 8, kPointer}})}),
                 image("sm_80", {kernel("_Z5scaleP6float4", {{0, 8, kUnknown}})})}, nullptr);
  REQUIRE_FALSE(result);
  CHECK(result.error().notes.back().text.starts_with("float4 and its kin are templates in HIP"));
}

TEST_CASE("verify_module says that compilers differ in the names of kernels that are static") {
  const auto [amd, nvidia] = GENERATE(
      std::pair("_ZL5scalePf", "_Z5scalePf"),
      std::pair("_ZN12_GLOBAL__N_15scaleEPf", "_ZN36_GLOBAL__N__9290b8e1_4_k_cu_fa7140fe5scaleEPf"));
  const auto result = verify_module(
      "affine", {image("gfx1100", {kernel(amd, {{0, 8, kPointer}})}), image("sm_80", {kernel(nvidia, {{0, 8, kUnknown}})})},
      nullptr);
  REQUIRE_FALSE(result);
  CHECK(result.error().notes.back().text.starts_with("a kernel that is static"));
}

TEST_CASE("verify_module counts parameters where an image has more or fewer") {
  const std::vector<AbiKernel> abi = {declared("a", {{0, 8, kPointer}, {8, 8, kPointer}})};
  const auto result = verify_module(
      "affine", {image("gfx1100", {kernel("a", {{0, 8, kPointer}, {8, 4, kValue}, {16, 8, kPointer}})})}, &abi);
  CHECK(result.error().notes[0].text.ends_with(
      "parameter 2 (a pointer of 8 bytes) has 4 bytes in the image, where the kernel has 3 parameters, not 2"));
}

TEST_CASE("verify_module tells a pointer from a value where both images know") {
  const std::vector<AbiKernel> abi = {declared("a", {{0, 8, kPointer}})};
  CHECK(verify_module("affine", {image("sm_80", {kernel("a", {{0, 8, kUnknown}})})}, &abi));
  CHECK(verify_module("affine", {image("gfx1100", {kernel("a", {{0, 8, kPointer}})})}, &abi));
  const auto result = verify_module("affine", {image("gfx1100", {kernel("a", {{0, 8, kValue}})})}, &abi);
  REQUIRE_FALSE(result);
  CHECK(result.error().notes[0].text.ends_with(
      "a has (0:8), expected (0:8*); parameter 1 (a pointer of 8 bytes) has 8 bytes in the image"));
}

TEST_CASE("verify_module takes the units of a module together") {
  CHECK(verify_module("affine",
                      {image("sm_80", {kernel("a", {})}, 0), image("sm_80", {kernel("b", {})}, 1),
                       image("gfx1100", {kernel("b", {})}, 1), image("gfx1100", {kernel("a", {})}, 0)},
                      nullptr));
}

TEST_CASE("verify_module names the sources that define the same kernel") {
  std::vector<Artifact> images;
  for (const char* target : {"sm_80", "gfx1100"}) {
    images.push_back(image(target, {kernel("a", {}), kernel("b", {})}, 0));
    images.back().source = "one.cu";
    images.push_back(image(target, {kernel("a", {})}, 1));
    images.back().source = "two.cu";
  }
  const auto twice = verify_module("affine", images, nullptr);
  REQUIRE_FALSE(twice);
  CHECK(render(twice.error()) ==
        "kiln: error: module 'affine': two of its sources define the same kernel\n"
        "note: 'a' is in 'one.cu' and 'two.cu'\n"
        "hint: rename one of them, or put the sources into two modules\n");
}

TEST_CASE("verify_module refuses a module without kernels") {
  const auto result = verify_module("affine", {image("gfx1100", {}), image("sm_80", {})}, nullptr);
  REQUIRE_FALSE(result);
  CHECK(render(result.error()) ==
        "kiln: error: module 'affine' has no kernels\n"
        "hint: a kernel is a function for all to see, __global__ void name(...); a template is one where "
        "it is instantiated: template __global__ void name<float>(...)\n");
}

TEST_CASE("verify_module names the kernels of a module whose abi entry is empty") {
  const std::vector<AbiKernel> abi;
  const auto result = verify_module("clip", {image("gfx1100", {kernel("clip", {})})}, &abi);
  REQUIRE_FALSE(result);
  CHECK(result.error().message == "module 'clip': its kernels are not those of the abi file");
  CHECK(result.error().notes[0].text == "gfx1100:\n  unexpected: clip");
}

TEST_CASE("verify_module refuses an image that is for another target than asked") {
  Artifact wrong = image("gfx1100", {kernel("a", {})});
  wrong.info.target = parse_target_id("gfx1030").value();
  const auto result = verify_module("affine", {wrong}, nullptr);
  REQUIRE_FALSE(result);
  CHECK(result.error().message ==
        "'images/affine/gfx1100' is an image for 'gfx1030', not for 'gfx1100' as asked for");
}

TEST_CASE("verify_joined names the kernels that the joined sources lack, or have besides") {
  const KernelInfo a = kernel("a", {{0, 4, kValue}}), b = kernel("b", {});
  const std::vector<Artifact> images = {image("compute_80", {a}), image("compute_80", {b}),
                                        image("sm_80", {kernel("other", {})})};
  CHECK(verify_joined("unary", images, image("compute_80", {a, b})));
  Artifact joined = image("compute_80", {a, kernel("x", {})});
  joined.path = "bundles/unary.compute_80.ptx";
  const auto refused = verify_joined("unary", images, joined);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "module 'unary': 'bundles/unary.compute_80.ptx' does not have the kernels of its sources");
  CHECK(refused.error().notes[0].text == "compute_80:\n  missing: b\n  unexpected: x");
}
