// The life of a project: built, rebuilt, touched, changed, cloned.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "tests/integration/build/project.hpp"
#include "tools/stages/depfile.hpp"

using namespace kiln;
using namespace kiln::testing;
using Steps = std::vector<std::string>;

namespace {

const Steps kAffineSteps = {"bundle affine",         "compile affine compute_80",
                            "compile affine gfx1030", "compile affine gfx1100",
                            "compile affine sm_80",  "fatbin affine"};

}  // namespace

TEST_CASE("kiln build redoes what changed and nothing else") {
  KILN_NEEDS_BOTH_VENDORS();
  const ScratchFolder folder;
  const Project project(folder.path());

  const auto first = project.events({"--depfile", "demo.d", "--trace", "trace.json"});
  CHECK(text_of(first.back(), "status") == "ok");
  CHECK(steps_of(first, "finished", "ran").size() == 3 + 8 + 4);
  for (const char* name :
       {"images/affine/gfx1100.hsaco", "images/affine/sm_80.cubin", "images/fill/compute_80.ptx",
        "bundles/affine.hsaco", "bundles/fill.fatbin", "include/demo.hpp", "kiln.json",
        "compile_commands.json"}) {
    CAPTURE(name);
    CHECK(fs::exists(project.out() / name));
  }
  CHECK(fs::is_empty(project.out() / ".kiln/tmp"));
  const auto built = project.outputs();
  CHECK(built.at("kiln.json").find(folder.path().string()) == std::string::npos);
  CHECK(built.at("include/demo.hpp").find(folder.path().string()) == std::string::npos);

  {
    INFO("the trace has an event of each step that ran, with its time");
    const tools::Json trace = tools::read_json(project.read("trace.json"), "trace").value();
    Steps ran;
    for (const tools::Json& event : *trace.find("traceEvents")->array()) {
      const tools::Json* arguments = event.find("args");
      if (text_of(event, "ph") != "X" || text_of(*arguments, "status") != "ran") continue;
      ran.push_back(text_of(event, "name"));
      CHECK(*event.find("dur")->integer() > 0);
      CHECK(*event.find("tid")->integer() > 0);
    }
    std::sort(ran.begin(), ran.end());
    CHECK(ran == steps_of(first, "finished", "ran"));
  }

  // One build serves all of the following parts. Each part, except the last, restores the folder.
  {
    INFO("a second build runs nothing");
    const auto second = project.events({});
    CHECK(steps_of(second, "finished").empty());
    CHECK(project.outputs() == built);
  }
  {
    INFO("a source that is written again unchanged runs nothing");
    project.write("affine.cu", project.read("affine.cu"));
    CHECK(steps_of(project.events({}), "finished").empty());
  }
  {
    INFO("the depfile names the header's stamp and all that it depends on");
    const std::string text = project.read("demo.d");
    CHECK(text.starts_with("out/include/demo.hpp.stamp:"));
    CHECK(fs::exists(project.out() / "include/demo.hpp.stamp"));
    const auto paths = tools::parse_depfile(text).value();
    for (const char* name : {"targets.json", "affine.cu", "fill.cu", "shared.cuh"}) {
      CAPTURE(name);
      CHECK(std::find(paths.begin(), paths.end(), (folder.path() / name).string()) != paths.end());
    }
  }
  {
    INFO("inspect shows every kernel of every image, with pointers told from values");
    const tools::Outcome outcome = project.kiln({"inspect", "out", "--json"});
    const tools::Json document = tools::read_json(outcome.output, "inspect").value();
    const auto& images = *document.find("images")->array();
    REQUIRE(images.size() == 8);
    for (const tools::Json& image : images) {
      const auto& kernels = *image.find("kernels")->array();
      REQUIRE(kernels.size() == 1);
      const auto& parameters = *kernels[0].find("params")->array();
      CHECK(text_of(parameters[0], "kind") == "pointer");
      CHECK(text_of(parameters.back(), "kind") == "value");
      if (text_of(image, "format") == "cubin") CHECK(*kernels[0].find("spills")->integer() == 0);
    }
    const tools::Outcome bundle = project.kiln({"inspect", "out/bundles/affine.hsaco"});
    CHECK(bundle.output.find("gfx1030, code object v5") != std::string::npos);
  }
  {
    INFO("another folder takes everything from the cache and gets the same bytes");
    const ScratchFolder elsewhere;
    Project clone(elsewhere / "deeper");
    clone.environment = {{"KILN_CACHE_DIR", (folder.path() / "cache").string()}};
    const auto events = clone.events({});
    CHECK(steps_of(events, "finished", "ran").empty());
    CHECK(steps_of(events, "finished", "cached").size() == 15);
    auto cloned = clone.outputs();
    auto original = built;
    cloned.erase("compile_commands.json");
    original.erase("include/demo.hpp.stamp");
    original.erase("compile_commands.json");
    CHECK(cloned == original);
  }
  {
    INFO("the cubin that is made of the manifest's PTX is that of the source");
    const auto events = project.events({"--target", "sm_80", "--module", "affine", "--out", "alone"});
    CHECK(steps_of(events, "finished", "ran") == Steps{"compile affine sm_80", "fatbin affine"});
    CHECK(project.read("alone/images/affine/sm_80.cubin") == built.at("images/affine/sm_80.cubin"));
  }
  {
    INFO("--dry-run says what would run and why, and runs nothing");
    const std::string source = project.read("fill.cu");
    project.write("fill.cu", source + "// a remark\n");
    const tools::Outcome outcome = project.kiln({"build", "--dry-run"});
    CHECK(outcome.output.find("would run: hipify fill.cu: fill.cu changed\n") != std::string::npos);
    CHECK(outcome.output.find("would run: compile fill compute_80: fill.cu changed\n") != std::string::npos);
    CHECK(outcome.output.find("compile affine") == std::string::npos);
    CHECK(project.outputs() == built);
    CHECK(project.kiln({"build", "--dry-run", "--out", "none"}).exit_code == 0);
    CHECK_FALSE(std::filesystem::exists(std::filesystem::path(folder.path()) / "none"));
    project.write("fill.cu", source);
    CHECK(steps_of(project.events({}), "finished").empty());
  }
  {
    INFO("a changed header rebuilds what includes it");
    project.write("shared.cuh", "__device__ inline float scale(float x, float a) { return a * x + 1; }\n");
    const auto events = project.events({});
    Steps expected = kAffineSteps;
    expected.push_back("hipify shared.cuh");
    CHECK(steps_of(events, "finished", "ran") == expected);
    const tools::Outcome quiet = project.kiln({"build", "--explain"});
    CHECK(quiet.output.find("nothing to do") == 0);
    CHECK(project.outputs().at("include/demo.hpp") != built.at("include/demo.hpp"));
  }
}

