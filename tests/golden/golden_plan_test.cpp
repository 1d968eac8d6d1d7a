// What `kiln plan` prints for whole manifests, with the fake toolchain: cases/*.txt hold the project,
// plans/*.txt and *.json what is printed.
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "formats/host_flags.hpp"
#include "tests/support/fake_toolchain.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sections.hpp"
#include "tools/cli/parse_command_line.hpp"
#include "tools/json/json.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

std::string plan(FakeToolchain& machine, std::vector<std::string> arguments) {
  std::ostringstream out, err;
  tools::World world{machine.files, machine.processes, machine.environment, out, err};
  arguments.insert(arguments.begin(), "plan");
  const auto invocation = tools::parse_command_line(arguments);
  REQUIRE(invocation);
  const Result<int> status = tools::run_plan(std::get<tools::PlanOptions>(*invocation), world);
  if (!status) return render(status.error());
  return out.str();
}

void put_project(FakeToolchain& machine, const std::filesystem::path& path,
                 const std::string& folder) {
  for (const auto& [name, text] : read_sections(path)) {
    if (name != "environment") machine.put(folder + "/" + name, text);
  }
}

// The plan as it would be on a processor that wants no flag of its own: golden files hold on any.
std::string without_processor(std::string text) {
  for (const std::string& flag : host_processor_flags()) {
    for (const std::string& word : {" " + flag, "        \"" + flag + "\",\n"}) {
      for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
        text.erase(at, word.size());
      }
    }
  }
  return text;
}

}  // namespace

TEST_CASE("kiln plan prints the steps of a build") {
  for (const auto& path : files_in(std::filesystem::path(KILN_GOLDEN_DIR) / "projects", ".txt")) {
    DYNAMIC_SECTION(path.stem().string()) {
      FakeToolchain machine;
      put_project(machine, path, "/project");
      std::istringstream lines(section(read_sections(path), "environment"));
      for (std::string line; std::getline(lines, line);) {
        const std::size_t equals = line.find('=');
        machine.environment.variables[line.substr(0, equals)] = line.substr(equals + 1);
      }
      check_golden("plans/" + path.stem().string() + ".txt",
                   without_processor(plan(machine, {"targets.json"})));
      check_golden("plans/" + path.stem().string() + ".json",
                   without_processor(plan(machine, {"targets.json", "--json"})));
    }
  }
}

TEST_CASE("kiln plan compiles host images for this machine's kind of processor") {
  FakeToolchain machine;
  put_project(machine, std::filesystem::path(KILN_GOLDEN_DIR) / "projects" / "on_the_host.txt",
              "/project");
  std::string flags = " -std=c++17";
  for (const std::string& flag : host_processor_flags()) flags += " " + flag;
  const std::string text = plan(machine, {"targets.json", "--target", "host"});
  CHECK(text.find("{host-compiler} -x c++ -O3" + flags + " -DKILN_HOST_WAVE=32 ") !=
        std::string::npos);
}

TEST_CASE("kiln plan prints the same text wherever project, out folder and tools lie") {
  const auto project = std::filesystem::path(KILN_GOLDEN_DIR) / "projects" / "two_modules.txt";
  FakeToolchain one;
  put_project(one, project, "/project");
  FakeToolchain other;
  put_project(other, project, "/home/user/deep/down");
  (void)other.files.remove_all("/opt/rocm");
  (void)other.files.remove_all("/usr/local/cuda");
  other.add_rocm("/tools/rocm-7");
  other.add_cuda("/tools/cuda-13");
  other.environment.variables["ROCM_PATH"] = "/tools/rocm-7";
  other.environment.variables["CUDA_HOME"] = "/tools/cuda-13";
  CHECK(plan(one, {"targets.json"}) ==
        plan(other, {"/home/user/deep/down/targets.json", "--out", "/tmp/elsewhere"}));
}

TEST_CASE("kiln plan runs no tool when nothing of the toolchain has changed") {
  FakeToolchain machine;
  put_project(machine, std::filesystem::path(KILN_GOLDEN_DIR) / "projects" / "two_modules.txt",
              "/project");
  const std::string first = plan(machine, {"targets.json"});
  CHECK_FALSE(machine.processes.ran().empty());
  machine.processes.forget();
  CHECK(plan(machine, {"targets.json"}) == first);
  CHECK(machine.processes.ran().empty());
}

TEST_CASE("kiln plan leaves out what cannot be built when it is told to") {
  FakeToolchain machine;
  put_project(machine, std::filesystem::path(KILN_GOLDEN_DIR) / "projects" / "two_modules.txt",
              "/project");
  (void)machine.files.remove_all("/opt/rocm");
  const std::string text = plan(machine, {"targets.json", "--allow-missing"});
  CHECK(text.find("# left out: gfx1100") != std::string::npos);
  CHECK(text.find("hipify") == std::string::npos);
  CHECK(text.find("compile affine sm_90") != std::string::npos);
}

TEST_CASE("kiln plan builds the targets and modules that are asked for") {
  FakeToolchain machine;
  put_project(machine, std::filesystem::path(KILN_GOLDEN_DIR) / "projects" / "two_modules.txt",
              "/project");
  const auto json = tools::read_json(
      plan(machine, {"targets.json", "--json", "--module", "fill", "--target", "sm_80"}), "plan");
  REQUIRE(json);
  std::vector<std::string> ids;
  for (const tools::Json& step : *json->find("steps")->array()) ids.push_back(*step.find("id")->text());
  CHECK(ids == std::vector<std::string>{"compile fill sm_80", "fatbin fill"});
}
