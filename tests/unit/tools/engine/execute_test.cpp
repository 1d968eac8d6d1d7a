#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <new>
#include <set>

#include "tests/support/fake_toolkit.hpp"
#include "tools/engine/execute.hpp"

using namespace kiln;
using namespace kiln::tools;
using kiln::testing::FakeFiles;
using kiln::testing::FakeToolkit;
using kiln::testing::Faults;
using Ids = std::vector<std::string>;

namespace {

const Ids kAll = {"compile affine compute_80", "compile affine sm_80", "compile fill compute_80",
                  "compile fill sm_80",        "fatbin affine",        "fatbin fill"};

// An out folder over several builds. The state is written and read back between them.
struct Build {
  FakeToolkit toolkit;
  Environment environment;
  std::string saved_state;
  CacheStore* cache = nullptr;
  FailurePolicy policy = FailurePolicy::kStopBeforeBundles;
  unsigned jobs = GENERATE(1u, 3u);

  Result<Execution> run() {
    toolkit.processes.forget();
    FileDigests digests(toolkit.files);
    BuildState state = read_state(saved_state);
    const BuildContext context{toolkit.plan, toolkit.toolchain, environment, digests};
    Result<Execution> result = execute(context, state, toolkit.files, toolkit.processes,
                                       {.jobs = jobs, .failure_policy = policy, .cache = cache, .observer = nullptr});
    saved_state = write_state(state);
    return result;
  }

  Ids ran() const { return toolkit.ran(); }

  std::vector<std::string> reasons(const Execution& execution, std::string_view id) {
    return execution.steps[static_cast<std::size_t>(&toolkit.step(id) - toolkit.plan.steps.data())].reasons;
  }

  std::string output(std::string_view id) {
    return toolkit.files.read(expand(toolkit.step(id).output, toolkit.plan)).value_or("none");
  }

  // Returns every file of the out folder that is meant for users.
  std::map<std::string, std::string> outputs() const {
    std::map<std::string, std::string> result = toolkit.files.snapshot("/src/out");
    std::erase_if(result, [](const auto& file) { return file.first.starts_with("/src/out/.kiln/"); });
    return result;
  }
};

}  // namespace

TEST_CASE("execute runs every step of a fresh folder once, and none the second time") {
  Build build;
  const auto first = build.run();
  REQUIRE(first);
  CHECK(first->errors.empty());
  CHECK(first->count(StepStatus::kRan) == 6);
  CHECK(build.ran() == kAll);
  CHECK(build.output("compile affine sm_80") == "sm_80:shared;;affine;;");
  CHECK(build.output("fatbin fill") == "compute_80:fill;;|sm_80:fill;;|");
  CHECK(build.outputs().size() == 6);
  CHECK(build.toolkit.files.list("/src/out/.kiln/tmp").value_or(Ids{}).empty());

  const auto second = build.run();
  REQUIRE(second);
  CHECK(second->count(StepStatus::kUpToDate) == 6);
  CHECK(build.ran().empty());
}

TEST_CASE("execute runs nothing when a source is touched but not changed") {
  Build build;
  REQUIRE(build.run());
  REQUIRE(build.toolkit.files.touch("/src/affine.cu"));
  REQUIRE(build.toolkit.files.write("/src/shared.cuh", "shared\n"));
  REQUIRE(build.run());
  CHECK(build.ran().empty());
}

TEST_CASE("execute does not take a time in the future for a change during the build") {
  Build build;
  constexpr std::int64_t kYear2200 = 7'258'118'400'000'000'000;
  build.toolkit.files.set_modified("/src/affine.cu", kYear2200);
  build.toolkit.files.set_modified("/src/shared.cuh", kYear2200);
  const auto first = build.run();
  REQUIRE(first);
  CHECK(first->warnings.empty());
  REQUIRE(build.run());
  CHECK(build.ran().empty());
}

