#include "tests/bench/recorded.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "tests/bench/families.hpp"
#include "tests/bench/list.hpp"

namespace kiln::bench {
namespace {

TEST_CASE("the recording's cases can all be launched") {
  const auto recorded = recording();
  REQUIRE(recorded);
  CHECK(recorded->cases.size() == 169);
  std::set<std::string> names;
  for (const RecordedCase& each : recorded->cases) {
    INFO(each.subject.name());
    CHECK(names.insert(each.subject.name()).second);
    Addresses addresses;
    addresses.inputs.assign(4, nullptr);
    CHECK(plan_original(each.subject, addresses));
    CHECK(each.original_us > 0);
    if (!traits_of(each.subject.kernel)->is_planned) continue;
    for (const ops::Geometry geometry : {ops::Geometry::kOwn, ops::Geometry::kReference}) {
      const auto launch = plan_ours(each.subject, addresses, geometry);
      REQUIRE(launch);
      // In kiln's own geometry, a kernel under kiln's own name may be chosen.
      if (geometry == ops::Geometry::kReference) CHECK(launch->kernel == each.subject.kernel);
    }
  }
}

TEST_CASE("each of ggml's times is of a case of the full list") {
  const auto recorded = recording();
  REQUIRE(recorded);
  CHECK(recorded->ggml_us.size() == 48);
  std::vector<std::string> kernels;
  for (const ops::OwnKernel& own : ops::kOwnKernels) {
    if (own.module == "quantized") kernels.emplace_back(own.name);
  }
  std::set<std::string> names;
  for (const BenchCase& each : full_list(kernels)) names.insert(each.name());
  for (const auto& [name, us] : recorded->ggml_us) {
    INFO(name);
    CHECK(names.count(name) == 1);
    CHECK(us > 0);
  }
}

TEST_CASE("a damaged recording is an error that says where") {
  CHECK_FALSE(parse_recording("{"));
  CHECK_FALSE(
      parse_recording(R"({"gpu": "x", "original": "", "torch": "", "how": "", "cases": [{}]})"));
}

TEST_CASE("the full list has every kernel, and data of every kind where it can matter") {
  const std::vector<std::string> kernels = {"affine_f32", "copy2d_f16", "ucopy_f32", "uneg_f32",
                                            "uneg_f64",   "urelu_f32",  "upowf_f32"};
  const std::vector<BenchCase> cases = full_list(kernels);
  std::set<std::string> names;
  for (const BenchCase& each : cases) {
    INFO(each.name());
    CHECK(names.insert(each.name()).second);
    CHECK(plan_original(each, {{nullptr, nullptr}, nullptr}));
  }
  for (const std::string& kernel : kernels) {
    CHECK(names.count(kernel + " 2^12") == 1);
    CHECK(names.count(kernel + " 2^22") == 1);
  }
  CHECK(names.count("uneg_f32 2^28 special") == 1);
  CHECK(names.count("uneg_f64 256 normal") == 1);
  CHECK(names.count("uneg_f64 64 normal") == 0);
  CHECK(names.count("urelu_f32 2^28") == 0);  // uneg_f32 stands for it
  CHECK(names.count("ucopy_f32 2^28 normal") == 0);
  CHECK(names.count("ucopy_f32 transposed 128x32") == 1);
  CHECK(names.count("copy2d_f16 2^28") == 1);
  CHECK(quick_list(kernels).size() > 20);

  const std::vector<BenchCase> wider = full_list(
      {"badd_f32", "where_u8_f16", "fast_sum_f32", "softmax_bf16", "rmsnorm_f32", "rope_thd_f16"});
  for (const BenchCase& each : wider) {
    INFO(each.name());
    CHECK(plan_original(each, {{nullptr, nullptr, nullptr}, nullptr}));
  }
  const auto has = [&](const std::string& name) {
    return std::any_of(wider.begin(), wider.end(),
                       [&](const BenchCase& each) { return each.name() == name; });
  };
  CHECK(has("badd_f32 broadcast rows 512x1024"));
  CHECK(has("fast_sum_f32 64x128256"));
  CHECK(has("softmax_bf16 2^28 normal"));
}

TEST_CASE("every listed case can be launched") {
  std::vector<std::string> kernels;
  for (const ops::OwnKernel& kernel : ops::kOwnKernels) {
    const std::string name(kernel.name);
    const auto traits = traits_of(name);
    if (traits && traits->is_planned) kernels.push_back(name);
  }
  const Addresses addresses{std::vector<const void*>(8), nullptr};
  std::map<std::string, std::size_t> views;
  for (const BenchCase& each : full_list(kernels)) {
    INFO(each.name());
    const auto planned = plan_ours(each, addresses, ops::Geometry::kOwn);
    REQUIRE(planned);
    if (each.view != View::kContiguous) ++views[std::string(traits_of(each.kernel)->family)];
  }
  for (const char* family : {"unary", "binary", "cast", "where", "reduction", "const_set"}) {
    INFO(family);
    CHECK(views[family] >= 10);
  }
}

}  // namespace
}  // namespace kiln::bench
