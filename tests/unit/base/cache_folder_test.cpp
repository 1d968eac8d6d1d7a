#include "base/cache_folder.hpp"

#include <filesystem>
#include <map>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;

std::string place(const std::map<std::string, std::string>& variables) {
  return kiln::default_cache_folder([&](const char* name) {
           const auto found = variables.find(name);
           return found == variables.end() ? std::string() : found->second;
         })
      .string();
}

}  // namespace

TEST_CASE("default_cache_folder is that of the most specific variable") {
  CHECK(place({{"HOME", "/h"}}) == "/h/.cache/kiln");
  CHECK(place({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}}) == "/c/kiln");
  CHECK(place({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}, {"KILN_CACHE_DIR", "k"}}) == "k");
}

TEST_CASE(
    "default_cache_folder ignores relative folders of the user, as the XDG specification wants") {
  CHECK(place({{"HOME", "/h"}, {"XDG_CACHE_HOME", ".cache"}}) == "/h/.cache/kiln");
  CHECK(place({{"HOME", "h"}}).empty());
  CHECK(place({}).empty());
}

TEST_CASE("why_untrusted looks at the folder above, too") {
  const kiln::testing::ScratchFolder scratch;
  const fs::path shared = fs::path(scratch.path()) / "shared", cache = shared / "cache";
  fs::create_directories(cache);
  CHECK(kiln::why_untrusted(cache).empty());
  fs::permissions(shared, fs::perms::others_write, fs::perm_options::add);
  CHECK(kiln::why_untrusted(cache) == "everybody may write to " + shared.string());
  fs::create_directories(cache / "deep");
  CHECK(kiln::why_untrusted(cache / "deep").empty());
  CHECK(kiln::why_untrusted(shared / "none") == "everybody may write to " + shared.string());
  fs::permissions(shared, fs::perms::sticky_bit, fs::perm_options::add);
  CHECK(kiln::why_untrusted(cache).empty());
  CHECK(kiln::why_untrusted(shared) == "everybody may write to " + shared.string());
}
