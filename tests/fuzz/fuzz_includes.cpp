#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/fake_files.hpp"
#include "tools/stages/scan_includes.hpp"

using namespace kiln::testing;

FUZZ_TARGET(includes, data, size) {
  const std::string_view text = text_of(data, size);
  for (const auto& include : kiln::tools::find_includes(text).includes) {
    promise(include.line != 0 && include.column != 0, "an include without its place");
  }
  // The include closure stays inside of the manifest's folder, whatever is included.
  FakeFiles files;
  (void)files.write("/project/src/a.cu", text);
  (void)files.write("/project/include/a.hpp", text);
  (void)files.write("/project/b.hpp", "");
  (void)files.write("/outside.hpp", "");
  kiln::tools::Manifest manifest;
  manifest.path = "targets.json";
  manifest.directory = "/project";
  kiln::tools::IncludeScanner scanner(manifest, files);
  const auto closure = scanner.closure("src/a.cu", {"include", "."}, {"MACRO=\"b.hpp\""});
  if (!closure) return;
  for (const std::string& file : closure->local) {
    promise(!file.starts_with("/") && !file.starts_with(".."), "the closure leaves the folder");
  }
}

FUZZ_SEEDS(includes) {
  return {
      "#include \"a.hpp\"\n# include <b.hpp> // c\n/* #include \"no\" */\n#inc\\\nlude \"b.hpp\"\n",
      "const char* s = \"#include\";\nR\"x(\n#include \"raw\"\n)x\"\n#include "
      "\"../b.hpp\"\n#include_next <x>\n",
      "#include \"../../outside.hpp\"\n%:include \"b.hpp\"\n#include MACRO\n",
      "#define A B\n#define B \"a.hpp\"\n#include A\n#if __has_include(<b.hpp>) || "
      "__has_include(B)\n"};
}
