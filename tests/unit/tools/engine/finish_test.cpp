// finish with files in memory and PTX images, the only format that is text.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "formats/image_sources.hpp"
#include "tests/support/fake_files.hpp"
#include "tools/engine/finish.hpp"

using namespace kiln;
using namespace kiln::tools;
using kiln::testing::FakeFiles;

namespace {

std::string ptx(const std::string& target, const std::string& kernels) {
  std::string text = ".version 9.0\n.target " + target + "\n.address_size 64\n\n";
  for (const std::string_view name : split(kernels, ' ')) {
    text += ".visible .entry " + std::string(name) + "(\n\t.param .u64 " + std::string(name) +
            "_param_0\n)\n{\n\tret;\n}\n";
  }
  return text;
}

struct World {
  FakeFiles files;
  Environment environment;
  Toolchain toolchain;
  Plan plan;
  Manifest manifest;
  BuildState state;

  World() {
    for (int kind = 0; kind <= static_cast<int>(ToolKind::kHostCompiler); ++kind) {
      Tool tool;
      tool.kind = static_cast<ToolKind>(kind);
      toolchain.tools.push_back(tool);
    }
    toolchain.tools[static_cast<std::size_t>(ToolKind::kNvcc)].version = "13.0.88";
    plan.source_root = "/src";
    plan.out_root = "/src/out";
    manifest.path = "targets.json";
    manifest.directory = "/src";
    manifest.name.value = "demo";
    manifest.embed.header = "demo.hpp";
    write("/src/targets.json", "{}");
    for (const char* module : {"affine", "fill"}) {
      ModuleSpec spec;
      spec.name.value = module;
      spec.sources = {{std::string(module) + ".cu", {}}};
      manifest.modules.push_back(spec);
      write("/src/" + std::string(module) + ".cu", "source");
      for (const char* target : {"compute_80", "compute_90"}) add_image(module, target);
    }
  }

  void write(const std::string& path, const std::string& text) { REQUIRE(files.write(path, text)); }

  void add_image(const std::string& module, const std::string& target) {
    Step step;
    step.id = "compile " + module + " " + target;
    step.kind = StepKind::kCompile;
    step.module = module;
    step.target = target;
    step.tool = ToolKind::kNvcc;
    step.inputs = {"{src}/" + module + ".cu"};
    step.argv = {"{nvcc}", "-I.", step.inputs[0]};
    step.output = "{out}/images/" + module + "/" + target + ".ptx";
    write(expand(step.output, plan), ptx("sm_" + target.substr(8), module + "_f32 " + module + "_u8"));
    write(expand(log_path(step), plan), "");
    plan.steps.push_back(step);
  }

  FailurePolicy policy = FailurePolicy::kStopBeforeBundles;

  Result<Finished> run(std::vector<std::string> modules = {"affine", "fill"},
                       std::vector<std::string> missing = {}) {
    FileDigests digests(files);
    return run_with(digests, std::move(modules), std::move(missing));
  }
  Result<Finished> run_with(FileDigests& digests,
                            std::vector<std::string> modules = {"affine", "fill"},
                            std::vector<std::string> missing = {}) {
    const BuildContext context{plan, toolchain, environment, digests};
    const auto units = plan_sources(manifest, files);
    if (!units) return units.error();
    return finish({manifest, *units, std::move(missing), std::move(modules), nullptr, policy},
                  context, state, files);
  }

  bool exists(const std::string& path) const { return files.status(path).has_value(); }
};

}  // namespace

TEST_CASE("finish writes catalog, header and compile commands, and nothing the second time") {
  World world;
  const auto first = world.run();
  REQUIRE(first);
  CHECK_FALSE(first->was_up_to_date);
  CHECK(first->kernels == 4);
  CHECK(first->images == 4);
  for (const char* name : {"kiln.json", "compile_commands.json", "include/demo.hpp"}) {
    CAPTURE(name);
    CHECK(world.exists("/src/out/" + std::string(name)));
  }
  const std::string catalog = world.files.read("/src/out/kiln.json").value();
  CHECK(catalog.find("/src") == std::string::npos);
  CHECK(catalog.find("\"affine_f32\"") != std::string::npos);

  const auto before = world.files.snapshot("/src");
  const auto second = world.run();
  REQUIRE(second);
  CHECK(second->was_up_to_date);
  CHECK(world.files.snapshot("/src") == before);
}