TEST_CASE("execute rebuilds what includes a changed header, and what reads from that") {
  Build build;
  REQUIRE(build.run());
  REQUIRE(build.toolkit.files.write("/src/shared.cuh", "shared 2\n"));
  const auto execution = build.run();
  REQUIRE(execution);
  CHECK(build.ran() == Ids{"compile affine compute_80", "compile affine sm_80", "fatbin affine"});
  CHECK(build.reasons(*execution, "compile affine sm_80") == Ids{"shared.cuh changed"});
  CHECK(build.reasons(*execution, "fatbin affine") ==
        Ids{"{out}/images/affine/compute_80 changed", "{out}/images/affine/sm_80 changed"});
  CHECK(build.output("compile affine sm_80") == "sm_80:shared 2;;affine;;");
}

TEST_CASE("execute stops at a step whose output did not change") {
  Build build;
  REQUIRE(build.run());
  REQUIRE(build.toolkit.files.write("/cuda/ptxas", "another ptxas"));
  const auto execution = build.run();
  REQUIRE(execution);
  CHECK(build.ran() == Ids{"compile affine sm_80", "compile fill sm_80"});
  CHECK(build.reasons(*execution, "compile fill sm_80") == Ids{"ptxas changed"});
}

TEST_CASE("execute makes a missing or modified output again") {
  Build build;
  REQUIRE(build.run());
  REQUIRE(build.toolkit.files.write("/src/out/images/fill/sm_80", "modified"));
  REQUIRE(build.toolkit.files.remove_all("/src/out/images/affine/compute_80"));
  const auto execution = build.run();
  REQUIRE(execution);
  CHECK(build.ran() == Ids{"compile affine compute_80", "compile fill sm_80"});
  CHECK(build.reasons(*execution, "compile fill sm_80") == Ids{"output modified"});
  CHECK(build.reasons(*execution, "compile affine compute_80") == Ids{"output missing"});
  CHECK(build.output("compile fill sm_80") == "sm_80:fill;;");
}

TEST_CASE("execute rebuilds for another flag and for a changed variable") {
  Build build;
  REQUIRE(build.run());
  build.toolkit.step("compile fill sm_80").argv[1] = "-O2";
  const auto execution = build.run();
  REQUIRE(execution);
  CHECK(build.ran() == Ids{"compile fill sm_80"});
  CHECK(build.reasons(*execution, "compile fill sm_80") == Ids{"flag -O3 -> -O2"});
  build.environment.variables["NVCC_APPEND_FLAGS"] = "-G";
  REQUIRE(build.run());
  CHECK(build.ran().size() == 4);
}

TEST_CASE("execute reports every broken module and makes no bundle") {
  Build build;
  REQUIRE(build.toolkit.files.write("/src/affine.cu", "broken\n"));
  REQUIRE(build.toolkit.files.write("/src/fill.cu", "also broken\n"));
  const auto execution = build.run();
  REQUIRE(execution);
  REQUIRE(execution->errors.size() == 4);
  CHECK(execution->errors[0].code == ErrorCode::kBuildFailed);
  CHECK(execution->errors[0].message == "'compile affine compute_80' failed: exit status 1");
  REQUIRE(execution->errors[0].notes.size() == 2);
  CHECK(execution->errors[0].notes[0].text == "nvcc printed:\n/src/affine.cu(1): error: broken");
  CHECK(execution->errors[0].notes[1].text ==
        "command, run in /src:\n  /cuda/nvcc -O3 compute_80 affine.cu "
        "/src/out/images/affine/compute_80 /src/out/images/affine/compute_80.d "
        "--orig_src_path_name,affine "
        "'compile affine compute_80'");
  CHECK(execution->errors[3].message == "'compile fill sm_80' failed: exit status 1");
  CHECK(execution->count(StepStatus::kSkipped) == 2);
  CHECK(build.outputs().empty());
}

