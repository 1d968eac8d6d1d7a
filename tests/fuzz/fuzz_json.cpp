#include <cstdlib>

#include "tests/fuzz/fuzz_target.hpp"
#include "tools/json/json.hpp"

FUZZ_TARGET(json, data, size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = kiln::tools::read_json(text, "text");
  if (!json) return;
  // The value, written and read again, is the same.
  const std::string written = kiln::tools::write_json(*json);
  const auto again = kiln::tools::read_json(written, "written");
  if (!again || kiln::tools::write_json(*again) != written) std::abort();
}

FUZZ_SEEDS(json) {
  return {R"({"a": [1, -2.5e3, true, null], "b": {"c": "x\u00e4\ud83d\ude00\n"}, "": []})",
          R"({"format": 1, "modules": {"affine": {"affine_f32": ["u64 numel", "f32* out"]}}})"};
}
