#include "tools/system/cache_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>
#include <thread>

#include "tests/support/fake_files.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tools/system/sandboxed_files.hpp"
#include "tools/system/sealed_text.hpp"

namespace {

using kiln::Digest;
using kiln::sha256;
using kiln::testing::FakeFiles;
using kiln::testing::Faults;
using kiln::testing::ScratchFolder;
using kiln::tools::CacheStore;
using kiln::tools::cache_folder;
using kiln::tools::parse_size;
using kiln::tools::seal;

const Digest kKey = sha256("a step");

std::filesystem::path folder_of(const Digest& key) {
  return "/cache/objects/" + key.hex().substr(0, 2) + "/" + key.hex().substr(2);
}

}  // namespace

TEST_CASE("CacheStore gives back what it was given") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  CHECK_FALSE(store.find(kKey));
  REQUIRE(store.store(kKey, {"image", "log"}));
  const auto found = store.find(kKey);
  REQUIRE(found);
  CHECK(found->output == "image");
  CHECK(found->log == "log");
  CHECK_FALSE(store.find(sha256("another step")));
  CHECK(files.list("/cache/aside").value().empty());
}

TEST_CASE("CacheStore takes an entry that does not check out for a miss and removes it") {
  const std::string part = GENERATE("entry", "output", "log");
  const bool is_gone = GENERATE(false, true);
  CAPTURE(part, is_gone);
  FakeFiles files;
  CacheStore store(files, "/cache");
  REQUIRE(store.store(kKey, {"image", "log"}));
  if (is_gone) {
    REQUIRE(files.remove_all(folder_of(kKey) / part));
  } else {
    REQUIRE(files.write(folder_of(kKey) / part, "imagf"));
  }
  CHECK_FALSE(store.find(kKey));
  CHECK_FALSE(files.status(folder_of(kKey)));
  REQUIRE(store.store(kKey, {"image", "log"}));
  CHECK(store.find(kKey));
}

// An intact folder of another key under this key would be the image of another step.
TEST_CASE("CacheStore does not take an entry that was made for another key") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  const Digest other = sha256("another step");
  REQUIRE(store.store(other, {"image of another", "log"}));
  for (const char* part : {"entry", "output", "log"}) {
    REQUIRE(files.write(folder_of(kKey) / part, files.read(folder_of(other) / part).value()));
  }
  CHECK_FALSE(store.find(kKey));
  CHECK(store.damaged() == 1);
  CHECK(store.find(other));
}

TEST_CASE("CacheStore does not take a list that was made for another key") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  const Digest other = sha256("another step");
  const auto list_of = [](const Digest& key) {
    return "/cache/lists/" + key.hex().substr(0, 2) + "/" + key.hex().substr(2);
  };
  REQUIRE(store.add_candidate(other, {{{"{src}/a.cuh", sha256("a")}}}));
  REQUIRE(files.write(list_of(kKey), files.read(list_of(other)).value()));
  CHECK(store.candidates(kKey).empty());
  CHECK(store.damaged() == 1);
}

// Both stores are the first of their process, and in a container both processes have number 1.
TEST_CASE("CacheStore does not mix its entry with one that another process is making") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  REQUIRE(files.write("/cache/aside/" + std::to_string(::getpid()) + "-1/output", "image of another"));
  REQUIRE(store.store(kKey, {"image", "log"}));
  CHECK(store.find(kKey)->output == "image");
  CHECK(files.list("/cache/aside").value().size() == 1);
}

TEST_CASE("CacheStore finds a changed byte anywhere, says so once, and is mended") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  const std::string lists = "/cache/lists/" + kKey.hex().substr(0, 2) + "/" + kKey.hex().substr(2);
  const std::vector<std::pair<std::string, Digest>> read = {{"{src}/a.cuh", sha256("a")}};
  for (const std::string& path : {(folder_of(kKey) / "entry").string(), (folder_of(kKey) / "output").string(),
                                 (folder_of(kKey) / "log").string(), lists}) {
    for (std::size_t at = 0;; ++at) {
      REQUIRE(store.store(kKey, {"image", "log"}));
      REQUIRE(store.add_candidate(kKey, {read}));
      std::string bytes = files.read(path).value();
      if (at == bytes.size()) break;
      CAPTURE(path, at);
      bytes[at] = static_cast<char>(bytes[at] ^ 0x80);
      REQUIRE(files.write(path, bytes));
      const unsigned before = store.damaged();
      const bool is_found = store.find(kKey).has_value() && !store.candidates(kKey).empty();
      CHECK_FALSE(is_found);
      CHECK(store.damaged() == before + 1);
      (void)store.find(kKey);
      (void)store.candidates(kKey);
      CHECK(store.damaged() == before + 1);
    }
  }
}

