#include <catch2/catch_test_macros.hpp>

#include "tools/stages/compile_commands.hpp"

using namespace kiln::tools;

namespace {

Step compile(ToolKind tool, const std::string& target, std::vector<std::string> argv,
             const std::string& source) {
  Step step;
  step.id = "compile affine " + target;
  step.kind = StepKind::kCompile;
  step.module = "affine";
  step.target = target;
  step.tool = tool;
  step.argv = std::move(argv);
  step.inputs = {source};
  step.output = "{out}/images/affine/" + target;
  return step;
}

Plan plan_of(std::vector<Step> steps) {
  return {.source_root = "/src",
          .out_root = "/out",
          .placeholders = {{"nvcc", "/cuda/bin/nvcc"}, {"hip-compiler", "/rocm/bin/hipcc"}},
          .steps = std::move(steps)};
}

const std::vector<std::string> kNvcc = {"{nvcc}", "-cubin", "-arch=sm_90", "-O3", "-std=c++17", "-Xptxas", "-v",
                                        "-I{src}/kernels", "-DX=1\\,2", "-o", "{out}/a", "{src}/kernels/a.cu"};
const std::vector<std::string> kHip = {"{hip-compiler}", "-x", "hip", "-I{out}/hip/kernels", "-o", "{out}/a", "{out}/hip/kernels/a.cu"};

std::vector<std::string> words_of(const Json& entry) {
  std::vector<std::string> words;
  for (const Json& word : *entry.find("arguments")->array()) words.push_back(*word.text());
  return words;
}

}  // namespace

TEST_CASE("compile_commands gives a CUDA source in clang's spelling, once") {
  Toolchain toolchain;
  toolchain.cuda_path = "/cuda";
  const Json json = compile_commands(
      plan_of({compile(ToolKind::kNvcc, "sm_90", kNvcc, "{src}/kernels/a.cu"),
               compile(ToolKind::kNvcc, "compute_80", kNvcc, "{src}/kernels/a.cu")}),
      toolchain);
  const auto& entries = *json.array();
  REQUIRE(entries.size() == 1);
  CHECK(*entries[0].find("file")->text() == "/src/kernels/a.cu");
  CHECK(*entries[0].find("directory")->text() == "/src");
  CHECK(words_of(entries[0]) ==
        std::vector<std::string>{"clang++", "-x", "cuda", "--cuda-gpu-arch=sm_90", "--cuda-device-only",
                                 "--cuda-path=/cuda", "-std=c++17", "-Ikernels", "-DX=1,2",
                                 "/src/kernels/a.cu"});
}

TEST_CASE("compile_commands leaves out what assembles PTX") {
  const std::string ptx = "{out}/images/affine/compute_80.ptx";
  const Json json = compile_commands(
      plan_of({compile(ToolKind::kNvcc, "compute_80", kNvcc, "{src}/kernels/a.cu"),
               compile(ToolKind::kNvcc, "sm_80", {"{nvcc}", "-cubin", "-o", "{out}/a", ptx}, ptx)}),
      {});
  REQUIRE(json.array()->size() == 1);
  CHECK(*json.array()->front().find("file")->text() == "/src/kernels/a.cu");
}

TEST_CASE("compile_commands gives a HIP compile as it runs, and its CUDA source like it") {
  const Json json = compile_commands(
      plan_of({compile(ToolKind::kHipCompiler, "gfx1100", kHip, "{out}/hip/kernels/a.cu")}), {});
  const auto& entries = *json.array();
  REQUIRE(entries.size() == 2);
  CHECK(*entries[0].find("file")->text() == "/out/hip/kernels/a.cu");
  CHECK(words_of(entries[0])[3] == "-I/out/hip/kernels");
  CHECK(*entries[1].find("file")->text() == "/src/kernels/a.cu");
  CHECK(words_of(entries[1])[3] == "-Ikernels");
}
