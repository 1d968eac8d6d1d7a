#include "tests/fuzz/fuzz_target.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/catalog_json.hpp"

using namespace kiln::testing;
using namespace kiln::tools;

FUZZ_TARGET(catalog, data, size) {
  const auto json = read_json(text_of(data, size), "kiln.json");
  if (!json) return;
  (void)read_images(*json, "kiln.json");
  // A value that was read is written so that it reads the same.
  const std::string written = write_json(*json);
  const auto again = read_json(written, "kiln.json");
  promise(again && write_json(*again) == written, "JSON reads back otherwise");
}

FUZZ_SEEDS(catalog) {
  return {
      R"({"format": 1, "images": [{"module": "m", "target": "sm_90", "format": "cubin", "path": "images/m/sm_90.cubin",
 "size": 10, "sha256": "00", "kernels": [{"name": "k", "registers": 10, "parameters": [{"offset": 0, "size": 8, "kind": "pointer"}]}]}]})",
      R"([1, -2.5e3, true, null, "a\u00e9\n", {"b": []}])"};
}