// A step whose list is lost cannot look for its entry. It runs, and the old entry must be replaced.
TEST_CASE("CacheStore puts an entry in the place of a damaged one that nobody looked at") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  REQUIRE(store.store(kKey, {"image", "log"}));
  REQUIRE(files.write(folder_of(kKey) / "output", "imag"));
  REQUIRE(store.store(kKey, {"image", "log"}));
  CHECK(store.damaged() == 1);
  CHECK(store.find(kKey)->output == "image");
  CHECK(files.list("/cache/aside").value().empty());
}

TEST_CASE("CacheStore says nothing of what another version of kiln left") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  const unsigned version = GENERATE(1u, 3u, 12u);
  REQUIRE(store.store(kKey, {"image", "log"}));
  REQUIRE(files.write(folder_of(kKey) / "entry", seal("kiln-cache-entry", version, "x\n")));
  CHECK_FALSE(store.find(kKey));
  CHECK(store.damaged() == 0);
}

TEST_CASE("CacheStore marks its folder, also where that failed the first time") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  files.writes.fail(1, Faults::Kind::kOnce);
  CHECK_FALSE(store.store(kKey, {"image", "log"}));
  files.writes.fail(0);
  REQUIRE(store.store(kKey, {"image", "log"}));
  CHECK(files.status("/cache/CACHEDIR.TAG"));
}

TEST_CASE("CacheStore mends its mark, and leaves another program's") {
  FakeFiles files;
  REQUIRE(CacheStore(files, "/cache").store(kKey, {"image", "log"}));
  const std::string mark = files.read("/cache/CACHEDIR.TAG").value();
  const std::string signature = mark.substr(0, mark.find('\n') + 1);
  const auto after_a_build = [&](const std::string& text) {
    REQUIRE(files.write("/cache/CACHEDIR.TAG", text));
    CHECK_FALSE(CacheStore(files, "/cache").check_mark());
    REQUIRE(CacheStore(files, "/cache").store(kKey, {"image", "log"}));
    return files.read("/cache/CACHEDIR.TAG").value();
  };
  CHECK(after_a_build("") == mark);
  CHECK(after_a_build(mark.substr(0, 20)) == mark);
  CHECK(after_a_build(mark.substr(0, mark.size() - 1)) == mark);
  CHECK(after_a_build(signature) == signature);
  CHECK(after_a_build(signature + "# of another\n") == signature + "# of another\n");
}

TEST_CASE("CacheStore removes what killed builds left, unless another build uses it") {
  const ScratchFolder folder;
  const auto files = kiln::tools::real_files();
  CacheStore store(*files, folder / "cache");
  REQUIRE(files->write(folder / "cache/aside/of-a-killed-build/output", "half"));
  REQUIRE(files->write(folder / "cache/.kiln-of-another~", "half"));
  auto use = store.use();
  REQUIRE(use);
  {
    const auto by_another = CacheStore(*files, folder / "cache").use();
    store.sweep(*use);
    CHECK(files->status(folder / "cache/aside/of-a-killed-build"));
  }
  store.sweep(*use);
  CHECK(files->list(folder / "cache/aside").value().empty());
  CHECK_FALSE(files->status(folder / "cache/.kiln-of-another~"));
}

TEST_CASE("CacheStore lets one build at a time run a step") {
  const ScratchFolder folder;
  const auto files = kiln::tools::real_files();
  CacheStore one(*files, folder / "cache"), another(*files, folder / "cache");
  auto claim = one.claim(kKey, nullptr);
  REQUIRE(claim);
  CHECK(another.claim(sha256("another step"), nullptr));
  kiln::tools::Interrupt interrupt;
  interrupt.raise(2);
  CHECK_FALSE(another.claim(kKey, &interrupt));
  claim.reset();
  CHECK(another.claim(kKey, &interrupt));
}

