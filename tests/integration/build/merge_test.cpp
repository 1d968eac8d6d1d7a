// Builds of some targets each, which are merged and taken apart again.
#include <catch2/catch_test_macros.hpp>

#include "tests/integration/build/project.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

void build(Project& project, const std::string& out, const std::vector<std::string>& targets) {
  std::vector<std::string> words = {"build", "--out", out};
  for (const std::string& target : targets) words.insert(words.end(), {"--target", target});
  const tools::Outcome outcome = project.kiln(words);
  INFO(outcome.diagnostics);
  REQUIRE(outcome.ok());
}

std::map<std::string, std::string> outputs(const Project& project, const std::string& folder) {
  auto found = project.outputs(folder);
  found.erase("compile_commands.json");
  return found;
}

}  // namespace

TEST_CASE(
    "kiln merge gives byte for byte what one build of all targets gives, and strip its parts") {
  KILN_NEEDS_BOTH_VENDORS();
  const ScratchFolder folder;
  Project project(folder.path());
  // Two units, so that there are bundles for each unit and a joined PTX. The output of hipify-perl,
  // the logs of the compilers and the embedded sources are merged as well.
  std::string manifest = project.read("targets.json");
  const std::string sources = "\"sources\": [\"fill.cu\"]";
  manifest.replace(manifest.find(sources), sources.size(),
                   "\"sources\": [\"fill.cu\", \"affine.cu\"]");
  manifest.replace(manifest.find("\"affine\""), 8, "\"other\"");
  const std::string other = "\"sources\": [\"affine.cu\"]";
  manifest.replace(manifest.find(other), other.size(), "\"sources\": [\"other.cu\"]");
  manifest.insert(manifest.find("\"embed\": {") + 10, "\"source\": \"beside\", ");
  manifest.insert(1, "\"joined_ptx\": true,");
  project.write("targets.json", manifest);
  project.write("other.cu",
                "template <typename T> __global__ void twice(T* y) { y[threadIdx.x] *= 2; }\n"
                "template __global__ void twice<float>(float*);\n");
  build(project, "out", {});
  build(project, "one", {"gfx1100", "compute_80"});
  build(project, "two", {"gfx1030"});
  build(project, "three", {"sm_80"});

  const tools::Outcome merged = project.kiln({"merge", "one", "two", "three", "--out", "all"});
  INFO(merged.diagnostics);
  REQUIRE(merged.ok());
  CHECK(merged.output == "3 kernels in 12 images for 4 targets: all/include/demo.hpp\n");
  const auto whole = outputs(project, "out");
  CHECK(whole.size() > 20);
  CHECK(outputs(project, "all") == whole);

  REQUIRE(project.kiln({"strip", "all", "--keep", "gfx1030", "--out", "stripped"}).ok());
  CHECK(outputs(project, "stripped") == outputs(project, "two"));
  // A folder that kiln filled is replaced.
  REQUIRE(
      project
          .kiln({"strip", "out", "--keep", "compute_80", "--keep", "gfx1100", "--out", "stripped"})
          .ok());
  CHECK(outputs(project, "stripped") == outputs(project, "one"));
  // Except for files of the user.
  const std::vector<std::string> mine = {"all/include/mine.hpp", "all/images/mine.txt",
                                         "all/bundles/mine", "all/sources/mine.cu"};
  for (const std::string& path : mine) project.write(path, "mine");
  const tools::Outcome fewer = project.kiln({"merge", "one", "--out", "all"});
  CHECK(fewer.diagnostics == "kiln: removed what all held for gfx1030, sm_80\n");
  for (const std::string& path : mine) {
    CHECK(project.read(path) == "mine");
    fs::remove(folder.path() / path);
  }
  CHECK(outputs(project, "all") == outputs(project, "one"));
}

TEST_CASE("kiln merge refuses parts of different headers that only an option names") {
  KILN_NEEDS_BOTH_VENDORS();
  const ScratchFolder folder;
  Project project(folder.path());
  std::string manifest = project.read("targets.json");
  manifest.insert(
      1, "\"flags\": [\"-include\", \"first.h\"], \"nvidia_flags\": [\"-include\", \"other.h\"],");
  project.write("targets.json", manifest);
  project.write("first.h", "#include \"value.h\"\n");
  project.write("value.h", "#define VALUE 1\n");
  project.write("other.h", "\n");
  build(project, "out", {});
  build(project, "one", {"gfx1100", "compute_80"});
  build(project, "two", {"gfx1030"});
  build(project, "three", {"sm_80"});
  REQUIRE(project.kiln({"merge", "one", "two", "three", "--out", "all"}).ok());
  CHECK(outputs(project, "all") == outputs(project, "out"));

  project.write("value.h", "#define VALUE 2\n");
  build(project, "two", {"gfx1030"});
  const tools::Outcome merged = project.kiln({"merge", "one", "two", "three", "--out", "all"});
  CHECK_FALSE(merged.ok());
  CHECK(merged.diagnostics.find(
            "file 'value.h', which compilers read, differs between 'one' and 'two'") !=
        std::string::npos);
}
