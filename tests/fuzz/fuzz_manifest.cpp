#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/fake_files.hpp"
#include "tools/stages/parse_manifest.hpp"

using namespace kiln::testing;

FUZZ_TARGET(manifest, data, size) {
  FakeFiles files;
  (void)files.write("/project/targets.json", text_of(data, size));
  (void)files.write("/project/a.cu", "__global__ void a() {}\n");
  const auto manifest = kiln::tools::parse_manifest("targets.json", "/project", files);
  if (manifest) {
    promise(!manifest->modules.empty(), "a manifest without a module");
    for (const auto& module : manifest->modules) promise(!module.sources.empty(), "no source");
  } else {
    promise(!manifest.error().message.empty(), "an error without a message");
  }
}

FUZZ_SEEDS(manifest) {
  return {
      R"({"format": 1, "name": "demo", "targets": ["gfx1100", "gfx90a:xnack+", "sm_90", "compute_80"],
 "modules": [{"name": "scale", "sources": ["a.cu"]}]})",
      R"({"format": 1, "name": "d", "targets": ["host"], "include_directories": ["."], "defines": ["A=1"],
 "flags": ["-O2"], "amd_flags": [], "nvidia_flags": ["-lineinfo"], "host_flags": ["-march=native"],
 "debug": "lines", "abi": ["abi.json"], "embed": {"header": "k.hpp", "namespace": "k::l",
 "mode": "asm", "compression": "none", "source": "beside"},
 "modules": [{"name": "m", "sources": ["a.cu"], "targets": ["host:wave64"], "defines": ["B"]}]})"};
}