TEST_CASE("execute builds the intact module beside a broken one, and bundles it when told to go on") {
  Build build;
  build.policy = GENERATE(FailurePolicy::kStopBeforeBundles, FailurePolicy::kKeepGoing);
  REQUIRE(build.toolkit.files.write("/src/affine.cu", "broken\n"));
  const auto execution = build.run();
  REQUIRE(execution);
  CHECK(execution->errors.size() == 2);
  CHECK(build.output("compile fill sm_80") == "sm_80:fill;;");
  const bool goes_on = build.policy == FailurePolicy::kKeepGoing;
  CHECK(build.outputs().contains("/src/out/bundles/fill.fatbin") == goes_on);
  CHECK(execution->count(StepStatus::kSkipped) == (goes_on ? 1 : 2));

  REQUIRE(build.toolkit.files.write("/src/affine.cu", "mended\n"));
  REQUIRE(build.run());
  CHECK(build.outputs().size() == 6);
  const Ids mended = {"compile affine compute_80", "compile affine sm_80", "fatbin affine"};
  Ids expected = mended;
  if (!goes_on) expected.push_back("fatbin fill");
  CHECK(build.ran() == expected);
}

TEST_CASE("execute takes outputs from the shared store in a fresh folder") {
  Build build;
  CacheStore cache(build.toolkit.files, "/cache");
  build.cache = &cache;
  REQUIRE(build.run());
  const auto built = build.outputs();

  REQUIRE(build.toolkit.files.remove_all("/src/out"));
  build.saved_state.clear();
  const auto execution = build.run();
  REQUIRE(execution);
  CHECK(execution->count(StepStatus::kCached) == 6);
  CHECK(build.ran().empty());
  CHECK(build.outputs() == built);
  REQUIRE(build.run());
  CHECK(build.ran().empty());
  cache.save_counts();
  CHECK(cache.counts().misses == 6);  // in the first build: an unknown step is a miss
  CHECK(cache.counts().hits == 6);
  CHECK(cache.counts().bytes > 0);

  // A header that only the depfile names affects the output like any other header.
  REQUIRE(build.toolkit.files.write("/src/shared.cuh", "shared 2\n"));
  REQUIRE(build.run());
  CHECK(build.ran() == Ids{"compile affine compute_80", "compile affine sm_80", "fatbin affine"});
  REQUIRE(build.toolkit.files.write("/src/shared.cuh", "shared\n"));
  REQUIRE(build.run());
  CHECK(build.ran().empty());
  CHECK(build.outputs() == built);
}

TEST_CASE("execute keeps outputs in the store under neutral paths, so that a second clone finds them") {
  Build first;
  CacheStore cache(first.toolkit.files, "/cache");
  first.cache = &cache;
  REQUIRE(first.run());
  for (const auto& [path, bytes] : first.toolkit.files.snapshot("/cache")) {
    CHECK(bytes.find("/src/") == std::string::npos);
  }
  auto& files = first.toolkit.files;
  for (const char* name : {"affine.cu", "fill.cu", "shared.cuh"}) {
    REQUIRE(files.write(std::filesystem::path("/clone") / name, files.read(std::filesystem::path("/src") / name).value()));
  }
  first.toolkit.plan.source_root = "/clone";
  first.toolkit.plan.out_root = "/clone/out";
  first.saved_state.clear();
  const auto execution = first.run();
  REQUIRE(execution);
  CHECK(execution->count(StepStatus::kCached) == 6);
}

TEST_CASE("execute says once that the shared store takes nothing, and builds all the same") {
  Build build;
  FakeFiles full;
  full.writes.fail(1, Faults::Kind::kFromThenOn);
  CacheStore cache(full, "/cache");
  build.cache = &cache;
  const auto execution = build.run();
  REQUIRE(execution);
  CHECK(execution->count(StepStatus::kRan) == 6);
  REQUIRE(execution->warnings.size() == 1);
  CHECK(execution->warnings[0].starts_with("outputs are not kept for other builds: "));
}

