// remove_old_images with files in memory.
#include "tools/engine/old_images.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_files.hpp"

using namespace kiln;
using namespace kiln::tools;
using kiln::testing::FakeFiles;

namespace {

struct World {
  FakeFiles files;
  Environment environment;
  Toolchain toolchain;
  Plan plan;
  BuildState state;

  World() {
    plan.source_root = "/src";
    plan.out_root = "/src/out";
    write("/src/a.cu", "source");
    write("/src/out/hip/a.cu", "converted");
    record("hipify a.cu", "converted", "{src}/a.cu", "source");
    image("gfx1030.hsaco", "{out}/hip/a.cu", "converted");
    image("sm_90.cubin", "{src}/a.cu", "source");
    write("/src/out/bundles/a.hsaco", "bundle");
  }

  void write(const std::string& path, const std::string& text) { REQUIRE(files.write(path, text)); }
  void record(const std::string& id, const std::string& output, const std::string& input,
              const std::string& text) {
    StepRecord& step = state.steps[id];
    step.output = sha256(output);
    step.ingredients = write_ingredients({{"input " + input, sha256(text).hex()}});
  }
  void image(const std::string& name, const std::string& input, const std::string& text) {
    write("/src/out/images/a/" + name, name);
    record("compile a " + name, name, input, text);
  }
  void make(const std::string& output) {
    Step step;
    step.id = "compile a";
    step.module = "a";
    step.output = "{out}/" + output;
    plan.steps.push_back(step);
  }
  std::vector<std::string> remove(BuildExtent extent) {
    FileDigests digests(files);
    return remove_old_images(extent, {plan, toolchain, environment, digests}, state, files);
  }
};

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("a build of some targets keeps the images of others while their sources are the same") {
  World world;
  world.make("images/a/sm_90.cubin");
  world.make("bundles/a.hsaco");
  CHECK(world.remove(BuildExtent::kSelected).empty());

  // The converted source has not changed, but the source behind it has.
  world.write("/src/a.cu", "edited");
  CHECK(world.remove(BuildExtent::kSelected) == Paths{"images/a/gfx1030.hsaco"});
  CHECK_FALSE(world.files.status("/src/out/images/a/gfx1030.hsaco"));
  CHECK(world.files.status("/src/out/images/a/sm_90.cubin"));
}

TEST_CASE("a changed header makes an image old, too") {
  World world;
  world.make("images/a/sm_90.cubin");
  world.make("bundles/a.hsaco");
  world.write("/src/a.hpp", "header");
  world.state.steps["compile a gfx1030.hsaco"].dependencies = {{"{src}/a.hpp", sha256("header")}};
  CHECK(world.remove(BuildExtent::kSelected).empty());
  world.write("/src/a.hpp", "edited");
  CHECK(world.remove(BuildExtent::kSelected) == Paths{"images/a/gfx1030.hsaco"});
}

TEST_CASE("an image that no step is known to have made does not stay") {
  World world;
  world.make("images/a/sm_90.cubin");
  world.make("bundles/a.hsaco");
  world.write("/src/out/images/a/unit/gfx1030.hsaco", "of somebody");
  CHECK(world.remove(BuildExtent::kSelected) == Paths{"images/a/unit/gfx1030.hsaco"});
}

TEST_CASE("a whole build removes what the manifest does not make any more") {
  World world;
  world.make("images/a/sm_90.cubin");
  CHECK(world.remove(BuildExtent::kWhole) == Paths{"images/a/gfx1030.hsaco", "bundles/a.hsaco"});
  CHECK(world.remove(BuildExtent::kWhole).empty());
}

TEST_CASE("what is said of a module's images goes with them") {
  World world;
  world.write("/src/out/images/a.sources", "of images that stay");
  world.write("/src/out/images/b.sources", "of none");
  CHECK(world.remove(BuildExtent::kSelected) == Paths{"images/b.sources", "bundles/a.hsaco"});
  world.make("images/a/sm_90.cubin");
  CHECK(world.remove(BuildExtent::kWhole) == Paths{"images/a/gfx1030.hsaco"});
  CHECK(world.files.status("/src/out/images/a.sources"));
}

TEST_CASE("what is not called like an image or a bundle is not removed beside them") {
  World world;
  world.write("/src/out/images/a/README", "of the user");
  world.write("/src/out/images/a/notes.txt", "of the user");
  CHECK(world.remove(BuildExtent::kWhole) ==
        Paths{"images/a/gfx1030.hsaco", "images/a/sm_90.cubin", "bundles/a.hsaco"});
  CHECK(world.files.status("/src/out/images/a/README"));
}

TEST_CASE("what hipify-perl made of a source that is gone goes before a build") {
  World world;
  world.make("hip/a.cu");
  world.write("/src/other.cuh", "of another module");
  world.write("/src/out/hip/other.cuh", "converted");
  world.write("/src/out/hip/include/gone.cuh", "converted");
  const auto left = [&] {
    Paths paths;
    for (const auto& [path, text] : world.files.snapshot("/src/out/hip")) paths.push_back(path);
    return paths;
  };
  CHECK(remove_old_conversions(BuildExtent::kSelected, world.plan, world.files) ==
        std::vector<std::string>{"hip/include/gone.cuh"});
  CHECK(left() == Paths{"/src/out/hip/a.cu", "/src/out/hip/other.cuh"});
  CHECK(world.files.kind("/src/out/hip/include") == PathKind::kNone);
  CHECK(remove_old_conversions(BuildExtent::kWhole, world.plan, world.files) ==
        std::vector<std::string>{"hip/other.cuh"});
  CHECK(left() == Paths{"/src/out/hip/a.cu"});
}
