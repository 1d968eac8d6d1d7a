// The output of kiln for a change that made a kernel slow.
#include <catch2/catch_test_macros.hpp>

#include "tests/integration/build/project.hpp"

using namespace kiln;
using namespace kiln::testing;

TEST_CASE("kiln diff names the kernel that a change made spill") {
  if (!has_nvidia()) SKIP("needs nvcc and fatbinary: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  const auto with_bounds = [](const std::string& bounds) {
    return "extern \"C\" __global__ void " + bounds +
           " fill_f32(float* y, float a) {\n"
           "  float kept[64];\n"
           "  for (int i = 0; i < 64; ++i) kept[i] = y[i * 64 + threadIdx.x];\n"
           "  __syncthreads();\n"
           "  for (int i = 0; i < 64; ++i) y[threadIdx.x * 64 + (i * 7) % 64] = kept[i] * a;\n}\n"
           "extern \"C\" __global__ void same_f32(float* y) { y[threadIdx.x] = 0; }\n";
  };
  const auto build = [&](const std::string& out, const std::string& bounds) {
    project.write("fill.cu", with_bounds(bounds));
    const tools::Outcome outcome =
        project.kiln({"build", "--out", out, "--target", "sm_80", "--module", "fill"});
    INFO(outcome.diagnostics);
    REQUIRE(outcome.ok());
  };
  build("before", "");
  build("after", "__launch_bounds__(1024, 2)");  // at most 32 registers

  const std::vector<std::string> diff = {"diff", "before", "after/kiln.json"};
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = diff;
    words.insert(words.end(), more.begin(), more.end());
    return project.kiln(words);
  };
  CHECK(run({}).ok());
  CHECK(run({"--fail-on", "registers", "--fail-on", "removed", "--fail-on", "signature"}).ok());
  const tools::Outcome failed = run({"--fail-on", "spills"});
  CHECK(failed.exit_code == 1);
  INFO(failed.diagnostics << failed.output);
  CHECK(failed.diagnostics.starts_with(
      "kiln: error: 'after/kiln.json' is worse than 'before' in 1 point\n"
      "note: kernel 'fill.fill_f32' for sm_80: spills 0 -> "));
  CHECK(failed.output.find("fill.fill_f32  ") != std::string::npos);
  CHECK(failed.output.find("same_f32") == std::string::npos);

  const tools::Outcome json = run({"--json", "--fail-on", "spills"});
  CHECK(json.exit_code == 1);
  const tools::Json document = tools::read_json(json.output, "diff").value();
  CHECK(document.find("regressions")->array()->size() == 1);
  const auto& resources = *document.find("resources")->array();
  CHECK(std::ranges::any_of(resources, [](const tools::Json& one) {
    return text_of(one, "resource") == "spills" && text_of(one, "kernel") == "fill_f32";
  }));
}