TEST_CASE("execute gives each run of a step a folder that no other run has had") {
  Build build;
  std::set<std::string> folders;
  std::size_t runs = 0;
  const auto note_folders = [&] {
    for (const Command& command : build.toolkit.processes.ran()) {
      for (const auto& [name, value] : command.environment) {
        if (name == "TMPDIR") folders.insert(value);
      }
      ++runs;
    }
  };
  REQUIRE(build.run());
  note_folders();
  // A compiler of the first build may still be running, and may write after the second build has
  // started its own.
  build.saved_state.clear();
  REQUIRE(build.run());
  note_folders();
  CHECK(runs == 2 * kAll.size());
  CHECK(folders.size() == runs);
}

TEST_CASE("execute does not trust an output whose source changed while it was compiled") {
  Build build;
  build.toolkit.processes.add("/cuda/nvcc", [&](const Command& command) {
    (void)build.toolkit.files.write(command.argv[4], "compiled from the old source");
    (void)build.toolkit.files.write(command.argv[5], "out: " + command.argv[3] + "\n");
    (void)build.toolkit.files.write("/src/fill.cu", "saved by an editor just now\n");
    return Outcome{};
  });
  const auto execution = build.run();
  REQUIRE(execution);
  REQUIRE(execution->warnings.size() >= 1);
  CHECK(execution->warnings[0].starts_with("fill.cu changed during the build: 'compile fill "));
  FileDigests digests(build.toolkit.files);
  const BuildContext context{build.toolkit.plan, build.toolkit.toolchain, build.environment, digests};
  const auto assessments = assess_all(read_state(build.saved_state), context);
  CHECK(assessments[3].freshness == Freshness::kStale);
}

TEST_CASE("execute trusts an output whose source was saved in the moment before the tool started") {
  Build build;
  build.toolkit.files.tick_length = 1'000'000'000'000;
  REQUIRE(build.toolkit.files.write("/src/fill.cu", "saved by an editor just now\n"));
  const auto execution = build.run();
  REQUIRE(execution);
  CHECK(execution->warnings.empty());
}

TEST_CASE("execute does not trust an output whose source came to lie behind a link meanwhile") {
  Build build;
  build.toolkit.on_compile = [&] { build.toolkit.files.recent_links.insert("/src/fill.cu"); };
  const auto execution = build.run();
  REQUIRE(execution);
  REQUIRE_FALSE(execution->warnings.empty());
  CHECK(execution->warnings[0].starts_with("fill.cu changed during the build: 'compile fill "));
}

// Digests are taken before the first step runs, and most steps wait for others, so a file may
// change in between.
TEST_CASE("execute keeps nothing for others that was made from what changed before its step ran") {
  const std::string path = GENERATE("/src/fill.cu", "/src/late.cuh", "/cuda/cicc");
  FakeFiles disk;
  CacheStore cache(disk, "/cache");
  Build build;
  build.jobs = 1;
  REQUIRE(build.toolkit.files.write("/src/fill.cu", "#include \"late.cuh\"\nfill\n"));
  REQUIRE(build.toolkit.files.write("/src/late.cuh", "late\n"));
  REQUIRE(build.run());  // from here on, the headers that are read are known
  const auto expected = build.outputs();
  for (Step& step : build.toolkit.plan.steps) {  // so that all compile again
    if (step.kind == StepKind::kCompile) step.argv[1] = "-O2";
  }
  build.cache = &cache;
  const std::string before = build.toolkit.files.read(path).value();
  int compiles = 0;
  build.toolkit.on_compile = [&] {
    if (++compiles == 1) (void)build.toolkit.files.write(path, "edited\n");
  };
  const auto execution = build.run();
  REQUIRE(execution);
  // For a header, its content at the time of reading is known.
  CHECK(execution->warnings.empty() == (path == "/src/late.cuh"));

  build.toolkit.on_compile = nullptr;
  REQUIRE(build.toolkit.files.write(path, before));
  REQUIRE(build.toolkit.files.remove_all("/src/out"));
  build.saved_state.clear();
  REQUIRE(build.run());
  const Ids ran = build.ran();
  CHECK(std::find(ran.begin(), ran.end(), "compile fill compute_80") != ran.end());
  CHECK(build.outputs() == expected);
}

