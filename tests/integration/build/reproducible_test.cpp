// The same input gives the same bytes, wherever the folders are.
#include <catch2/catch_test_macros.hpp>

#include "tests/integration/build/project.hpp"

using namespace kiln;
using namespace kiln::testing;

TEST_CASE("kiln build gives the same bytes in another folder, with another number of jobs") {
  if (!has_amd() && !has_nvidia()) SKIP("needs a compiler of one vendor: see kiln doctor");
  const ScratchFolder one, other;
  const Project here(one.path()), there(other / "a much longer name/with a space");
  const tools::Outcome first = here.kiln({"build", "--no-cache", "-j", "1"});
  INFO(first.diagnostics);
  REQUIRE(first.ok());
  const tools::Outcome second = there.kiln({"build", "--no-cache", "-j", "3"});
  INFO(second.diagnostics);
  REQUIRE(second.ok());
  const auto a = here.outputs(), b = there.outputs();
  std::vector<std::string> names;
  for (const auto& [name, bytes] : a) names.push_back(name);
  for (const auto& [name, bytes] : b) {
    CAPTURE(name);
    REQUIRE(a.contains(name));
    // The only file that is specific to this machine; it is for an editor.
    if (name != "compile_commands.json") CHECK((a.at(name) == bytes));
  }
  CHECK(a.size() == b.size());
}

TEST_CASE("kiln build writes no folder into debug information where the compiler can leave it out") {
  std::string targets = "\"host\"";
  if (has_amd()) targets += ", \"gfx1100\"";
  const ScratchFolder one, other;
  const Project here(one.path()), there(other / "a much longer name");
  for (const Project* project : {&here, &there}) {
    project->write("targets.json", R"({"format": 1, "name": "demo", "debug": "full", "targets": [)" + targets +
                                       R"(], "modules": [{"name": "fill", "sources": ["fill.cu"]}],
      "include_directories": [")" KILN_KERNELS_FOLDER R"("]})");
    project->write("fill.cu", "#include <device/platform.cuh>\n"
                              "KILN_KERNEL(64, fill_f32, float* y, float a) { y[kiln::device::thread_index()] = a; }\n");
    const tools::Outcome outcome = project->kiln({"build", "--no-cache"});
    INFO(outcome.diagnostics);
    REQUIRE(outcome.ok());
  }
  auto a = here.outputs(), b = there.outputs();
  for (const auto& [name, bytes] : b) {
    CAPTURE(name);
    if (name != "compile_commands.json") CHECK((a.at(name) == bytes));
  }
}

TEST_CASE("kiln build takes from the cache no debug information that names another folder") {
  if (!has_nvidia()) SKIP("needs nvcc: see kiln doctor");
  const ScratchFolder one, other;
  const Project here(one.path());
  Project there(other.path());
  there.environment = {{"KILN_CACHE_DIR", (one.path() / "cache").string()}};
  for (const Project* project : {&here, static_cast<const Project*>(&there)}) {
    std::string manifest = project->read("targets.json");
    project->write("targets.json", manifest.insert(1, "\"debug\": \"lines\","));
    const auto events = project->events({"--target", "compute_80", "--module", "fill"});
    CHECK(steps_of(events, "finished", "ran") == std::vector<std::string>{"compile fill compute_80", "fatbin fill"});
    CHECK(project->read("out/images/fill/compute_80.ptx").find(project->root().string() + "/fill.cu") !=
          std::string::npos);
  }
}