TEST_CASE("CacheStore empties no folder that is not its own") {
  FakeFiles files;
  REQUIRE(files.write("/data/theses/objects/thesis", "x"));
  const auto cleared = CacheStore(files, "/data/theses").clear();
  REQUIRE_FALSE(cleared);
  CHECK(cleared.error().message == "'/data/theses' is not known to be a cache of kiln");
  CHECK(files.status("/data/theses/objects/thesis"));
  // The cache of another program has such a tag as well.
  REQUIRE(files.write("/data/theses/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"));
  CHECK_FALSE(CacheStore(files, "/data/theses").clear());
  CHECK(CacheStore(files, "/nowhere").clear());
}

TEST_CASE("CacheStore takes an entry cut at any byte for a miss") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  REQUIRE(store.store(kKey, {"image", "log"}));
  const std::string entry = files.read(folder_of(kKey) / "entry").value();
  for (std::size_t size = 0; size < entry.size(); ++size) {
    REQUIRE(store.store(kKey, {"image", "log"}));
    REQUIRE(files.write(folder_of(kKey) / "entry", entry.substr(0, size)));
    CAPTURE(size);
    CHECK_FALSE(store.find(kKey));
  }
}

TEST_CASE("CacheStore keeps the winner's entry when two builds store the same key") {
  FakeFiles files;
  CacheStore first(files, "/cache"), second(files, "/cache");
  REQUIRE(first.store(kKey, {"image", "first"}));
  REQUIRE(second.store(kKey, {"image", "second"}));
  CHECK(first.find(kKey)->log == "first");
  CHECK(files.list("/cache/aside").value().empty());
}

TEST_CASE("CacheStore holds a whole entry or none when any call fails") {
  for (const auto kind : {Faults::Kind::kOnce, Faults::Kind::kFromThenOn}) {
    for (unsigned nth = 1;; ++nth) {
      REQUIRE(nth < 100);
      FakeFiles files;
      CacheStore store(files, "/cache");
      files.writes.fail(nth, kind);
      const bool stored = store.store(kKey, {"image", "log"}).has_value();
      const bool hit = files.writes.was_hit();
      files.writes.fail(0);
      CAPTURE(nth);
      const auto found = store.find(kKey);
      CHECK(found.has_value() == stored);
      if (found) CHECK(found->output == "image");
      if (!hit) break;
    }
  }
}

TEST_CASE("CacheStore lists what a step was seen to read, newest first and each once") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  CHECK(store.candidates(kKey).empty());
  for (int i = 0; i < 10; ++i) {
    REQUIRE(store.add_candidate(kKey, {{{"{src}/a\nb.cuh", sha256(std::to_string(i))}}}));
  }
  REQUIRE(store.add_candidate(kKey, {{{"{src}/a\nb.cuh", sha256("7")}}}));
  const auto candidates = store.candidates(kKey);
  REQUIRE(candidates.size() == 8);
  CHECK(candidates[0].dependencies ==
        std::vector{std::pair<std::string, Digest>{"{src}/a\nb.cuh", sha256("7")}});
  CHECK(candidates[1].dependencies[0].second == sha256("9"));
  CHECK(std::count_if(candidates.begin(), candidates.end(), [](const auto& candidate) {
          return candidate.dependencies[0].second == sha256("7");
        }) == 1);
}

TEST_CASE("CacheStore removes what was used longest ago first") {
  FakeFiles files;
  CacheStore store(files, "/cache");
  const Digest keys[] = {sha256("0"), sha256("1"), sha256("2")};
  for (const Digest& key : keys) REQUIRE(store.store(key, {std::string(1000, 'x'), ""}));
  CHECK(store.usage().entries == 3);
  CHECK(store.usage().bytes > 3000);
  REQUIRE(store.find(keys[0]));  // used again, so now the most recent
  REQUIRE(store.trim(2600));
  CHECK(store.find(keys[0]));
  CHECK_FALSE(store.find(keys[1]));
  CHECK(store.find(keys[2]));
  REQUIRE(store.clear());
  CHECK(store.usage().entries == 0);
  CHECK(store.usage().bytes == 0);
}