// A compiler that outlived its build, or a user, may write to the out folder.
TEST_CASE("execute keeps no bundle of an image that was exchanged after it was made") {
  FakeFiles disk;
  CacheStore cache(disk, "/cache");
  Build build;
  build.jobs = 1;
  REQUIRE(build.run());
  const auto expected = build.outputs();
  build.saved_state.clear();
  build.cache = &cache;
  int compiles = 0;
  build.toolkit.on_compile = [&] {
    if (++compiles != 4) return;
    (void)build.toolkit.files.write("/src/out/images/affine/sm_80", "exchanged");
  };
  const auto execution = build.run();
  REQUIRE(execution);
  CHECK(execution->warnings == Ids{"{out}/images/affine/sm_80 changed during the build: 'fatbin "
                                   "affine' will run again in the next one"});
  build.toolkit.on_compile = nullptr;
  REQUIRE(build.run());
  CHECK(build.outputs() == expected);
  CHECK(build.run()->count(StepStatus::kUpToDate) == 6);
}

TEST_CASE("execute fails a step whose tool wrote nothing or cannot be started") {
  Build build;
  SECTION("nothing written") {
    build.toolkit.processes.add("/cuda/nvcc", [](const Command&) { return Outcome{}; });
    const auto execution = build.run();
    REQUIRE(execution);
    REQUIRE(execution->errors.size() == 4);
    CHECK(execution->errors[0].message ==
          "'compile affine compute_80' failed: the tool reported success but wrote no output");
  }
  SECTION("not what it read") {
    build.toolkit.processes.add("/cuda/nvcc", [&](const Command& command) {
      (void)build.toolkit.files.write(command.argv[4], "compiled");
      return Outcome{};
    });
    const auto execution = build.run();
    REQUIRE(execution);
    REQUIRE_FALSE(execution->errors.empty());
    CHECK(execution->errors[0].message ==
          "'compile affine compute_80' failed: the tool reported success but did not say what it read");
  }
  SECTION("not started") {
    build.toolkit.processes.starts.fail(1, Faults::Kind::kFromThenOn);
    const auto execution = build.run();
    REQUIRE(execution);
    REQUIRE(execution->errors.size() == 4);
    CHECK(execution->errors[0].code == ErrorCode::kEnvironment);
  }
}

TEST_CASE("execute stops everything when interrupted and keeps what is done") {
  Build build;
  build.jobs = 1;
  int starts = 0;
  FakeToolkit other;
  build.toolkit.processes.add("/cuda/fatbinary", [](const Command&) { return Outcome{}; });
  struct Interrupted final : Processes {
    Processes& inner;
    int& starts;
    Interrupted(Processes& p, int& s) : inner(p), starts(s) {}
    Result<Outcome> run(const Command& command) override {
      if (++starts == 3) return Error{.code = ErrorCode::kInterrupted, .message = "interrupted"};
      return inner.run(command);
    }
  } processes(build.toolkit.processes, starts);
  FileDigests digests(build.toolkit.files);
  BuildState state;
  const BuildContext context{build.toolkit.plan, build.toolkit.toolchain, build.environment, digests};
  const auto execution = execute(context, state, build.toolkit.files, processes, {});
  REQUIRE_FALSE(execution);
  CHECK(execution.error().code == ErrorCode::kInterrupted);
  CHECK(starts == 3);
  CHECK(state.steps.size() == 2);
  CHECK(build.outputs().size() == 2);
}

