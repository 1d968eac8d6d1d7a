#include "tools/engine/step_error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "base/diagnostic.hpp"
#include "tests/support/fake_toolkit.hpp"
#include "tools/system/own_folder.hpp"

using namespace kiln;
using namespace kiln::tools;
using kiln::testing::FakeToolkit;

namespace {

// Returns the error for a user in that folder. The manifest is in /src.
Error error_of(const std::string& log, const std::string& folder) {
  FakeToolkit toolkit;
  REQUIRE(toolkit.files.write("/src/device/block.cuh", ""));
  Environment environment;
  environment.current_directory = folder;
  FileDigests digests(toolkit.files);
  const BuildContext context{toolkit.plan, toolkit.toolchain, environment, digests};
  return step_error(toolkit.step("compile fill sm_80"), context, toolkit.files, "exit status 1", log);
}

// Returns the part of the log that the error shows.
std::string shown(const std::string& log, const std::string& folder) {
  const Error error = error_of(log, folder);
  CHECK(error.message == "'compile fill sm_80' failed: exit status 1");
  const std::string& note = error.notes.at(0).text;
  CHECK(note.starts_with("nvcc printed:\n"));
  return note.substr(note.find('\n') + 1);
}

}  // namespace

TEST_CASE("step_error names the files of the log from the user's folder") {
  const std::string log =
      "In file included from device/block.cuh:3,\n"
      "                 from fill.cu:1:\n"
      "fill.cu(5): error: expected an expression\n"
      "device/block.cuh:7:2: error: no\n"
      "  | fill.cu: a quoted line\n"
      "other.cu:1:1: is nowhere\n"
      "/src/fill.cu:1:1: note: whole already";
  CHECK(shown(log, "/src") == log);
  CHECK(shown(log, "/") ==
        "In file included from src/device/block.cuh:3,\n"
        "                 from src/fill.cu:1:\n"
        "src/fill.cu(5): error: expected an expression\n"
        "src/device/block.cuh:7:2: error: no\n"
        "  | fill.cu: a quoted line\n"
        "other.cu:1:1: is nowhere\n"
        "/src/fill.cu:1:1: note: whole already");
  CHECK(shown("fill.cu:1:1: error", "/src/build") == "/src/fill.cu:1:1: error");
}

TEST_CASE("step_error is about the place of the log's first error") {
  const auto place = [](const std::string& log) { return to_string(error_of(log, "/").where); };
  CHECK(place("fill.cu(5): warning: old\nfill.cu(7): error: broken\nfill.cu(9): error: more") == "src/fill.cu:7");
  CHECK(place("device/block.cuh:7:2: fatal error: no") == "src/device/block.cuh:7:2");
  CHECK(place("other.cu:3: error: x") == "other.cu:3");
  CHECK(place("nvcc fatal   : Unsupported gpu architecture 'sm_10'").empty());
  CHECK(place("ld.lld: error: undefined symbol: f").empty());
  CHECK(place("a(b): error: x").empty());
  CHECK(place("").empty());
}

TEST_CASE("step_error says which word of the manifest holds several options") {
  FakeToolkit toolkit;
  FileDigests digests(toolkit.files);
  const Environment environment;
  const BuildContext context{toolkit.plan, toolkit.toolchain, environment, digests};
  Step step = toolkit.step("compile fill sm_80");
  const auto hints = [&] { return render(step_error(step, context, toolkit.files, "exit status 1", "no")); };
  CHECK(hints().find("hint:") == std::string::npos);
  step.argv.push_back("-O3 -g");
  CHECK(hints().ends_with(
      "\nhint: '-O3 -g' is one word to a compiler: in the manifest, each option is an entry of its own\n"));
}

