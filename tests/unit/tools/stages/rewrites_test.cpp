#include "tools/stages/rewrites.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "base/digest.hpp"
#include "base/text.hpp"

using namespace kiln;
using namespace kiln::tools;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = KILN_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Adds a source, its header, and the same of everything that they include.
void add_with_includes(const fs::path& stem, std::set<std::string>& files) {
  for (const char* extension : {".cpp", ".hpp"}) {
    const std::string name = stem.string() + extension;
    if (!fs::exists(kRoot / name) || !files.insert(name).second) continue;
    const std::string text = read(kRoot / name);
    for (std::string_view line : split(text, '\n')) {
      constexpr std::string_view kInclude = "#include \"";
      if (!line.starts_with(kInclude)) continue;
      line.remove_prefix(kInclude.size());
      add_with_includes(fs::path(line.substr(0, line.find('"'))).replace_extension(), files);
    }
  }
}

// Returns what kiln_source_digest() of cmake/KilnSourceDigest.cmake returns.
std::string digest_of(std::initializer_list<const char*> stems) {
  std::set<std::string> files;
  for (const char* stem : stems) add_with_includes(stem, files);
  std::string digests;
  for (const std::string& file : files) digests += sha256(read(kRoot / file)).hex() + "\n";
  return sha256(digests).hex();
}

}  // namespace

// If this fails after an #include was added, list the new files in tools/stages/CMakeLists.txt.
TEST_CASE("what identifies a rewrite covers all code that takes part in it") {
  CHECK(hip_rewrite() == digest_of({"tools/stages/include_hip", "tools/stages/line_directive"}));
  CHECK(ptx_rewrite() == digest_of({"tools/stages/shorten_ptx"}));
}
