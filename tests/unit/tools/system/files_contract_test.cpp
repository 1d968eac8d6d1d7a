// The contract of every implementation of Files, checked for the real one and the one in memory.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/fake_files.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tools/system/files.hpp"

namespace {

using kiln::ErrorCode;
using kiln::testing::FakeFiles;
using kiln::testing::ScratchFolder;
using kiln::tools::PathKind;
using kiln::tools::Files;

struct Real {
  ScratchFolder folder;
  std::unique_ptr<Files> owned = kiln::tools::real_files();
  Files& files = *owned;
  std::filesystem::path root = folder.path();
};

struct Fake {
  FakeFiles owned;
  Files& files = owned;
  std::filesystem::path root = "/work";
  Fake() { REQUIRE(owned.make_directories(root)); }
};

}  // namespace

TEMPLATE_TEST_CASE("Files reads back what it wrote", "", Real, Fake) {
  TestType world;
  const std::string bytes("a\0b\nc", 5);
  REQUIRE(world.files.write(world.root / "deep/down/file", bytes));
  const auto read = world.files.read(world.root / "deep/down/file");
  REQUIRE(read);
  CHECK(*read == bytes);
  REQUIRE(world.files.write(world.root / "deep/down/file", ""));
  CHECK(world.files.read(world.root / "deep/down/file").value().empty());
  CHECK(world.files.list(world.root / "deep/down").value() == std::vector<std::string>{"file"});
}

TEMPLATE_TEST_CASE("Files digests what it reads, and refuses what it does not read", "", Real, Fake) {
  TestType world;
  const std::filesystem::path file = world.root / "file";
  // Sizes: empty, less than a piece, whole pieces, and a partial piece at the end.
  for (const std::size_t size : {0u, 5u, 131072u, 262144u, 300001u}) {
    std::string bytes(size, 'x');
    if (size != 0) bytes.back() = 'y';
    REQUIRE(world.files.write(file, bytes));
    CHECK(world.files.digest(file).value() == kiln::sha256(bytes));
  }
  for (const std::filesystem::path& refused : {world.root / "none", world.root}) {
    const auto read = world.files.read(refused);
    const auto digest = world.files.digest(refused);
    REQUIRE_FALSE(digest);
    CHECK(digest.error().code == read.error().code);
    CHECK(digest.error().message == read.error().message);
  }
}

TEST_CASE("Files digests a file whose size the system does not know") {
  Real world;
  const auto bytes = world.files.read("/proc/self/cmdline");
  REQUIRE(bytes);
  CHECK_FALSE(bytes->empty());
  CHECK(world.files.digest("/proc/self/cmdline").value() == kiln::sha256(*bytes));
}

TEST_CASE("Files reads nothing over 4 GiB") {
  Real world;
  const std::filesystem::path huge = world.root / "huge";
  REQUIRE(world.files.write(huge, ""));
  std::filesystem::resize_file(huge, (std::uintmax_t{4} << 30) + 1);  // a sparse file
  const auto large = world.files.read(huge);
  REQUIRE_FALSE(large);
  CHECK(large.error().code == ErrorCode::kInvalidInput);
  CHECK(large.error().message ==
        "'" + huge.string() + "' has more than the 4294967296 bytes that kiln reads");
}

TEMPLATE_TEST_CASE("Files tells a missing file from an unreadable one", "", Real, Fake) {
  TestType world;
  const auto missing = world.files.read(world.root / "none");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kInvalidInput);
  CHECK(missing.error().message ==
        "cannot read '" + (world.root / "none").string() + "': No such file or directory");
  const auto folder = world.files.read(world.root);
  REQUIRE_FALSE(folder);
  CHECK(folder.error().code == ErrorCode::kEnvironment);
  CHECK_FALSE(world.files.status(world.root / "none"));
  CHECK_FALSE(world.files.list(world.root / "none"));
}

