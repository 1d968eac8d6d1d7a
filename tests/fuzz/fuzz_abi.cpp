#include "tests/fuzz/fuzz_target.hpp"
#include "tools/stages/parse_abi.hpp"

using namespace kiln::testing;

FUZZ_TARGET(abi, data, size) {
  const auto abi = kiln::tools::parse_abi(text_of(data, size), "abi.json");
  if (!abi) promise(abi.error().where.file == "abi.json", "an error without its file");
}

FUZZ_SEEDS(abi) {
  return {
      R"({"format": 1, "modules": {"m": [{"name": "k", "parameters": [["size_t", "n"], ["const float*", "x"]]}]}})",
      R"({"modules": {"m": {"kernels": [{"name": "k", "parameters": [{"type": "f32", "name": "x"}]}]}}})"};
}
