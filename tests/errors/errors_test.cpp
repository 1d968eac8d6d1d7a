// Every bad input, as a user meets it: a kiln command in /project, on a machine with the fake
// toolchain, prints exactly the text that the case expects.
//
//   --- command      the words after "kiln", '' for an empty one; without any, "plan targets.json"
//   --- absent       paths that this machine lacks, one a line
//   --- environment  NAME=VALUE, one a line; NAME= for a variable that is not set
//   --- links        NAME=TARGET of files that are links, one a line
//   --- pipes, loops  paths that are pipes, or links to themselves, one a line
//   --- untrusted    folders that everybody may write to, one a line
//   --- expected     what main prints
//   --- any other    a file below /project
// Commands that would run compilers or lock a folder cannot be tested here.
// kernels/affine.cu exists unless a case has its own or lists it as absent.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/diagnostic.hpp"
#include "tests/support/fake_toolchain.hpp"
#include "tests/support/sections.hpp"
#include "tools/cli/parse_command_line.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) found.push_back(word == "''" ? "" : word);
  return found;
}

struct Command {
  tools::World& world;

  Result<int> operator()(const tools::PlanOptions& options) const {
    return tools::run_plan(options, world);
  }
  Result<int> operator()(const tools::BuildOptions& options) const {
    return tools::run_build(options, world);
  }
  Result<int> operator()(const tools::CacheOptions& options) const {
    return tools::run_cache(options, world);
  }
  Result<int> operator()(const tools::InspectOptions& options) const {
    return tools::run_inspect(options, world);
  }
  Result<int> operator()(const tools::RunOptions& options) const {
    return tools::run_run(options, world);
  }
  Result<int> operator()(const tools::InitOptions& options) const {
    return tools::run_init(options, world);
  }
  Result<int> operator()(const tools::LockOptions& options) const {
    return tools::run_lock(options, world);
  }
  Result<int> operator()(const tools::MergeOptions& options) const {
    return tools::run_merge(options, world);
  }
  Result<int> operator()(const tools::StripOptions& options) const {
    return tools::run_strip(options, world);
  }
  Result<int> operator()(const tools::ReportOptions& options) const {
    return tools::run_report(options, world);
  }
  Result<int> operator()(const tools::DiffOptions& options) const {
    return tools::run_diff(options, world);
  }
  Result<int> operator()(const tools::VerifyOptions& options) const {
    return tools::run_verify(options, world);
  }
  template <typename Options>
  Result<int> operator()(const Options&) const {
    return Error{ErrorCode::kInvalidInput, "the case's command is not one that can be tried here"};
  }
};

std::string run(const Sections& sections) {
  FakeToolchain machine;
  machine.put("/project/kernels/affine.cu", "__global__ void affine() {}\n");
  for (const auto& [name, text] : sections) {
    if (name == "command" || name == "expected") continue;
    static constexpr std::array kLists = {"absent", "environment", "links",
                                          "pipes",  "loops",       "untrusted"};
    const bool is_list = std::find(kLists.begin(), kLists.end(), name) != kLists.end();
    for (const std::string& line : words(is_list ? text : "")) {
      const std::string path = (std::filesystem::path("/project") / line).string();
      if (name == "pipes") {
        machine.files.special_files[path] = tools::PathKind::kOther;
      } else if (name == "loops") {
        machine.files.special_files[path] = tools::PathKind::kHidden;
      } else if (name == "untrusted") {
        machine.files.untrusted[path] = "everybody may write to " + path;
      } else if (name == "absent") {
        (void)machine.files.remove_all(std::filesystem::path("/project") / line);
      } else {
        const std::size_t equals = line.find('=');
        const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
        if (name == "links") {
          machine.files.links["/project/" + key] = value;
        } else {
          machine.environment.variables[key] = value;
        }
      }
    }
    if (is_list) continue;
    machine.put("/project/" + name, text);
  }
  std::ostringstream out, err;
  tools::World world{machine.files, machine.processes, machine.environment, out, err};
  const auto invocation =
      tools::parse_command_line(words(section(sections, "command", "plan targets.json")));
  if (!invocation) return render(invocation.error());
  const Result<int> status = std::visit(Command{world}, *invocation);
  return status ? "no error\n" : render(status.error());
}

// As for golden files (tests/support/golden.hpp): read the diff before committing it.
bool is_updating() {
  const char* update = std::getenv("KILN_UPDATE_GOLDEN");
  return update != nullptr && std::string_view(update) == "1";
}

}  // namespace

TEST_CASE("kiln says what is wrong with a bad input") {
  for (const auto& path : files_in(KILN_CASES, ".txt")) {
    DYNAMIC_SECTION(path.stem().string()) {
      const Sections sections = read_sections(path);
      const std::string said = run(sections);
      if (is_updating()) {
        const std::string text = read_text(path);
        const std::string marker = "--- expected\n";
        std::ofstream(path, std::ios::binary) << text.substr(0, text.find(marker)) + marker + said;
      } else {
        CHECK(said == section(sections, "expected"));
      }
    }
  }
}
