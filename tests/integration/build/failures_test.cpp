// What the user sees when a build cannot be completed, and what remains afterwards.
#include <catch2/catch_test_macros.hpp>

#include "tests/integration/build/project.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("kiln build shows every broken module with its compiler's words and the exact command") {
  if (!has_nvidia()) SKIP("needs nvcc: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  project.write("affine.cu", "extern \"C\" __global__ void affine_f32(float* x) { x[0] = undeclared_a; }\n");
  project.write("fill.cu", "extern \"C\" __global__ void fill_f32(float* x) { x[0] = undeclared_b; }\n");
  const tools::Outcome outcome =
      project.kiln({"build", "--target", "sm_90", "--target", "compute_80"});
  CHECK(outcome.exit_code == 1);
  for (const char* step : {"'compile affine sm_90'", "'compile affine compute_80'",
                           "'compile fill sm_90'", "'compile fill compute_80'"}) {
    CAPTURE(step);
    CHECK(contains(outcome.diagnostics, ".cu:1: " + std::string(step) + " failed: exit status"));
  }
  CHECK(contains(outcome.diagnostics, "identifier \"undeclared_a\" is undefined"));
  CHECK(contains(outcome.diagnostics, "identifier \"undeclared_b\" is undefined"));
  CHECK(contains(outcome.diagnostics, "nvcc -cubin -arch=sm_90"));
  // The same output for another target is printed once.
  CHECK(contains(outcome.diagnostics, "\nnote: nvcc printed the same as for 'compile affine sm_90'\n"));
  CHECK_FALSE(contains(outcome.diagnostics, "nvcc -ptx -arch=compute_80"));
  CHECK_FALSE(fs::exists(project.out() / "kiln.json"));
  CHECK_FALSE(fs::exists(project.out() / "include"));
}