TEMPLATE_TEST_CASE("Files refuses to write below a file or over a folder", "", Real, Fake) {
  TestType world;
  REQUIRE(world.files.write(world.root / "file", "x"));
  const auto below = world.files.write(world.root / "file/below", "y");
  REQUIRE_FALSE(below);
  CHECK(below.error().code == ErrorCode::kEnvironment);
  CHECK(below.error().message.ends_with("Not a directory"));
  REQUIRE(world.files.make_directories(world.root / "folder"));
  const auto over = world.files.write(world.root / "folder", "y");
  REQUIRE_FALSE(over);
  CHECK(over.error().message.ends_with("Is a directory"));
  CHECK(world.files.list(world.root).value() == std::vector<std::string>{"file", "folder"});
}

TEMPLATE_TEST_CASE("Files leaves a file with the same bytes alone", "", Real, Fake) {
  TestType world;
  const auto path = world.root / "file";
  REQUIRE(world.files.write(path, "same"));
  const auto before = world.files.status(path);
  REQUIRE(world.files.write_if_changed(path, "same"));
  CHECK(world.files.status(path) == before);
  REQUIRE(world.files.write_if_changed(path, "else"));
  CHECK(world.files.status(path) != before);
  CHECK(world.files.read(path).value() == "else");
}

