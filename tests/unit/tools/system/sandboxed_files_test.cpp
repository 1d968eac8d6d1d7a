#include "tools/system/sandboxed_files.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_files.hpp"
#include "tests/support/scratch_folder.hpp"

using kiln::testing::FakeFiles;
using kiln::testing::ScratchFolder;
using kiln::tools::is_inner_path;
using kiln::tools::SandboxedFiles;

TEST_CASE("SandboxedFiles changes nothing but what lies below its folders") {
  FakeFiles files;
  REQUIRE(files.write("/src/a.cu", "source"));
  SandboxedFiles held(files, {"/src/out", "/cache"}, {"/src/deps.d"});
  CHECK(held.write("/src/out/images/a", "x"));
  CHECK(held.write("/cache/digests", "x"));
  CHECK(held.write("/src/deps.d", "x"));
  CHECK(held.read("/src/a.cu"));
  for (const char* path : {"/src/a.cu", "/src/out", "/src/out/../a.cu", "/src/outer/x", "/", ""}) {
    CAPTURE(path);
    CHECK_FALSE(held.write(path, "x"));
    CHECK_FALSE(held.write_if_changed(path, "x"));
    CHECK_FALSE(held.remove_all(path));
    CHECK_FALSE(held.rename("/src/out/images/a", path));
    CHECK_FALSE(held.rename(path, "/src/out/x"));
    CHECK(held.make_directories(path).has_value() == (std::string_view(path) == "/src/out"));
    CHECK_FALSE(held.touch(path));
  }
  CHECK(files.read("/src/a.cu").value() == "source");
  CHECK(held.remove_all("/src/a.cu").error().message ==
        "cannot remove '/src/a.cu': it lies outside the folders of this build");
}

TEST_CASE("SandboxedFiles follows no link out of its folders") {
  const ScratchFolder folder;
  const auto files = kiln::tools::real_files();
  std::filesystem::create_directories(folder / "elsewhere/deep");
  std::filesystem::create_directories(folder / "out");
  std::filesystem::create_symlink("../elsewhere", folder / "out/images");
  SandboxedFiles held(*files, {folder / "out"});
  const auto written = held.write(folder / "out/images/a", "x");
  REQUIRE_FALSE(written);
  CHECK(written.error().message == "cannot write '" + (folder / "out/images/a").string() +
                                       "': a link on the way leads out of '" +
                                       (folder / "out").string() + "'");
  CHECK_FALSE(held.remove_all(folder / "out/images/deep"));
  CHECK(std::filesystem::exists(folder / "elsewhere/deep"));
  CHECK(held.remove_all(folder / "out/images"));  // removes the link, not its target
  CHECK(std::filesystem::exists(folder / "elsewhere/deep"));
}

TEST_CASE("SandboxedFiles leaves halves in the staging folder alone") {
  for (unsigned nth = 1; nth < 20; ++nth) {
    FakeFiles files;
    SandboxedFiles held(files, {"/out"});
    held.set_staging_folder("/out/.kiln/tmp/run");
    REQUIRE(held.write("/out/images/a", "old"));
    files.writes.fail(nth);
    const bool written = held.write("/out/images/a", "new").has_value();
    files.writes.fail(0);
    CAPTURE(nth);
    CHECK(files.read("/out/images/a").value() == (written ? "new" : "old"));
    CHECK(files.list("/out/images").value() == std::vector<std::string>{"a"});
  }
}

TEST_CASE("is_inner_path takes names below a folder, in their shortest form, and nothing else") {
  for (const char* path : {"a", "a/b", ".a", "...", "a/..b"}) {
    CAPTURE(path);
    CHECK(is_inner_path(path));
  }
  for (const char* path :
       {"", ".", "..", "/", "/a", "../a", "a/../b", "a/./b", "./a", "a//b", "a/"}) {
    CAPTURE(path);
    CHECK_FALSE(is_inner_path(path));
  }
}