TEST_CASE("kiln build lets hipcc name the lines of the sources, not of what hipify-perl made of them") {
  if (!has_amd()) SKIP("needs hipify-perl, hipcc and clang-offload-bundler: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  // hipify-perl inserts an #include before the first line of each file.
  project.write("shared.cuh", "#pragma once\n\n__device__ inline float scale() { return undeclared_a; }\n");
  project.write("affine.cu",
                "#include \"shared.cuh\"\n"
                "extern \"C\" __global__ void affine_f32(float* x) {\n"
                "  x[0] = undeclared_b;\n}\n");
  const tools::Outcome outcome =
      project.kiln({"build", "--target", "gfx1100", "--module", "affine"});
  INFO(outcome.diagnostics);
  CHECK(outcome.exit_code == 1);
  CHECK(contains(outcome.diagnostics, "\nshared.cuh:3:42: error: use of undeclared identifier"));
  CHECK(contains(outcome.diagnostics, "\naffine.cu:3:10: error: use of undeclared identifier"));
  CHECK(contains(outcome.diagnostics, "hipify-perl made of the sources, in " +
                                          (project.out() / "hip").string() + "\n"));
}

TEST_CASE("kiln build --keep-going embeds the intact modules and still fails") {
  if (!has_nvidia()) SKIP("needs nvcc: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  project.write("affine.cu", "broken\n");
  const tools::Outcome outcome = project.kiln({"build", "--keep-going", "--target", "compute_80"});
  CHECK(outcome.exit_code == 1);
  const std::string catalog = project.read("out/kiln.json");
  CHECK(contains(catalog, "fill_f32"));
  CHECK_FALSE(contains(catalog, "affine"));
  CHECK(fs::exists(project.out() / "include/demo.hpp"));
  CHECK(fs::exists(project.out() / "bundles/fill.fatbin"));
}

TEST_CASE("kiln build refuses a kernel that only one vendor's images have, by name") {
  KILN_NEEDS_BOTH_VENDORS();
  const ScratchFolder folder;
  const Project project(folder.path());
  project.write("fill.cu",
                "extern \"C\" __global__ void fill_f32(float* y, float a) { y[0] = a; }\n"
                "#if __CUDA_ARCH__ >= 800\n"
                "extern \"C\" __global__ void fill_bf16(float* y, float a) { y[0] = a; }\n"
                "#endif\n");
  const tools::Outcome outcome = project.kiln({"build", "--target", "sm_80", "--target", "gfx1100"});
  CHECK(outcome.exit_code == 1);
  CHECK(contains(outcome.diagnostics, "module 'fill': its images do not all have the same kernels"));
  CHECK(contains(outcome.diagnostics, "gfx1100:\n  missing: fill_bf16"));
  CHECK_FALSE(fs::exists(project.out() / "include"));
}

TEST_CASE("kiln doctor warns of a KILN_DEVICE that this machine does not have") {
  const ScratchFolder folder;
  Project project(folder.path());
  project.environment = {{"KILN_DEVICE", "cuda:77"}};
  CHECK(contains(project.kiln({"doctor"}).diagnostics, "kiln: warning: KILN_DEVICE: no device 'cuda:77' on this machine\n"));
}

TEST_CASE("kiln doctor tells the headers that hipify-perl does not know") {
  if (!has_amd()) SKIP("needs hipify-perl, hipcc and clang-offload-bundler: see kiln doctor");
  const ScratchFolder folder;
  Project project(folder.path());
  const fs::path hipify = folder.path() / "bin/hipify-perl";
  fs::create_directories(hipify.parent_path());
  project.write("bin/hipify-perl", "#!/bin/sh\n# subst(\"cuda_bf16.h\", ...); subst(\"cub\\/cub.cuh\", ...)\n"
                                   "echo 'HIPIFY version 1.0.0'\n");
  fs::permissions(hipify, fs::perms::owner_all);
  project.environment = {{"KILN_HIPIFY_PERL", hipify.string()}};
  const tools::Outcome told = project.kiln({"doctor"});
  INFO(told.output);
  const std::size_t note = told.output.find("note: this hipify-perl does not know headers");
  REQUIRE(note != std::string::npos);
  const std::string headers = told.output.substr(note, told.output.find("hipcc", note) - note);
  CHECK(contains(headers, "cooperative_groups.h"));
  CHECK_FALSE(contains(headers, "cuda_bf16.h"));
  CHECK_FALSE(contains(headers, "cub/cub.cuh"));
}

TEST_CASE("kiln build fails for a target without tools, and --allow-missing leaves it out") {
  if (!has_nvidia()) SKIP("needs nvcc: see kiln doctor");
  const ScratchFolder folder;
  Project project(folder.path());
  project.environment = {{"KILN_HIPCC", "/nowhere/hipcc"}};
  const std::vector<std::string> arguments = {"build", "--target", "gfx1100", "--target", "compute_80"};
  const tools::Outcome failed = project.kiln(arguments);
  CHECK(failed.exit_code == 3);
  CHECK(contains(failed.diagnostics, "gfx1100"));
  CHECK_FALSE(fs::exists(project.out() / "images"));
  std::vector<std::string> lenient = arguments;
  lenient.push_back("--allow-missing");
  const tools::Outcome built = project.kiln(lenient);
  INFO(built.diagnostics);
  CHECK(built.exit_code == 0);
  const tools::Json catalog = tools::read_json(project.read("out/kiln.json"), "kiln.json").value();
  CHECK(*(*catalog.find("missing_targets")->array())[0].text() == "gfx1100");
  CHECK(*(*catalog.find("targets")->array())[0].text() == "compute_80");
}

TEST_CASE("kiln build goes without -Xcicc, and says so, when nvcc refuses it") {
  if (!has_nvidia()) SKIP("needs nvcc: see kiln doctor");
  const ScratchFolder folder;
  Project project(folder.path());
  const fs::path nvcc = folder.path() / "bin/nvcc";
  project.write("bin/nvcc",
                "#!/bin/sh\nfor word; do case $word in -Xcicc) echo \"nvcc fatal   : Unknown option "
                "'$word'\" >&2; exit 1;; esac; done\nexec '" +
                    real_toolchain().tool(tools::ToolKind::kNvcc).path.string() + "' \"$@\"\n");
  fs::permissions(nvcc, fs::perms::owner_all);
  project.environment = {{"KILN_NVCC", nvcc.string()}};
  const std::string said =
      "it does not take -Xcicc --orig_src_path_name: its images may differ from folder to folder\n";
  const std::vector<std::string> build = {"build", "--target", "sm_90", "--target", "compute_80"};
  const tools::Outcome built = project.kiln(build);
  INFO(built.diagnostics);
  CHECK(built.ok());
  CHECK(contains(built.diagnostics, "kiln: warning: nvcc: " + said));
  CHECK_FALSE(contains(project.kiln(build).diagnostics, said));  // nothing ran
  CHECK(contains(project.kiln({"doctor"}).output, "note: " + said));
}

TEST_CASE("kiln build interrupted ends its compilers, leaves nothing half-written, and goes on later") {
  if (!has_nvidia()) SKIP("needs nvcc: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  // Slow enough that the interrupt arrives during a compile.
  std::string slow = "extern \"C\" __global__ void fill_f32(float* y, float a) {\n";
  for (int i = 0; i < 1500; ++i) slow += "  y[" + std::to_string(i) + "] = sinf(a) * pow(a, y[0]);\n";
  project.write("fill.cu", slow + "}\n");
  const tools::Outcome interrupted =
      project.run({"/usr/bin/timeout", "--preserve-status", "-s", "INT", "2.5", KILN_PROGRAM, "build",
                   "--target", "sm_80", "--module", "fill", "--no-cache"});
  CHECK(interrupted.exit_code == 130);
  CHECK(contains(interrupted.diagnostics, "interrupted"));
  CHECK_FALSE(fs::exists(project.out() / "images/fill/sm_80.cubin"));
  if (fs::exists(project.out() / ".kiln/tmp")) CHECK(fs::is_empty(project.out() / ".kiln/tmp"));
  project.write("fill.cu", "extern \"C\" __global__ void fill_f32(float* y, float a) { y[0] = a; }\n");
  const tools::Outcome later = project.kiln({"build", "--target", "sm_80", "--module", "fill"});
  INFO(later.diagnostics);
  CHECK(later.ok());
}

TEST_CASE("kiln build says what the host takes where a source is plain CUDA") {
  const ScratchFolder folder;
  const Project project(folder.path());
  const tools::Outcome outcome = project.kiln({"build", "--target", "host", "--module", "fill"});
  CHECK(outcome.diagnostics.find(
            "hint: the host takes no plain CUDA, but sources that include device/platform.cuh and spell "
            "kernels with KILN_KERNEL: docs/HOST.md\n"
            "hint: without a GPU, plain CUDA runs on an emulated one: build for --target gfx1100, run "
            "with KILN_DEVICE=emulated:gfx1100") != std::string::npos);
  project.write("targets.json", R"({"format": 1, "name": "demo", "targets": ["host"],
    "modules": [{"name": "fill", "sources": ["fill.cu"]}], "include_directories": [")" KILN_KERNELS_FOLDER R"("]})");
  project.write("fill.cu", "#include <device/platform.cuh>\n"
                           "KILN_KERNEL(64, fill_f32, float* y) { y[threadIdx.x] = 1; __syncthreads(); }\n");
  CHECK(project.kiln({"build"}).diagnostics.find(
            "hint: on every target, in place of __syncthreads: kiln::device::barrier(); threadIdx: "
            "kiln::device::thread_index(); docs/HOST.md has more") != std::string::npos);
}

TEST_CASE("kiln build names a source of several that has no kernels") {
  const ScratchFolder folder;
  const Project project(folder.path());
  project.write("targets.json", R"({"format": 1, "name": "demo", "targets": ["host"],
    "modules": [{"name": "fill", "sources": ["fill.cu", "template.cu"]}], "include_directories": [")" KILN_KERNELS_FOLDER R"("]})");
  project.write("fill.cu", "#include <device/platform.cuh>\nKILN_KERNEL(64, fill_f32, float* y) { y[0] = 1; }\n");
  project.write("template.cu", "#include <device/platform.cuh>\ntemplate <typename T> void never(T* y) { y[0] = 1; }\n");
  const tools::Outcome outcome = project.kiln({"build"});
  INFO(outcome.diagnostics);
  CHECK(outcome.ok());
  CHECK(contains(outcome.diagnostics, "kiln: warning: 'template.cu' has no kernels: a template is one "
                                      "where it is instantiated\n"));
}
