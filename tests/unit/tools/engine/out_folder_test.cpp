// check_out_folder with files in memory.
#include "tools/engine/out_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include "base/diagnostic.hpp"
#include "tests/support/fake_files.hpp"

using namespace kiln;
using namespace kiln::tools;
using kiln::testing::FakeFiles;

TEST_CASE("a build fills an out folder that holds no file, or that kiln filled") {
  FakeFiles files;
  CHECK(check_out_folder(files, "/src/out", "out"));
  REQUIRE(files.make_directories("/src/out/include/deep"));  // as Ninja does before it runs kiln
  CHECK(check_out_folder(files, "/src/out", "out"));
  REQUIRE(files.write("/src/out/include/deep/kernels.hpp", "of the user"));
  const Result<void> checked = check_out_folder(files, "/src/out", "out");
  REQUIRE_FALSE(checked);
  CHECK(render(checked.error()) ==
        "kiln: error: the out folder 'out' holds files that kiln did not make\n"
        "note: one of them is 'out/include/deep/kernels.hpp'\n"
        "hint: choose a folder that is empty or not there, or one that kiln filled: --out DIR\n");
  REQUIRE(files.write(lock_file("/src/out"), ""));
  CHECK(check_out_folder(files, "/src/out", "out"));
  // The folder was removed during a build, which then wrote its last notes.
  REQUIRE(files.remove_all(lock_file("/src/out")));
  REQUIRE(files.write("/src/out/.kiln/digests", ""));
  CHECK(check_out_folder(files, "/src/out", "out"));
}