TEMPLATE_TEST_CASE("Files gives a new status to a rewritten and to a touched file", "", Real, Fake) {
  TestType world;
  const auto path = world.root / "file";
  REQUIRE(world.files.write(path, "one"));
  const auto first = world.files.status(path);
  REQUIRE(first);
  CHECK(first->size == 3);
  CHECK(world.files.status(path) == first);
  REQUIRE(world.files.write(path, "two"));
  CHECK(world.files.status(path) != first);
  ::usleep(20'000);  // past the kernel's clock tick
  const auto second = world.files.status(path);
  REQUIRE(world.files.touch(path));
  CHECK(world.files.status(path) != second);
  CHECK_FALSE(world.files.touch(world.root / "none"));
}

TEMPLATE_TEST_CASE("Files moves files over files and folders to free names", "", Real, Fake) {
  TestType world;
  REQUIRE(world.files.write(world.root / "a/one", "1"));
  REQUIRE(world.files.write(world.root / "two", "2"));
  REQUIRE(world.files.rename(world.root / "two", world.root / "a/one"));
  CHECK(world.files.read(world.root / "a/one").value() == "2");
  CHECK_FALSE(world.files.status(world.root / "two"));

  REQUIRE(world.files.rename(world.root / "a", world.root / "b"));
  CHECK(world.files.read(world.root / "b/one").value() == "2");
  REQUIRE(world.files.write(world.root / "c/other", "3"));
  CHECK_FALSE(world.files.rename(world.root / "b", world.root / "c"));
  CHECK(world.files.read(world.root / "c/other").value() == "3");
  CHECK_FALSE(world.files.rename(world.root / "none", world.root / "d"));
}

TEMPLATE_TEST_CASE("Files lists sorted names and removes trees", "", Real, Fake) {
  TestType world;
  for (const char* name : {"c", "a", "b/inner"}) {
    REQUIRE(world.files.write(world.root / "t" / name, "x"));
  }
  CHECK(world.files.list(world.root / "t").value() == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(world.files.remove_all(world.root / "t/b"));
  CHECK(world.files.list(world.root / "t").value() == std::vector<std::string>{"a", "c"});
  REQUIRE(world.files.remove_all(world.root / "t"));
  CHECK_FALSE(world.files.status(world.root / "t"));
  CHECK(world.files.remove_all(world.root / "t"));
}

TEST_CASE("Files advises on reading where a file cannot be read") {
  if (::geteuid() == 0) SKIP("root may read anything");
  Real world;
  REQUIRE(world.files.write(world.root / "locked", "x"));
  REQUIRE(::chmod((world.root / "locked").c_str(), 0) == 0);
  const auto text = world.files.read(world.root / "locked");
  REQUIRE_FALSE(text);
  CHECK(text.error().message.ends_with("Permission denied"));
  REQUIRE(text.error().notes.size() == 1);
  CHECK(text.error().notes[0].text == "let the user who runs kiln read it: chmod +r");
}

TEST_CASE("Files says that a folder stands in a file's place") {
  Real world;
  REQUIRE(world.files.make_directories(world.root / "taken"));
  const auto written = world.files.write(world.root / "taken", "x");
  REQUIRE_FALSE(written);
  REQUIRE(written.error().notes.size() == 1);
  CHECK(written.error().notes[0].text == "remove the folder of that name");
}

TEST_CASE("Files says why a read-only folder takes no file") {
  if (::geteuid() == 0) SKIP("root may write anywhere");
  Real world;
  REQUIRE(world.files.make_directories(world.root / "locked"));
  REQUIRE(::chmod((world.root / "locked").c_str(), 0500) == 0);
  const auto written = world.files.write(world.root / "locked/file", "x");
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::kEnvironment);
  CHECK(written.error().message ==
        "cannot write '" + (world.root / "locked/file").string() + "': Permission denied");
}

TEST_CASE("Files follows a write's target and mode like any program would") {
  Real world;
  REQUIRE(world.files.write(world.root / "file", "x"));
  struct stat info;
  REQUIRE(::stat((world.root / "file").c_str(), &info) == 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  CHECK((info.st_mode & 0777) == (0666 & ~mask));
}

TEST_CASE("FakeFiles fails the call it was told to and changes nothing by it") {
  FakeFiles files;
  REQUIRE(files.write("/w/file", "old"));
  files.writes.fail(2);
  CHECK(files.write("/w/other", "1"));
  const auto failed = files.write("/w/file", "new");
  REQUIRE_FALSE(failed);
  CHECK(files.read("/w/file").value() == "old");
  CHECK(files.write("/w/file", "new"));
  files.writes.fail(1, kiln::testing::Faults::Kind::kFromThenOn);
  CHECK_FALSE(files.write("/w/file", "x"));
  CHECK_FALSE(files.rename("/w/file", "/w/moved"));
  CHECK(files.snapshot("/w") ==
        std::map<std::string, std::string>{{"/w/file", "new"}, {"/w/other", "1"}});
}

TEMPLATE_TEST_CASE("Files makes a folder that nobody else has", "", Real, Fake) {
  TestType world;
  const auto one = world.files.make_unique_folder(world.root / "deep");
  const auto other = world.files.make_unique_folder(world.root / "deep");
  REQUIRE(one);
  REQUIRE(other);
  CHECK(*one != *other);
  CHECK(one->parent_path() == world.root / "deep");
  CHECK(world.files.kind(*one) == PathKind::kFolder);
}

TEMPLATE_TEST_CASE("Files tells files from folders", "", Real, Fake) {
  TestType world;
  REQUIRE(world.files.write(world.root / "file", "x"));
  CHECK(world.files.kind(world.root / "file") == PathKind::kFile);
  CHECK(world.files.kind(world.root) == PathKind::kFolder);
  CHECK(world.files.kind(world.root / "none") == PathKind::kNone);
}

TEST_CASE("Real files neither wait for a pipe nor read a device") {
  Real world;
  REQUIRE(::mkfifo((world.root / "pipe").c_str(), 0666) == 0);
  CHECK(world.files.kind(world.root / "pipe") == PathKind::kOther);
  for (const std::filesystem::path& path : {world.root / "pipe", std::filesystem::path("/dev/zero")}) {
    const auto read = world.files.read(path);
    REQUIRE_FALSE(read);
    CHECK(read.error().message ==
          "cannot read '" + path.string() + "': it is no file, but a pipe or a device");
  }
  REQUIRE(::symlink("loop", (world.root / "loop").c_str()) == 0);
  CHECK(world.files.kind(world.root / "loop") == PathKind::kHidden);
}

// In a container every process may have the same number, so the leftovers of a killed process must
// not be reused.
TEST_CASE("Real files are not hindered by what a killed process of the same number left") {
  Real world;
  const std::string left = ".kiln-" + std::to_string(::getpid()) + "-";
  for (int i = 0; i < 64; ++i) {
    REQUIRE(std::ofstream(world.root / (left + std::to_string(i) + "~")));
  }
  CHECK(world.files.write(world.root / "file", "x"));
}

TEST_CASE("Real files tell what a link says") {
  Real world;
  REQUIRE(world.files.write(world.root / "file", "x"));
  std::filesystem::create_symlink("file", world.root / "link");
  std::filesystem::create_symlink("../nowhere", world.root / "dangling");
  CHECK(world.files.link_target(world.root / "link") == "file");
  CHECK(world.files.link_target(world.root / "dangling") == "../nowhere");
  CHECK(world.files.link_target(world.root / "file").empty());
  CHECK(world.files.link_target(world.root / "none").empty());
}

TEST_CASE("Real files tell which links lead out of a folder") {
  Real world;
  const auto root = world.root / "out";
  std::filesystem::create_directories(root / "inside/deep");
  std::filesystem::create_directories(world.root / "elsewhere");
  std::filesystem::create_symlink("../elsewhere", root / "up");
  std::filesystem::create_symlink(world.root / "elsewhere", root / "absolute");
  std::filesystem::create_symlink("inside", root / "within");
  std::filesystem::create_symlink("nowhere", root / "dangling");
  std::filesystem::create_symlink("../nowhere", root / "dangling-up");
  CHECK(world.files.leads_outside(root, root / "up/file"));
  CHECK(world.files.leads_outside(root, root / "up/deep/file"));
  CHECK(world.files.leads_outside(root, root / "absolute/file"));
  CHECK(world.files.leads_outside(root, root / "dangling-up/file"));
  CHECK_FALSE(world.files.leads_outside(root, root / "within/deep/file"));
  CHECK_FALSE(world.files.leads_outside(root, root / "inside/new/deep/file"));
  CHECK_FALSE(world.files.leads_outside(root, root / "up"));  // the link itself
  CHECK_FALSE(world.files.leads_outside(world.root / "none", world.root / "none/file"));
  // The folder itself may be a link: its target is the root.
  std::filesystem::create_symlink("elsewhere", world.root / "linked-root");
  CHECK_FALSE(world.files.leads_outside(world.root / "linked-root", world.root / "linked-root/file"));
}

TEST_CASE("Real files tell that another file lies behind a link or a folder since a time") {
  Real world;
  const auto file = world.root / "current/deep/file";
  for (const char* version : {"v1", "v2"}) {
    REQUIRE(world.files.write(world.root / version / "deep/file", version));
  }
  std::filesystem::create_symlink("v1", world.root / "current");
  const auto now = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(world.files.write(world.root / "clock", ""));
    return world.files.status(world.root / "clock")->changed_ns;
  };
  const std::int64_t first = now();
  REQUIRE(world.files.write(world.root / "v1/deep/another", ""));  // no redirection
  CHECK_FALSE(world.files.path_redirected_since(file, first));
  std::filesystem::remove(world.root / "current");
  std::filesystem::create_symlink("v2", world.root / "current");
  CHECK(world.files.status(file)->changed_ns < first);
  CHECK(world.files.path_redirected_since(file, first));
  const std::int64_t second = now();
  CHECK_FALSE(world.files.path_redirected_since(file, second));
  std::filesystem::rename(world.root / "v2/deep", world.root / "v2/aside");
  std::filesystem::rename(world.root / "v1/deep", world.root / "v2/deep");
  CHECK(world.files.path_redirected_since(file, second));
}

TEST_CASE("Real files tell who else may change a folder") {
  Real world;
  CHECK(world.files.why_untrusted(world.root).empty());
  CHECK(world.files.why_untrusted(world.root / "none").empty());
  std::filesystem::permissions(world.root, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  CHECK(world.files.why_untrusted(world.root) == "everybody may write to " + world.root.string());
  if (::geteuid() != 0) return;
  REQUIRE(::chown(world.root.c_str(), 12345, 12345) == 0);
  CHECK(world.files.why_untrusted(world.root) == world.root.string() + " belongs to another user");
}