TEST_CASE("finish says what each image was built from, beside it, in the catalog and in the header") {
  World world;
  REQUIRE(world.run());
  const auto sources = [&] {
    return read_image_sources(world.files.read("/src/out/images/fill.sources").value());
  };
  const auto digest = [&](const std::string& image) {
    return sha256(world.files.read("/src/out/images/fill/" + image).value());
  };
  const auto holds = [&](const std::string& file, const std::string& text) {
    return world.files.read("/src/out/" + file).value().find(text) != std::string::npos;
  };
  const ImageSources first = sources();
  REQUIRE(first.size() == 2);
  const Digest original = first.at(digest("compute_80.ptx"));
  CHECK(first.at(digest("compute_90.ptx")) == original);
  CHECK(holds("kiln.json", "\"source_digest\": \"" + original.hex() + '"'));
  CHECK(holds("include/demo.hpp", "0x" + original.hex().substr(0, 16)));

  // An option or an edit makes other sources, even if the image comes out the same.
  world.manifest.options.defines = {{"X=1", {}}};
  world.manifest.read["targets.json"] = sha256("with the option");
  REQUIRE(world.run());
  const Digest with_option = sources().at(digest("compute_80.ptx"));
  CHECK(with_option != original);
  world.write("/src/fill.cu", "edited");
  REQUIRE(world.run());
  CHECK(sources().at(digest("compute_80.ptx")) != with_option);

  // An image of an earlier build that this build does not make keeps its record of sources.
  world.write("/src/out/images/fill/compute_70.ptx", "old");
  world.write("/src/out/images/fill/unknown.ptx", "of somebody");
  world.write("/src/out/images/fill.sources", write_image_sources({{sha256("old"), original}}));
  REQUIRE_FALSE(world.run()->was_up_to_date);
  CHECK(sources().size() == 3);
  CHECK(sources().at(sha256("old")) == original);
  CHECK(holds("include/demo.hpp",
              "0x" + sources().at(digest("compute_80.ptx")).hex().substr(0, 16)));
}

TEST_CASE("finish of one module leaves what is said of another's images") {
  World world;
  REQUIRE(world.run());
  REQUIRE(world.run({"fill"}));
  CHECK(world.exists("/src/out/images/affine.sources"));
}

TEST_CASE("finish works again when an image, an option, the manifest or an output changed") {
  World world;
  REQUIRE(world.run());
  const auto works_again = [&] {
    const auto finished = world.run();
    REQUIRE(finished);
    const bool worked = !finished->was_up_to_date;
    REQUIRE(world.run()->was_up_to_date);
    return worked;
  };
  for (const char* target : {"compute_80", "compute_90"}) {
    world.write("/src/out/images/fill/" + std::string(target) + ".ptx",
                ptx("sm_" + std::string(target).substr(8), "fill_f32"));
  }
  CHECK(works_again());
  world.manifest.embed.name_space = "other";
  CHECK(works_again());
  world.manifest.read["targets.json"] = sha256("{ }");
  CHECK(works_again());
  world.write("/src/out/include/demo.hpp", "edited");
  CHECK(works_again());
  CHECK(world.files.read("/src/out/include/demo.hpp").value() != "edited");
  REQUIRE(world.files.remove_all("/src/out/kiln.json"));
  CHECK(works_again());
  world.toolchain.tools[static_cast<std::size_t>(ToolKind::kNvcc)].version = "13.1";
  CHECK(works_again());
}

TEST_CASE("finish removes a header that goes by another name now") {
  World world;
  REQUIRE(world.run());
  world.manifest.embed.header = "renamed.hpp";
  const auto finished = world.run();
  REQUIRE(finished);
  std::set<std::string> removed;
  for (const RemovedFile& file : finished->removed) {
    CHECK(file.why == "this build does not make it");
    removed.insert(file.path);
  }
  CHECK(removed == std::set<std::string>{"include/demo.hpp", "include/demo.notices.txt",
                                         "include/demo.sha256",
                                         "include/demo.spdx.json"});
  CHECK(world.exists("/src/out/include/renamed.hpp"));
  CHECK_FALSE(world.exists("/src/out/include/demo.hpp"));
}

TEST_CASE("finish says what is emitted where it removes a file of an earlier build") {
  World world;
  std::vector<EmbedOutput>& outputs = world.manifest.embed.outputs;
  const auto removed = [&](std::vector<EmbedOutput> now) {
    outputs = std::move(now);
    const auto finished = world.run();
    REQUIRE(finished);
    std::string said;
    for (const RemovedFile& file : finished->removed) said += file.path + ": " + file.why + "\n";
    return said;
  };
  CHECK(removed({EmbedOutput::kCpp, EmbedOutput::kCatalog}).empty());
  CHECK(removed({EmbedOutput::kCpp}) == "include/demo.kiln: this build emits cpp\n");
  CHECK(removed({EmbedOutput::kCpp}).empty());
  CHECK(removed({EmbedOutput::kC, EmbedOutput::kRust}) == "include/demo.hpp: this build emits c and rust\n");
  CHECK(removed({EmbedOutput::kCpp, EmbedOutput::kAmalgamation}) ==
        "include/demo.h: this build emits cpp and amalgamation\n"
        "include/demo.rs: this build emits cpp and amalgamation\n"
        "include/demo.kiln: this build emits cpp and amalgamation\n");
  CHECK(removed({EmbedOutput::kCpp}) == "include/demo_amalgamated.hpp: this build does not make it\n");
}

