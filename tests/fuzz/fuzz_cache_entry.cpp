// Anything that a writer of the shared cache may have stored: the record of an entry, its output,
// and a list.
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/fake_files.hpp"
#include "tools/system/cache_store.hpp"

using namespace kiln::testing;
using namespace kiln::tools;

namespace {

constexpr const char* kRoot = "/cache";
const kiln::Digest kKey = kiln::sha256("a key");

// Returns the paths of all files in the store, sorted.
std::vector<std::string> files_below(const Files& files, const std::string& folder) {
  std::vector<std::string> found;
  const auto names = files.list(folder);
  if (!names) return found;
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    if (files.kind(path) == PathKind::kFolder) {
      for (std::string& one : files_below(files, path)) found.push_back(std::move(one));
    } else {
      found.push_back(path);
    }
  }
  return found;
}

}  // namespace

FUZZ_TARGET(cache_entry, data, size) {
  Pieces input(data, size);
  FakeFiles files;
  CacheStore store(files, kRoot);
  (void)store.store(kKey, {"output", "log"});
  (void)store.add_candidate(kKey, {{{"a.cu", kiln::sha256("a")}}});
  const std::vector<std::string> paths = files_below(files, kRoot);
  if (paths.empty()) return;
  const std::string& path = paths[input.byte() % paths.size()];
  const std::string old = files.read(path).value();
  const std::uint8_t how = input.byte();
  std::string changed = how % 2 == 0 ? input.piece() : old;
  if (how % 2 == 1 && !changed.empty()) {
    changed[input.byte() % changed.size()] = static_cast<char>(input.byte());
  }
  (void)files.write(path, changed);
  const auto found = store.find(kKey);
  promise(!found || (found->output == "output" && found->log == "log"),
          "a changed entry was taken");
  (void)store.candidates(kKey);
}

FUZZ_SEEDS(cache_entry) {
  std::vector<std::string> seeds;
  for (char file = 0; file < 6; ++file) {
    seeds.push_back(std::string{file, 1, 5, 'x'});
    seeds.push_back(std::string{file, 0} + as_piece("kiln-entry 1\nend 0\n"));
  }
  return seeds;
}