TEST_CASE("kiln build lets another build in the same folder end first, and finds it done") {
  if (!has_amd() && !has_nvidia()) SKIP("needs a compiler of one vendor: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  tools::Outcome one, other;
  {
    const std::jthread first([&] { one = project.kiln({"build", "--no-cache"}); });
    const std::jthread second([&] { other = project.kiln({"build", "--no-cache"}); });
  }
  INFO(one.diagnostics << other.diagnostics);
  REQUIRE(one.ok());
  REQUIRE(other.ok());
  // Which of them comes first is random.
  if (one.output.starts_with("nothing to do")) std::swap(one, other);
  CHECK(other.output.starts_with("nothing to do"));
  CHECK(other.diagnostics.starts_with("kiln: waiting for another build in this folder\n"));
  CHECK(one.output.find(" 0 from the cache, 0 up to date") != std::string::npos);
}

TEST_CASE(
    "builds that begin at once in a new folder do not take each other's files for strange ones") {
  if (!has_amd() && !has_nvidia()) SKIP("needs a compiler of one vendor: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  REQUIRE(project.kiln({"build"}).ok());  // fills the cache
  for (int i = 0; i < 50; ++i) {
    tools::Outcome one, other;
    const std::vector<std::string> build = {"build", "--out", "out" + std::to_string(i)};
    {
      const std::jthread first([&] { one = project.kiln(build); });
      const std::jthread second([&] { other = project.kiln(build); });
    }
    INFO(one.diagnostics << other.diagnostics);
    REQUIRE(one.ok());
    REQUIRE(other.ok());
  }
}

TEST_CASE("commands that read a folder wait for the build in it") {
  if (!has_amd() && !has_nvidia()) SKIP("needs a compiler of one vendor: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  REQUIRE(project.kiln({"build"}).ok());
  // Each build makes other images than the one before, from the cache.
  const std::string source = project.read("fill.cu"), other = source + "__device__ int more;\n";
  std::atomic<bool> stops = false;
  const std::jthread builds([&] {
    for (int i = 0; !stops; ++i) {
      project.write("fill.cu", i % 2 == 0 ? other : source);
      if (!project.kiln({"build"}).ok()) break;
    }
  });
  for (int i = 0; i < 25; ++i) {
    for (const char* command : {"verify", "inspect"}) {
      const tools::Outcome outcome = project.kiln({command, "out"});
      INFO(command << "\n" << outcome.diagnostics);
      if (!outcome.ok()) stops = true;
      REQUIRE(outcome.ok());
    }
    const tools::Outcome merged = project.kiln({"merge", "out", "--out", "merged"});
    INFO(merged.diagnostics);
    if (!merged.ok()) stops = true;
    REQUIRE(merged.ok());
  }
  stops = true;
}

TEST_CASE("a header that is gone is in no image, neither as it was nor as hipify-perl converted it") {
  KILN_NEEDS_BOTH_VENDORS();
  const ScratchFolder folder;
  const Project project(folder.path());
  std::string manifest = project.read("targets.json");
  manifest.insert(1, "\"include_directories\": [\"include\"],");
  project.write("targets.json", manifest);
  std::string other = project.read("shared.cuh");
  other.replace(other.find("x * a"), 5, "x - a");
  project.write("include/shared.cuh", other);
  const std::vector<std::string> build = {"--module", "affine"};
  REQUIRE(text_of(project.events(build).back(), "status") == "ok");
  const auto before = project.outputs();

  fs::remove(folder.path() / "shared.cuh");
  REQUIRE(text_of(project.events(build).back(), "status") == "ok");
  const auto after = project.outputs();
  CHECK(after.at("images/affine/gfx1100.hsaco") != before.at("images/affine/gfx1100.hsaco"));
  fs::remove_all(project.out());
  REQUIRE(text_of(project.events(build).back(), "status") == "ok");
  CHECK(after == project.outputs());
}

TEST_CASE(
    "kiln build compiles a source for AMD that begins with a header of device functions alone") {
  if (!has_amd()) SKIP("needs hipcc: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  project.write("fill.cu", "#include \"halved.cuh\"\n#include \"kernel.cuh\"\n");
  project.write("halved.cuh", "__device__ inline float halved(float x) { return x / 2; }\n");
  project.write(
      "kernel.cuh",
      "extern \"C\" __global__ void fill_f32(float* y, float a) { y[threadIdx.x] = halved(a); }\n");
  const tools::Outcome outcome = project.kiln({"build", "--module", "fill", "--no-cache"});
  INFO(outcome.diagnostics);
  CHECK(outcome.ok());
}

TEST_CASE("kiln build embeds what the modules are compiled from when it is told to") {
  KILN_NEEDS_BOTH_VENDORS();
  const ScratchFolder folder;
  const Project project(folder.path());
  REQUIRE(text_of(project.events({}).back(), "status") == "ok");
  const std::string without = project.read("out/include/demo.hpp");
  CHECK(without.find("kSource") == std::string::npos);

  // A file that is no longer requested is removed, and the build says so.
  REQUIRE(text_of(project.events({"--emit", "cpp", "--emit", "catalog"}).back(), "status") == "ok");
  CHECK(project.kiln({"build"}).diagnostics ==
        "kiln: removed out/include/demo.kiln: this build emits cpp\n"
        "kiln: note: 'affine_f32' and 1 other kernel have arguments of unknown type, so only their sizes are "
        "checked: name an abi file, or leave extern \"C\" out\n");
  CHECK_FALSE(fs::exists(project.out() / "include/demo.kiln"));

  // The images exist, so only the header is made again.
  CHECK(steps_of(project.events({"--embed-source"}), "finished").empty());
  const std::string beside = project.read("out/include/demo.hpp");
  CHECK(beside.find("\"source\", detail::Format::kSource") != std::string::npos);
  CHECK(beside.find("\"sm_80\", detail::Format::kCubin") != std::string::npos);

  (void)project.events({"--embed-source=instead", "--compress", "none"});
  const std::string instead = project.read("out/include/demo.hpp");
  CHECK(instead.find("kCubin") == std::string::npos);
  CHECK(instead.find("affine_f32") != std::string::npos);
  CHECK(instead.find("shared.cuh") != std::string::npos);

  // Headers from elsewhere, such as kiln's own, are not embedded.
  std::string manifest = project.read("targets.json");
  manifest.insert(1, "\"include_directories\": [\"{kiln}\"],");
  project.write("other.json", manifest);
  CHECK(project.kiln({"build", "other.json", "--embed-source", "--out", "other"})
            .diagnostics.find(" are not embedded with the sources") != std::string::npos);

  // A header that a macro names is embedded. One whose name kiln cannot tell is not.
  const std::string fill = project.read("fill.cu");
  project.write("named.cuh", "\n");
  const auto build_with = [&](const std::string& include) {
    project.write("fill.cu", include + fill);
    return project.kiln(
        {"build", "--target", "sm_80", "--embed-source=instead", "--compress", "none"});
  };
  const auto is_embedded = [&] {
    return project.read("out/include/demo.hpp").find("file 1 named.cuh") != std::string::npos;
  };
  const std::string warning = "kiln: warning: 'named.cuh' is not embedded with the sources";
  const tools::Outcome known = build_with("#define HEADER \"named.cuh\"\n#include HEADER\n");
  CHECK(known.diagnostics.find(warning) == std::string::npos);
  CHECK(is_embedded());
  const tools::Outcome unknown = build_with("#define TEXT(x) #x\n#include TEXT(named.cuh)\n");
  CHECK(unknown.diagnostics.find(warning) != std::string::npos);
  CHECK_FALSE(is_embedded());
  project.write("fill.cu", fill);

  // A comment in a header changes no image, but it changes the embedded source.
  project.write("shared.cuh", project.read("shared.cuh") + "// told apart\n");
  (void)project.events({"--embed-source=instead", "--compress", "none"});
  CHECK(project.read("out/include/demo.hpp") != instead);
}

TEST_CASE("kiln build joins the sources of a module into one PTX when the manifest says so") {
  if (!has_nvidia()) SKIP("needs nvcc and fatbinary: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  project.write("more.cu",
                "#include \"shared.cuh\"\n"
                "extern \"C\" __global__ void more_f32(float* y, float a) { y[0] = scale(y[0], a); }\n");
  std::string manifest = project.read("targets.json");
  manifest.replace(manifest.find("\"affine.cu\""), 11, "\"affine.cu\", \"more.cu\"");
  manifest.replace(manifest.find("\"embed\""), 0, "\"joined_ptx\": true, ");
  project.write("targets.json", manifest);
  project.write("shared.cuh", "#pragma once\n" + project.read("shared.cuh"));
  const std::vector<std::string> build = {"--target", "compute_80"};

  const auto first = project.events(build);
  CHECK(text_of(first.back(), "status") == "ok");
  const std::string joined = project.read("out/bundles/affine.compute_80.ptx");
  CHECK(joined.find(".entry affine_f32") != std::string::npos);
  CHECK(joined.find(".entry more_f32") != std::string::npos);
  for (const std::string& text :
       {joined, project.read("out/images/affine/affine/compute_80.ptx")}) {
    CHECK(text.starts_with(".version"));  // shortened: without a comment, and with short names
    CHECK(text.find("_param_0") == std::string::npos);
  }
  CHECK(project.read("out/kiln.json").find("bundles/affine.compute_80.ptx") != std::string::npos);
  CHECK(project.read("out/bundles/fill.compute_80.ptx") == "(missing)");
  CHECK(steps_of(project.events(build), "finished").empty());

  // Every source and header affects it.
  project.write("affine.cu", project.read("affine.cu") + "// changed\n");
  const Steps redone = steps_of(project.events(build), "finished");
  CHECK(std::count(redone.begin(), redone.end(), "join affine compute_80") == 1);
  CHECK(std::count(redone.begin(), redone.end(), "compile affine.more compute_80") == 0);
}

TEST_CASE("kiln build gives a define to every compiler letter by letter") {
  if (!has_nvidia()) SKIP("needs nvcc: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  std::string manifest = project.read("targets.json");
  manifest.replace(manifest.find("\"embed\""), 0,
                   R"("defines": ["PAIR=Pair<1,2>", "TEXT=\"\\n$HOME,`\\\"{src}\""], )");
  project.write("targets.json", manifest);
  project.write(
      "fill.cu",
      "template <int kOne, int kTwo> struct Pair { static constexpr int kSum = kOne + kTwo; };\n"
      "static_assert(PAIR::kSum == 3);\n"
      "constexpr char kText[] = TEXT;\n"
      "static_assert(sizeof(kText) == 15 && kText[0] == 10 && kText[1] == 36 && kText[6] == 44 &&\n"
      "              kText[7] == 96 && kText[8] == 34 && kText[9] == 123);\n"
      "extern \"C\" __global__ void fill_f32(float* y, float a) { y[0] = a; }\n");
  const tools::Outcome outcome = project.kiln({"build", "--module", "fill", "--no-cache"});
  INFO(outcome.diagnostics);
  CHECK(outcome.ok());
}

TEST_CASE("a header that a macro names is converted, and its changes are noticed") {
  if (!has_amd()) SKIP("needs hipcc: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  std::string source = project.read("affine.cu");
  source.replace(source.find("\"shared.cuh\""), 12, "SHARED");
  project.write("affine.cu", "#define SHARED \"shared.cuh\"\n" + source);
  const std::vector<std::string> build = {"--target", "gfx1100"};
  REQUIRE(text_of(project.events(build).back(), "status") == "ok");
  const auto before = project.outputs();
  std::string shared = project.read("shared.cuh");
  shared.replace(shared.find("x * a"), 5, "x - a");
  project.write("shared.cuh", shared);
  REQUIRE(text_of(project.events(build).back(), "status") == "ok");
  CHECK(project.outputs().at("images/affine/gfx1100.hsaco") !=
        before.at("images/affine/gfx1100.hsaco"));
}

TEST_CASE(
    "a converted header that kiln cannot tell a source to need fails the build, with a way out") {
  if (!has_amd()) SKIP("needs hipcc: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  // The other module makes the conversion, which may be too old for this one.
  project.write("fill.cu", "#include \"shared.cuh\"\n" + project.read("fill.cu"));
  std::string source = project.read("affine.cu");
  source.replace(source.find("\"shared.cuh\""), 12, "TEXT(shared.cuh)");
  source.insert(0, "#define TEXT(x) TEXT2(x)\n#define TEXT2(x) #x\n");
  project.write("affine.cu", source);
  const std::vector<std::string> build = {"build", "--target", "gfx1100"};
  const tools::Outcome outcome = project.kiln(build);
  CHECK_FALSE(outcome.ok());
  CHECK(outcome.diagnostics.find("'compile affine gfx1100' read 'shared.cuh'") !=
        std::string::npos);
  CHECK(outcome.diagnostics.find("#include \"shared.cuh\"") != std::string::npos);
  project.write("affine.cu", "#if 0\n#include \"shared.cuh\"\n#endif\n" + source);
  CHECK(project.kiln(build).ok());
}

TEST_CASE(
    "a header that hipcc misses since kiln cannot tell its name fails the build, with a way out") {
  if (!has_amd()) SKIP("needs hipcc: see kiln doctor");
  const ScratchFolder folder;
  const Project project(folder.path());
  project.write("twice.cuh", "#define TWICE 2\n");
  const std::string source =
      "#define NAMED(x) #x\n#include NAMED(twice.cuh)\n"
      "extern \"C\" __global__ void fill_f32(float* y, float a) { y[0] = TWICE * a; }\n";
  project.write("fill.cu", source);
  const std::vector<std::string> build = {"build", "--target", "gfx1100", "--module", "fill"};
  const tools::Outcome outcome = project.kiln(build);
  CHECK_FALSE(outcome.ok());
  CHECK(outcome.diagnostics.find("note: 'twice.cuh' is not converted for AMD") !=
        std::string::npos);
  CHECK(outcome.diagnostics.find("hint: name the header in the source too, such as in '#if 0': "
                                 "#include \"twice.cuh\"") != std::string::npos);
  project.write("fill.cu", "#if 0\n#include \"twice.cuh\"\n#endif\n" + source);
  CHECK(project.kiln(build).ok());
}

TEST_CASE("a header that __has_include finds decides an image as soon as it is there") {
  KILN_NEEDS_BOTH_VENDORS();
  const ScratchFolder folder;
  const Project project(folder.path());
  std::string manifest = project.read("targets.json");
  const fs::path outside = folder.path() / "outside";  // by its absolute path
  manifest.insert(1, "\"include_directories\": [\"include\", \"" + outside.string() + "\"],");
  project.write("targets.json", manifest);
  project.write(
      "fill.cu",
      "#if __has_include(<twice.cuh>)\n#define FACTOR 2\n#else\n#define FACTOR 1\n#endif\n"
      "extern \"C\" __global__ void fill_f32(float* y, float a) { y[threadIdx.x] = FACTOR * a; "
      "}\n");
  const std::vector<std::string> build = {"--module", "fill"};
  for (const char* header : {"include/other.cuh", "outside/other.cuh"}) project.write(header, "\n");
  const std::vector<std::string> images = {"images/fill/gfx1100.hsaco",
                                           "images/fill/compute_80.ptx"};
  REQUIRE(text_of(project.events(build).back(), "status") == "ok");
  const auto before = project.outputs();
  for (const char* header : {"include/twice.cuh", "outside/twice.cuh"}) {
    INFO(header);
    project.write(header, "\n");
    REQUIRE(text_of(project.events(build).back(), "status") == "ok");
    const auto after = project.outputs();
    for (const std::string& image : images) CHECK(after.at(image) != before.at(image));
    fs::remove(folder.path() / header);
    REQUIRE(text_of(project.events(build).back(), "status") == "ok");
    const auto again = project.outputs();
    for (const std::string& image : images) CHECK(again.at(image) == before.at(image));
  }
}
