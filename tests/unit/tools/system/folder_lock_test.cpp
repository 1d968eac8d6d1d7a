#include <atomic>
#include <csignal>
#include <optional>
#include <thread>

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>

#include "base/diagnostic.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tools/system/folder_lock.hpp"

using kiln::ErrorCode;
using kiln::testing::ScratchFolder;
using kiln::tools::FolderLock;
using kiln::tools::Interrupt;

TEST_CASE("FolderLock makes folder and file, and lets the second wait until the first lets go") {
  const ScratchFolder folder;
  const auto file = folder / "out/.kiln/lock";
  std::atomic<int> waits{0};
  std::optional first = FolderLock::take(file, nullptr, [&] { ++waits; });
  REQUIRE(*first);
  CHECK(waits == 0);
  std::atomic<bool> has_let_go{false}, came_too_early{false};
  std::thread second([&] {
    const auto lock = FolderLock::take(file, nullptr, [&] { ++waits; });
    came_too_early = !lock || !has_let_go;
  });
  while (waits == 0) std::this_thread::yield();
  has_let_go = true;
  first.reset();
  second.join();
  CHECK_FALSE(came_too_early);
  CHECK(waits == 1);
}

TEST_CASE("FolderLock holds the file that is there when the folder was removed while it waited") {
  const ScratchFolder folder;
  const auto file = folder / "out/.kiln/lock";
  std::atomic<bool> waits{false};
  std::optional first = FolderLock::take(file, nullptr, [] {});
  REQUIRE(*first);
  std::atomic<bool> is_there{false};
  std::thread second([&] {
    const auto lock = FolderLock::take(file, nullptr, [&] { waits = true; });
    is_there = lock && std::filesystem::exists(file);
  });
  while (!waits) std::this_thread::yield();
  std::filesystem::remove_all(folder / "out");
  first.reset();
  second.join();
  CHECK(is_there);
}

TEST_CASE("FolderLock stops waiting when interrupted") {
  const ScratchFolder folder;
  const auto held = FolderLock::take(folder / "lock", nullptr, [] {});
  REQUIRE(held);
  Interrupt interrupt;
  const auto lock = FolderLock::take(folder / "lock", &interrupt, [&] { interrupt.raise(SIGINT); });
  REQUIRE_FALSE(lock);
  CHECK(lock.error().code == ErrorCode::kInterrupted);
}

TEST_CASE("FolderLock is shared by readers and keeps a build out") {
  const ScratchFolder folder;
  const auto never = [] { FAIL("nobody has the lock"); };
  REQUIRE(FolderLock::share(folder / "lock", nullptr, never));
  CHECK_FALSE(std::filesystem::exists(folder / "lock"));
  REQUIRE(FolderLock::take(folder / "lock", nullptr, never));
  Interrupt interrupt;
  const auto interrupted = [&] { interrupt.raise(SIGINT); };
  {
    const auto first = FolderLock::share(folder / "lock", nullptr, never);
    const auto second = FolderLock::share(folder / "lock", nullptr, never);
    REQUIRE((first && second));
    CHECK_FALSE(FolderLock::take(folder / "lock", &interrupt, interrupted));
  }
  const auto build = FolderLock::take(folder / "lock", nullptr, never);
  REQUIRE(build);
  CHECK_FALSE(FolderLock::share(folder / "lock", &interrupt, interrupted));
}

TEST_CASE("FolderLock says why a folder cannot be made, not that it is missing") {
  if (::geteuid() == 0) SKIP("root may write anywhere");
  const ScratchFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read |
                                                  std::filesystem::perms::owner_exec);
  const auto lock = FolderLock::take(folder / "out/.kiln/lock", nullptr, [] {});
  REQUIRE_FALSE(lock);
  CHECK(lock.error().message ==
        "cannot write '" + (folder / "out/.kiln/lock").string() + "': Permission denied");
}

TEST_CASE("FolderLock names the file that it cannot write") {
  const auto lock = FolderLock::take("/proc/no/such/lock", nullptr, [] {});
  REQUIRE_FALSE(lock);
  CHECK(lock.error().code == ErrorCode::kEnvironment);
  CHECK(lock.error().message == "cannot write '/proc/no/such/lock': No such file or directory");
}

TEST_CASE("FolderLock says that the folder is a link to nothing") {
  const ScratchFolder folder;
  std::filesystem::create_symlink("gone", folder / "out");
  const auto lock = FolderLock::take(folder / "out/.kiln/lock", nullptr, [] {});
  REQUIRE_FALSE(lock);
  const std::string out = (folder / "out").string();
  CHECK(kiln::render(lock.error()) == "kiln: error: cannot write '" + out + "/.kiln/lock': '" + out +
                                          "' is a link to nothing\n"
                                          "note: it points to 'gone'\n"
                                          "hint: make that folder, or choose another one: --out DIR\n");
}