TEST_CASE("finish removes the blobs of another embed mode with their folder, and nothing else") {
  World world;
  const auto folder = [&] { return world.files.list("/src/out/include/demo.blobs"); };
  const auto removed = [&](EmbedMode mode) {
    world.manifest.embed.mode = mode;
    const auto finished = world.run();
    REQUIRE(finished);
    for (const RemovedFile& file : finished->removed) {
      CHECK(file.why == "this build's embed mode is " + word_of(kEmbedModeWords, mode));
    }
    return finished->removed.size();
  };
  CHECK(removed(EmbedMode::kAsm) == 0);
  REQUIRE(folder());
  CHECK(folder()->size() == 4);
  SECTION("all at once") {
    CHECK(removed(EmbedMode::kSplit) == 5);  // with demo.S
    CHECK_FALSE(folder());
  }
  SECTION("after a build that could not write all") {
    world.files.writes.fail(3);
    world.manifest.embed.mode = EmbedMode::kArray;
    REQUIRE_FALSE(world.run());
    world.files.writes.fail(0);
    REQUIRE(world.run());
    CHECK_FALSE(folder());
    CHECK_FALSE(world.exists("/src/out/include/demo.S"));
  }
  SECTION("beside a file of the user") {
    world.write("/src/out/include/demo.blobs/mine", "");
    CHECK(removed(EmbedMode::kArray) == 5);
    CHECK(*folder() == std::vector<std::string>{"mine"});
  }
}

TEST_CASE("finish removes the blob of an image that is gone") {
  World world;
  world.manifest.embed.mode = EmbedMode::kAsm;
  REQUIRE(world.run());
  std::erase_if(world.plan.steps, [](const Step& step) { return step.target == "compute_90"; });
  const auto finished = world.run();
  REQUIRE(finished);
  REQUIRE(finished->removed.size() == 2);
  for (const RemovedFile& file : finished->removed) {
    CHECK(file.path.starts_with("include/demo.blobs/"));
    CHECK(file.why == "this build does not make it");
  }
  CHECK(world.files.list("/src/out/include/demo.blobs")->size() == 2);
}

TEST_CASE("finish writes nothing when the images of any module differ, and tells of every module") {
  World world;
  REQUIRE(world.run());
  const auto before = world.files.snapshot("/src/out/include");
  world.write("/src/out/images/affine/compute_80.ptx", ptx("sm_80", "affine_f32"));
  world.write("/src/out/images/fill/compute_90.ptx", "no image at all");
  const auto finished = world.run();
  REQUIRE_FALSE(finished);
  CHECK(finished.error().code == ErrorCode::kBuildFailed);
  CHECK(finished.error().message == "module 'affine': its images do not all have the same kernels");
  REQUIRE(finished.error().others.size() == 1);
  CHECK(finished.error().others[0].notes.back().text ==
        "in 'images/fill/compute_90.ptx', the output of 'compile fill compute_90'");
  CHECK(world.files.snapshot("/src/out/include") == before);
}

// Between the step that made an image and the header that contains it, the image is open to
// changes.
TEST_CASE("finish lists a PTX of all sources among the bundles, and refuses one that lacks a kernel") {
  World world;
  world.add_image("affine", "compute_80");
  Step joined = world.plan.steps.back();
  world.plan.steps.pop_back();
  joined.id = "join affine compute_80";
  joined.kind = StepKind::kJoin;
  joined.output = "{out}/bundles/affine.compute_80.ptx";
  const std::string path = expand(joined.output, world.plan);
  world.write(path, ptx("sm_80", "affine_f32 affine_u8"));
  world.write(expand(log_path(joined), world.plan), "");
  world.plan.steps.push_back(joined);
  const auto finished = world.run();
  REQUIRE(finished);
  CHECK(finished->images == 4);
  CHECK(world.files.read("/src/out/kiln.json").value().find("bundles/affine.compute_80.ptx") !=
        std::string::npos);

  world.write(path, ptx("sm_80", "affine_f32"));
  const auto refused = world.run();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "module 'affine': 'bundles/affine.compute_80.ptx' does not have the kernels of its sources");
}