TEST_CASE("CacheStore is cleared and trimmed beside a build that stores") {
  const ScratchFolder scratch;
  const auto files = kiln::tools::real_files();
  std::atomic<bool> stops = false;
  unsigned damaged = 0, lost = 0;
  {
    const std::jthread build([&] {
      CacheStore store(*files, scratch / "cache");
      const auto use = store.use();
      for (unsigned i = 0; !stops; ++i) {
        const Digest key = sha256(std::to_string(i % 8));
        if (!store.store(key, {std::string(1000, 'x'), "log"})) ++lost;
        if (!store.add_candidate(key, {})) ++lost;
        (void)store.find(key);
      }
      damaged = store.damaged();
    });
    CacheStore store(*files, scratch / "cache");
    for (int i = 0; i < 200; ++i) {
      const kiln::Result<void> removed = i % 2 == 0 ? store.clear() : store.trim(0);
      REQUIRE(removed);
    }
    stops = true;
  }
  CHECK(damaged == 0);
  CHECK(lost == 0);
}

TEST_CASE("parse_size reads bytes and binary units") {
  CHECK(parse_size("0") == 0u);
  CHECK(parse_size("1234") == 1234u);
  CHECK(parse_size("64K") == 65536u);
  CHECK(parse_size("2G") == 2147483648u);
  CHECK(parse_size("500m") == 524288000u);
  for (const char* bad : {"", "G", "2GB", "-1", "1.5G", "99999999999999999999", "99999999999G"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_size(bad));
  }
}

TEST_CASE("cache_policy reads the user's variables and refuses what is no size") {
  kiln::tools::Environment environment;
  CHECK(cache_policy(environment)->is_on);
  CHECK(cache_policy(environment)->limit == 2147483648u);
  environment.variables = {{"KILN_CACHE", "off"}, {"KILN_CACHE_SIZE", "10M"}};
  CHECK_FALSE(cache_policy(environment)->is_on);
  CHECK(cache_policy(environment)->limit == 10u << 20);
  environment.variables["KILN_CACHE_SIZE"] = "many";
  CHECK(cache_policy(environment).error().message == "KILN_CACHE_SIZE is 'many', not a size");
  environment.variables["KILN_CACHE"] = "maybe";
  CHECK(cache_policy(environment).error().message == "KILN_CACHE is 'maybe', not 'on' or 'off'");
}

TEST_CASE("cache_folder takes no folder with files that kiln did not make") {
  kiln::tools::Environment environment;
  environment.current_directory = "/project";
  environment.variables = {{"KILN_CACHE_DIR", "data/./cache/"}};
  FakeFiles files;
  CHECK(cache_folder(files, environment).path == "/project/data/cache");
  REQUIRE(files.write("/project/data/cache/notes.txt", "not in the way"));
  REQUIRE(files.make_directories("/project/data/cache/objects/0f"));
  REQUIRE(files.make_directories("/project/data/cache/aside/0123456789abcdef"));
  CHECK(cache_folder(files, environment).is_usable());
  const std::string odd = GENERATE("objects/thesis", "lists/a.txt", "aside/of somebody");
  REQUIRE(files.write("/project/data/cache/" + odd, "of the user"));
  CHECK(cache_folder(files, environment).refused ==
        "/project/data/cache holds '" + odd + "', which kiln did not write");
}

TEST_CASE("CacheStore removes and writes nothing where a link leads out of it") {
  const kiln::testing::ScratchFolder scratch;
  const std::string part = GENERATE("aside", "objects", "lists");
  std::filesystem::create_directories(scratch / "cache");
  std::filesystem::create_directories(scratch / "other/deep");
  std::filesystem::create_symlink("../other", scratch / "cache" / part);
  const auto real = kiln::tools::real_files();
  kiln::tools::SandboxedFiles files(*real, {scratch / "cache"});
  CacheStore store(files, scratch / "cache");
  auto use = store.use();
  REQUIRE(use);
  (void)store.store(sha256("key"), {"output", "log"});
  (void)store.add_candidate(sha256("key"), {});
  (void)store.trim(0);
  store.sweep(*use);
  CHECK(real->list(scratch / "other").value() == std::vector<std::string>{"deep"});
  REQUIRE(store.clear());
  CHECK(real->list(scratch / "other").value() == std::vector<std::string>{"deep"});
}
