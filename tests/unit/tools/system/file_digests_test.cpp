#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_files.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tools/system/file_digests.hpp"

namespace {

using kiln::sha256;
using kiln::testing::FakeFiles;
using kiln::tools::FileDigests;

bool everything(const std::string&) { return true; }

}  // namespace

TEST_CASE("FileDigests reads a file once and remembers it over runs") {
  FakeFiles files;
  REQUIRE(files.write("/lib/compiler", "bytes"));
  std::string saved;
  {
    FileDigests digests(files);
    CHECK(digests.digest("/lib/compiler") == sha256("bytes"));
    CHECK(digests.digest("/lib/compiler") == sha256("bytes"));
    CHECK(digests.has_new(everything));
    saved = digests.save(everything);
  }
  FileDigests later(files);
  later.load(saved);
  CHECK(later.digest("/lib/compiler") == sha256("bytes"));
  CHECK_FALSE(later.has_new(everything));
  CHECK(files.read_count("/lib/compiler") == 1);
  CHECK(later.save(everything) == saved);
}

TEST_CASE("FileDigests reads again what was changed, touched or replaced") {
  FakeFiles files;
  REQUIRE(files.write("/a", "one"));
  FileDigests first(files);
  REQUIRE(first.digest("/a") == sha256("one"));
  const std::string saved = first.save(everything);

  REQUIRE(files.touch("/a"));
  FileDigests touched(files);
  touched.load(saved);
  CHECK(touched.digest("/a") == sha256("one"));
  CHECK(files.read_count("/a") == 2);

  REQUIRE(files.write("/a", "two"));
  FileDigests replaced(files);
  replaced.load(saved);
  CHECK(replaced.digest("/a") == sha256("two"));
}

TEST_CASE("FileDigests has no digest of a file that is missing or unreadable") {
  FakeFiles files;
  REQUIRE(files.write("/a", "one"));
  FileDigests digests(files);
  CHECK_FALSE(digests.digest("/none"));
  files.reads.fail(1);
  CHECK_FALSE(digests.digest("/a"));
  CHECK(digests.digest("/a") == sha256("one"));
}

TEST_CASE("FileDigests asks once whether a folder is a file") {
  FakeFiles files;
  REQUIRE(files.make_directories("/folder"));
  FileDigests digests(files);
  CHECK_FALSE(digests.digest("/folder"));
  CHECK_FALSE(digests.digest("/folder"));
  CHECK(files.read_count("/folder") == 1);
  CHECK_FALSE(digests.has_new(everything));
}

TEST_CASE("FileDigests counts what may change an answer") {
  FakeFiles files;
  REQUIRE(files.write("/a", "one"));
  FileDigests digests(files);
  REQUIRE(digests.digest("/a") == sha256("one"));
  const std::uint64_t before = digests.changes();
  (void)digests.digest("/a");
  CHECK(digests.changes() == before);
  digests.forget("/a");
  CHECK(digests.changes() > before);
}

TEST_CASE("FileDigests looks again at a file it was told to forget") {
  FakeFiles files;
  REQUIRE(files.write("/a", "one"));
  FileDigests digests(files);
  REQUIRE(digests.digest("/a") == sha256("one"));
  REQUIRE(files.write("/a", "two"));
  CHECK(digests.digest("/a") == sha256("one"));
  digests.forget("/a");
  CHECK(digests.digest("/a") == sha256("two"));
}

TEST_CASE("FileDigests saves what is asked for and starts over from a damaged file") {
  FakeFiles files;
  REQUIRE(files.write("/lib/x\ny", "1"));
  REQUIRE(files.write("/src/a", "2"));
  FileDigests digests(files);
  digests.prefetch({"/lib/x\ny", "/src/a", "/none"}, 3);
  const auto is_library = [](const std::string& path) { return path.starts_with("/lib/"); };
  const std::string saved = digests.save(is_library);
  CHECK(saved.find("/src/a") == std::string::npos);
  FileDigests whole(files);
  whole.load(saved);
  CHECK(whole.digest("/lib/x\ny") == sha256("1"));
  CHECK(files.read_count("/lib/x\ny") == 1);
  for (std::size_t size = 0; size < saved.size(); ++size) {
    FileDigests cut(files);
    cut.load(std::string_view(saved).substr(0, size));
    CHECK(cut.save(everything).find("/lib/") == std::string::npos);
  }
}

TEST_CASE("FileDigests does not trust, in a later run, a file that changed a moment ago") {
  const kiln::testing::ScratchFolder folder;
  const auto files = kiln::tools::real_files();
  REQUIRE(files->write(folder / "fresh", "one"));
  FileDigests digests(*files);
  REQUIRE(digests.digest(folder / "fresh") == sha256("one"));
  CHECK(digests.save(everything).find("fresh") == std::string::npos);
  digests.record(folder / "fresh", sha256("one"));  // kiln's own file: nobody else writes it
  CHECK(digests.save(everything).find("fresh") != std::string::npos);
}