TEST_CASE("execute reports no step as failed when all that run are interrupted together") {
  Build build;
  struct Interrupted final : Processes {
    Result<Outcome> run(const Command&) override {
      return Error{.code = ErrorCode::kInterrupted, .message = "interrupted"};
    }
  } processes;
  struct Observer final : ExecuteObserver {
    int finished_steps = 0;
    void planned(std::size_t, std::uint64_t) override {}
    void started(const Step&, std::uint64_t) override {}
    void finished(const Step&, const StepReport&) override { ++finished_steps; }
  } observer;
  FileDigests digests(build.toolkit.files);
  BuildState state;
  const BuildContext context{build.toolkit.plan, build.toolkit.toolchain, build.environment, digests};
  const auto execution =
      execute(context, state, build.toolkit.files, processes, {.jobs = build.jobs, .observer = &observer});
  REQUIRE_FALSE(execution);
  CHECK(execution.error().code == ErrorCode::kInterrupted);
  CHECK(observer.finished_steps == 0);
  CHECK(state.steps.empty());
}

// Fails the Nth call of one kind, then runs again without faults. In every case, each output has
// the content of a clean build, and the second build ends with all outputs.
TEST_CASE("execute recovers from any failing call") {
  FakeToolkit reference;
  std::map<std::string, std::string> clean;
  {
    Build build;
    REQUIRE(build.run());
    clean = build.outputs();
  }
  const auto kind = GENERATE(Faults::Kind::kOnce, Faults::Kind::kFromThenOn);
  const int where = GENERATE(0, 1, 2);
  for (unsigned nth = 1;; ++nth) {
    REQUIRE(nth < 500);
    Build build;
    CacheStore cache(build.toolkit.files, "/cache");
    build.cache = &cache;
    Faults& faults = where == 0   ? build.toolkit.files.writes
                     : where == 1 ? build.toolkit.files.reads
                                  : build.toolkit.processes.starts;
    faults.fail(nth, kind);
    const auto execution = build.run();
    const bool hit = faults.was_hit();
    faults.fail(0);
    CAPTURE(nth, where, build.jobs);
    for (const auto& [path, bytes] : build.outputs()) {
      CHECK((clean.contains(path) && clean.at(path) == bytes));
    }
    if (execution && execution->errors.empty()) CHECK(build.outputs() == clean);
    const auto again = build.run();
    REQUIRE(again);
    CHECK(again->errors.empty());
    CHECK(build.outputs() == clean);
    REQUIRE(build.run());
    CHECK(build.ran().empty());
    if (!hit) break;
  }
}

TEST_CASE("assess_all tells stale steps from those that follow, without running any") {
  Build build;
  REQUIRE(build.run());
  REQUIRE(build.toolkit.files.write("/cuda/ptxas", "flipped"));
  FileDigests digests(build.toolkit.files);
  const BuildContext context{build.toolkit.plan, build.toolkit.toolchain, build.environment, digests};
  build.toolkit.processes.forget();
  const auto assessments = assess_all(read_state(build.saved_state), context);
  CHECK(build.ran().empty());
  std::vector<Freshness> freshness;
  for (const Assessment& assessment : assessments) freshness.push_back(assessment.freshness);
  CHECK(freshness == std::vector{Freshness::kFresh, Freshness::kStale, Freshness::kFollows,
                                 Freshness::kFresh, Freshness::kStale, Freshness::kFollows});
  CHECK(assessments[1].reasons == Ids{"ptxas changed"});
  CHECK(assessments[2].reasons == Ids{"after 'compile affine sm_80'"});
}

TEST_CASE("execute stops everything when memory runs out and keeps what is done") {
  Build build;
  std::atomic<int> compiles{0};
  build.toolkit.on_compile = [&] {
    if (++compiles == 2) throw std::bad_alloc();
  };
  const auto first = build.run();
  REQUIRE_FALSE(first);
  CHECK(first.error().code == ErrorCode::kEnvironment);
  CHECK(first.error().message == "there is not enough memory");
  CHECK(build.outputs().size() >= 1);

  const auto second = build.run();
  REQUIRE(second);
  CHECK(second->errors.empty());
  CHECK(second->count(StepStatus::kUpToDate) >= 1);
  CHECK(build.outputs().size() == 6);
}