TEST_CASE("finish embeds no image that was exchanged after it was made") {
  for (const char* name :
       {"images/fill/compute_80.ptx", ".kiln/logs/images/fill/compute_80.ptx.log"}) {
    CAPTURE(name);
    World world;
    FileDigests digests(world.files);
    const std::string path = "/src/out/" + std::string(name);
    REQUIRE(digests.digest(path));  // as after execute()
    world.write(path, ptx("sm_80", "fill_f32 fill_u8 ") + "// exchanged\n");
    const auto finished = world.run_with(digests);
    REQUIRE_FALSE(finished);
    CHECK(finished.error().code == ErrorCode::kBuildFailed);
    CHECK(finished.error().message ==
          "'" + std::string(name) + "' was changed by somebody else during the build");
    CHECK_FALSE(world.exists("/src/out/include/demo.hpp"));
    CHECK_FALSE(world.exists("/src/out/kiln.json"));
  }
}

TEST_CASE("finish embeds the intact modules when it is to go on, and says so every time") {
  World world;
  world.policy = FailurePolicy::kKeepGoing;
  world.write("/src/out/images/affine/compute_80.ptx", ptx("sm_80", "affine_f32"));
  for (int build = 0; build < 2; ++build) {
    const auto finished = world.run();
    REQUIRE(finished);
    CHECK_FALSE(finished->was_up_to_date);
    REQUIRE(finished->errors.size() == 1);
    CHECK(finished->errors[0].message ==
          "module 'affine': its images do not all have the same kernels");
    CHECK(finished->images == 2);
    const std::string catalog = world.files.read("/src/out/kiln.json").value();
    CHECK(catalog.find("fill_f32") != std::string::npos);
    CHECK(catalog.find("affine") == std::string::npos);
  }
  world.write("/src/out/images/fill/compute_80.ptx", ptx("sm_80", "fill_f32"));
  CHECK_FALSE(world.run());  // no kernel is left
}

TEST_CASE("finish removes nothing but files of the out folder, whatever the state says") {
  World world;
  REQUIRE(world.run());
  world.write("/src/precious/thesis", "x");
  world.write("/precious", "x");
  for (const char* name : {"../precious", "../../precious", "/precious", "images/../../precious",
                           ".", "", "images", "images/"}) {
    world.state.finish.push_back({"wrote " + std::string(name), "missing"});
  }
  world.manifest.name.value = "renamed";
  const auto finished = world.run();
  REQUIRE(finished);
  CHECK(world.exists("/src/precious/thesis"));
  CHECK(world.exists("/precious"));
  CHECK(world.exists("/src/out/images/fill/compute_80.ptx"));
}

TEST_CASE("finish leaves broken modules out and records what is missing") {
  World world;
  REQUIRE(world.run({"fill"}, {"gfx1100"}));
  const std::string catalog = world.files.read("/src/out/kiln.json").value();
  CHECK(catalog.find("affine") == std::string::npos);
  CHECK(catalog.find("gfx1100") != std::string::npos);
}

TEST_CASE("finish leaves no half-written set of files when a write fails") {
  for (unsigned nth = 1;; ++nth) {
    REQUIRE(nth < 50);
    World world;
    REQUIRE(world.run());
    const std::string old_catalog = world.files.read("/src/out/kiln.json").value();
    world.manifest.embed.name_space = "other";
    world.manifest.name.value = "renamed";
    world.files.writes.fail(nth);
    const bool finished = world.run().has_value();
    const bool hit = world.files.writes.was_hit();
    world.files.writes.fail(0);
    CAPTURE(nth);
    // The catalog is written last: an old one stays until all new files exist.
    CHECK((world.files.read("/src/out/kiln.json").value() != old_catalog) == finished);
    const auto again = world.run();
    REQUIRE(again);
    CHECK(again->was_up_to_date == finished);
    if (!hit) break;
  }
}

TEST_CASE("header_dependencies name the manifest, sources, what they include, and the tools") {
  World world;
  Tool& nvcc = world.toolchain.tools[static_cast<std::size_t>(ToolKind::kNvcc)];
  nvcc.parts = {{"program", "/cuda/nvcc"}, {"ptxas", "/cuda/ptxas"}};
  for (Step& step : world.plan.steps) step.tool_roles = {"program"};
  world.manifest.abi_paths = {Located<std::string>{"abi.json", {}}};
  world.state.steps["compile fill compute_80"].dependencies = {
      {"{out}/hip/x.hip", {}}, {"{src}/shared.cuh", {}}, {"/usr/include/math.h", {}}};
  FileDigests digests(world.files);
  const BuildContext context{world.plan, world.toolchain, world.environment, digests};
  CHECK(header_dependencies(world.manifest, context, world.state) ==
        std::vector<std::string>{"/cuda/nvcc", "/src/abi.json", "/src/affine.cu", "/src/fill.cu",
                                 "/src/shared.cuh", "/src/targets.json", "/usr/include/math.h"});
}
