#include "formats/source_bundle.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace kiln::testing;

FUZZ_TARGET(source_bundle, data, size) {
  const auto bundle = kiln::read_source_bundle(text_of(data, size));
  if (!bundle) return;
  for (const auto& file : bundle->files) {
    promise(!file.path.starts_with("/") && file.path.find("../") != 0, "a file leaves the folder");
  }
  // A value that was read is written so that it reads the same.
  const std::string written = kiln::write_source_bundle(*bundle);
  const auto again = kiln::read_source_bundle(written);
  promise(again && kiln::write_source_bundle(*again) == written, "a bundle reads back otherwise");
}

FUZZ_SEEDS(source_bundle) {
  return {
      "kiln source 1\ndefine A=1\ninclude include\nflag -O3\nfile 4 a.cu\nabc\n\nfile 0 "
      "b/c.hpp\n\n"};
}
