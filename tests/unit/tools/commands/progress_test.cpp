#include <sstream>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_files.hpp"
#include "tests/support/fake_processes.hpp"
#include "tools/commands/progress.hpp"

using namespace kiln::tools;
using kiln::testing::FakeFiles;
using kiln::testing::FakeProcesses;

namespace {

struct Shown {
  FakeFiles files;
  FakeProcesses processes;
  Environment environment;
  std::ostringstream out, err;
  World world{.files = files, .processes = processes, .environment = environment, .out = out, .err = err};

  Step step(std::string id) {
    Step step;
    step.id = std::move(id);
    return step;
  }

  // Plays three steps: one runs, one comes from the cache, and one fails.
  void play(const ProgressOptions& options) {
    const auto progress = make_progress(options, world);
    progress->planned(3, 0);
    progress->started(step("compile affine sm_80"), 0);
    progress->finished(step("compile affine sm_80"),
                       {StepStatus::kRan, {"affine.cu changed", "flag -O3 -> -O2"}, 1240});
    progress->finished(step("compile fill sm_80"), {StepStatus::kCached, {"no finished run on record"}, 0});
    progress->started(step("compile unary sm_80"), 0);
    progress->finished(step("compile unary sm_80"), {StepStatus::kFailed, {"no finished run on record"}, 0});
  }
};

}  // namespace

TEST_CASE("progress in a log is a line a step") {
  Shown shown;
  shown.play({.style = ProgressStyle::kLines, .explain = false, .jobs = 2});
  CHECK(shown.err.str() ==
        "[1/3] compile affine sm_80 (1.2 s)\n"
        "[2/3] compile fill sm_80 (from the cache)\n"
        "[3/3] compile unary sm_80 FAILED\n");
  CHECK(shown.out.str().empty());
}

TEST_CASE("progress explains why each step ran when asked") {
  Shown shown;
  shown.play({.style = ProgressStyle::kLines, .explain = true, .jobs = 2});
  CHECK(shown.err.str().starts_with(
      "[1/3] compile affine sm_80 (1.2 s): affine.cu changed, flag -O3 -> -O2\n"));
}

TEST_CASE("progress names files of the out folder as the user would") {
  CHECK(with_out_folder("{out}/hip/a.cu changed, flag -o {out}/x", "b/out") == "b/out/hip/a.cu changed, flag -o b/out/x");
  CHECK(with_out_folder("a.cu changed", "out") == "a.cu changed");
  Shown shown;
  const auto progress = make_progress({.explain = true, .out = "b/out"}, shown.world);
  progress->planned(1, 0);
  progress->finished(shown.step("compile a gfx1100"), {StepStatus::kRan, {"{out}/hip/a.cu changed"}, 100});
  CHECK(shown.err.str() == "[1/1] compile a gfx1100 (0.1 s): b/out/hip/a.cu changed\n");
}

TEST_CASE("progress for a program is a JSON object a line on standard output") {
  Shown shown;
  shown.play({.style = ProgressStyle::kJson, .explain = false, .jobs = 2});
  CHECK(shown.err.str().empty());
  const std::string text = shown.out.str();
  CHECK(std::count(text.begin(), text.end(), '\n') == 6);
  CHECK(text.find("\"finished\"") != std::string::npos);
  CHECK(text.find("\"flag -O3 -> -O2\"") != std::string::npos);
}

TEST_CASE("progress on a terminal is one line that fits, and is gone at the end") {
  Shown shown;
  shown.environment.columns = 40;
  shown.play({.style = ProgressStyle::kTerminal, .explain = false, .jobs = 2});
  const std::string text = shown.err.str();
  CHECK(text.find("[0/3] compile affine sm_80") != std::string::npos);
  CHECK(text.find("compile unary sm_80 FAILED\n") != std::string::npos);
  CHECK(text.ends_with("\r\033[K"));
  // The text between two carriage returns is what one line shows.
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, '\r');) {
    const std::string_view shown_text = std::string_view(line).substr(line.starts_with("\033[K") ? 3 : 0);
    CHECK(shown_text.substr(0, shown_text.find('\n')).size() < 40);
  }
}

TEST_CASE("progress updates a line on a terminal that can take one back") {
  kiln::tools::Environment environment;
  CHECK(style_for(environment) == ProgressStyle::kLines);
  environment.stderr_is_terminal = true;
  CHECK(style_for(environment) == ProgressStyle::kTerminal);
  environment.variables["TERM"] = "dumb";
  CHECK(style_for(environment) == ProgressStyle::kLines);
}

TEST_CASE("progress says nothing when nothing is to do") {
  for (const auto style : {ProgressStyle::kLines, ProgressStyle::kTerminal, ProgressStyle::kJson}) {
    Shown shown;
    make_progress({.style = style, .explain = true, .jobs = 1}, shown.world).reset();
    CHECK(shown.err.str().empty());
    CHECK(shown.out.str().empty());
  }
}

TEST_CASE("format_duration is read at a glance") {
  CHECK(format_duration(0) == "0.0 s");
  CHECK(format_duration(1240) == "1.2 s");
  CHECK(format_duration(9999) == "10.0 s");
  CHECK(format_duration(12'400) == "12 s");
  CHECK(format_duration(59'700) == "1 min 0 s");
  CHECK(format_duration(185'000) == "3 min 5 s");
}
