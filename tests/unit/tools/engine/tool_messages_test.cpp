#include "tools/engine/tool_messages.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_toolkit.hpp"

using namespace kiln;
using namespace kiln::tools;
using kiln::testing::FakeToolkit;

namespace {

constexpr const char* kProperties =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'fill' for 'sm_80'\n"
    "ptxas info    : Function properties for fill\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers, used 0 barriers\n"
    "ptxas info    : Compile time = 1.5 ms\n";

constexpr const char* kWarning =
    "fill.cu(3): warning #177-D: variable \"a\" was declared but never referenced\n"
    "    int a;\n"
    "        ^\n";

class LoggedBuild {
 public:
  FakeToolkit toolkit;
  Environment environment;
  FileDigests digests{toolkit.files};

  explicit LoggedBuild(const std::string& folder = "/src") {
    environment.current_directory = folder;
  }

  BuildContext context() { return {toolkit.plan, toolkit.toolchain, environment, digests}; }
  std::string message(const std::string& log, const char* step = "compile fill sm_80") {
    return tool_message(toolkit.step(step), context(), toolkit.files, log);
  }
  // Returns the messages of a build in which each step ended like this, with this log.
  std::vector<std::string> messages(StepStatus status, const std::string& log) {
    Execution execution;
    for (const Step& step : toolkit.plan.steps) {
      execution.steps.emplace_back().status = status;
      REQUIRE(toolkit.files.write(expand(log_path(step), toolkit.plan), log));
    }
    return tool_messages(context(), execution, toolkit.files);
  }
};

}  // namespace

TEST_CASE("tool_message leaves out the properties of kernels and the number of warnings") {
  LoggedBuild build;
  CHECK(build.message("").empty());
  CHECK(build.message(kProperties).empty());
  CHECK(build.message("2 warnings generated when compiling for gfx1030.\n1 warning generated.\n")
            .empty());
  CHECK(build.message(std::string(kProperties) + "\n" + kWarning + "\n" + kProperties) + "\n" ==
        kWarning);
}

TEST_CASE("tool_message has each message once, with the lines that belong to it") {
  const std::string slow =
      "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized\n";
  CHECK(LoggedBuild().message(slow + kWarning + slow + kWarning) + "\n" == slow + kWarning);
}

TEST_CASE("tool_message names files from the user's folder") {
  CHECK(LoggedBuild("/").message("fill.cu(3): warning") == "src/fill.cu(3): warning");
}

TEST_CASE("tool_message says where the lines are that it leaves out") {
  std::string log;
  for (int i = 0; i < 43; ++i) log += "fill.cu(" + std::to_string(i) + "): warning\n";
  const std::string message = LoggedBuild().message(log);
  CHECK(
      message.ends_with("fill.cu(39): warning\n... and 3 more lines, in "
                        "/src/out/.kiln/logs/images/fill/sm_80.log"));
}

TEST_CASE("tool_messages tells what compilers printed, once for a source") {
  LoggedBuild build;
  const std::vector<std::string> expected = {
      std::string("nvcc printed for 'compile affine compute_80':\n") + kWarning,
      std::string("nvcc printed for 'compile fill compute_80':\n") + kWarning};
  for (const StepStatus status : {StepStatus::kRan, StepStatus::kCached}) {
    std::vector<std::string> messages = build.messages(status, kWarning);
    for (std::string& message : messages) message += "\n";
    CHECK(messages == expected);
  }
  CHECK(build.messages(StepStatus::kUpToDate, kWarning).empty());
  CHECK(build.messages(StepStatus::kSkipped, kWarning).empty());
}