TEST_CASE("step_error says what sources that are compiled as one must keep to") {
  FakeToolkit toolkit;
  FileDigests digests(toolkit.files);
  const Environment environment;
  const BuildContext context{toolkit.plan, toolkit.toolchain, environment, digests};
  Step step = toolkit.step("compile fill sm_80");
  step.kind = StepKind::kJoin;
  const Error error =
      step_error(step, context, toolkit.files, "exit status 1", "b.cu(1): error: already defined");
  CHECK(error.notes.back().text.starts_with(
      "'joined_ptx' compiles all sources of the module as one"));
}

TEST_CASE("step_error says what to do when the disk is full") {
  for (const char* why : {"No space left on device", "Disk quota exceeded"}) {
    const Error error =
        error_of(std::string("fatal error: IO failure on output stream: ") + why, "/");
    CHECK(error.notes.back().text == "free some disk space and run the command again");
  }
}

TEST_CASE("step_error says how kiln's own headers are found") {
  FakeToolkit toolkit;
  REQUIRE(toolkit.files.write(kernels_folder() / "device/platform.cuh", ""));
  Environment environment;
  FileDigests digests(toolkit.files);
  const BuildContext context{toolkit.plan, toolkit.toolchain, environment, digests};
  const auto last_note = [&](const std::string& log) {
    return step_error(toolkit.step("compile fill sm_80"), context, toolkit.files, "exit status 1", log).notes.back().text;
  };
  const std::string hint =
      "'device/platform.cuh' is kiln's own: add \"{kiln}\" to \"include_directories\" in the manifest";
  CHECK(last_note("fill.cu:1:10: fatal error: 'device/platform.cuh' file not found\n    1 | #include") == hint);
  CHECK(last_note("fill.cu:1:10: fatal error: device/platform.cuh: No such file or directory\n    1 | #include") == hint);
  CHECK(last_note("fill.cu:1:10: fatal error: device/other.cuh: No such file or directory").starts_with("command, run in"));
}

TEST_CASE("step_error says how a header that hipcc misses is made known to kiln") {
  FakeToolkit toolkit;
  for (const char* header : {"device/x.cuh", "include/y.cuh", "z.cuh"}) {
    REQUIRE(toolkit.files.write(std::filesystem::path("/src") / header, ""));
  }
  for (const char* file : {"/src/device/a.cuh", "/src/out/hip/device/a.cuh"})
    REQUIRE(toolkit.files.write(file, ""));
  Environment environment;
  environment.current_directory = GENERATE("/src", "/", "/elsewhere");
  FileDigests digests(toolkit.files);
  const BuildContext context{toolkit.plan, toolkit.toolchain, environment, digests};
  Step step = toolkit.step("compile fill sm_80");
  step.argv.insert(step.argv.end(), {"-I{out}/hip/include", "-I/opt/include"});
  const auto last_note = [&](const std::string& file, const std::string& header) {
    const std::string log =
        file + ":1:10: fatal error: '" + header + "' file not found\n    1 | #include";
    return step_error(step, context, toolkit.files, "exit status 1", log).notes.back().text;
  };
  CHECK(
      last_note("device/a.cuh", "x.cuh").starts_with("command, run in"));  // nvcc converts nothing
  step.tool = ToolKind::kHipCompiler;
  const auto hint = [](const std::string& header) {
    return "name the header in the source too, such as in '#if 0': #include \"" + header + "\"";
  };
  CHECK(last_note("device/a.cuh", "x.cuh") == hint("x.cuh"));
  CHECK(last_note("/src/out/hip/device/a.cuh", "x.cuh") == hint("x.cuh"));
  CHECK(last_note("device/a.cuh", "y.cuh") == hint("y.cuh"));
  CHECK(last_note("fill.cu", "device/x.cuh") == hint("device/x.cuh"));
  CHECK(
      last_note("device/a.cuh", "z.cuh").starts_with("command, run in"));  // not where hipcc looked
  CHECK(last_note("device/a.cuh", "none.cuh").starts_with("command, run in"));
  REQUIRE(toolkit.files.write("/src/out/hip/device/x.cuh", ""));
  CHECK(last_note("device/a.cuh", "x.cuh").starts_with("command, run in"));  // it is converted
}
