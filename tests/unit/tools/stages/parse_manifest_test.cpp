// The result for valid manifests, and a check that the JSON Schema for editors has the same keys.
// Each invalid manifest has a file in tests/errors.
#include "tools/stages/parse_manifest.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "base/text.hpp"
#include "tests/support/fake_files.hpp"
#include "tests/support/sections.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/parse_abi.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

// Returns the keys that an object of the manifest accepts, as listed in the error about an unknown
// key.
std::set<std::string> keys_of(const std::string& manifest) {
  testing::FakeFiles files;
  (void)files.write("/p/targets.json", manifest);
  const auto parsed = parse_manifest("targets.json", "/p", files);
  std::set<std::string> keys;
  if (parsed) return keys;
  std::vector<Error> errors = parsed.error().others;
  errors.push_back(parsed.error());
  for (const Error& error : errors) {
    if (error.message.find("'unknown_to_all'") == std::string::npos) continue;
    constexpr std::string_view kLead = "the keys are ";
    const std::string_view list = std::string_view(error.notes.at(0).text).substr(kLead.size());
    for (const std::string_view key : split(list, ',')) keys.emplace(trim(key));
  }
  return keys;
}

std::set<std::string> properties_of(const Json& object) {
  std::set<std::string> keys;
  for (const JsonMember& member : *object.find("properties")->object()) keys.insert(member.key);
  return keys;
}

}  // namespace

TEST_CASE("parse_manifest reads every key") {
  testing::FakeFiles files;
  (void)files.write("/p/sub/targets.json", R"({
    "$schema": "x", "format": 1, "name": "demo",
    "targets": ["sm_90a", "gfx90a:xnack+:sramecc-"],
    "modules": [
      {"name": "b", "sources": ["b1.cu", "./b2.cu"], "targets": ["sm_80"], "defines": ["B=2"],
       "flags": ["-f"], "amd_flags": ["-a"], "nvidia_flags": ["-n"], "include_directories": ["."], "partial": true,
       "budgets": {"registers": 64}},
      {"name": "a", "sources": ["a.cu"]}],
    "include_directories": ["inc/"], "defines": ["A"], "flags": ["-O2"], "amd_flags": ["-x"],
    "nvidia_flags": ["-y"], "debug": "lines", "joined_ptx": true, "abi": ["abi.json", "own.json"],
    "embed": {"header": "h.hpp", "namespace": "n::m", "mode": "asm", "emit": ["catalog", "cpp"], "compression": "none"},
    "minimum_runtime": "0.1.0", "min_driver": "12.4", "min_rocm": "6.2",
    "budgets": {"image_bytes": 1, "module_bytes": 2, "total_bytes": 3, "registers": 4, "spills": 0,
                "shared_bytes": 6}})");
  (void)files.write("/p/sub/abi.json",
                    R"({"format": 1, "modules": {"a": {"k": ["u8 x", "ptr p", "f16 h", "const f32* f", "f32 g"]},
                        "b": {}, "c": {"not_built": ["void* p"]}}})");
  (void)files.write("/p/sub/own.json",
                    R"({"format": 1, "modules": {"a": {"j": ["const void* q", "bool b"]}}})");
  for (const char* name : {"a.cu", "b1.cu", "b2.cu", "inc/x.h"}) {
    (void)files.write(std::string("/p/sub/") + name, "");
  }
  const auto manifest = parse_manifest("sub/targets.json", "/p", files);
  REQUIRE(manifest);
  CHECK(manifest->directory == "/p/sub");
  CHECK(manifest->name.value == "demo");
  CHECK(manifest->joined_ptx == JoinedPtx::kYes);
  REQUIRE(manifest->targets.size() == 2);
  CHECK(to_string(manifest->targets[1].value) == "gfx90a:sramecc-:xnack+");
  CHECK(manifest->targets[1].where.file == "sub/targets.json");
  CHECK(manifest->targets[1].where.line == 3);
  CHECK(manifest->targets[1].where.column == 27);
  REQUIRE(manifest->modules.size() == 2);
  CHECK(manifest->modules[0].name.value == "a");
  const ModuleSpec& b = manifest->modules[1];
  CHECK(b.sources[1].value == "b2.cu");
  CHECK(targets_of(*manifest, b).size() == 1);
  CHECK(targets_of(*manifest, manifest->modules[0]).size() == 2);
  CHECK(b.options.nvidia_flags[0].value == "-n");
  CHECK(manifest->options.defines[0].value == "A");
  CHECK(manifest->debug == DebugInfo::kLines);
  CHECK(manifest->embed.header == "h.hpp");
  CHECK(manifest->embed.name_space == "n::m");
  CHECK(manifest->embed.mode == EmbedMode::kAsm);
  CHECK(manifest->embed.outputs == std::vector{EmbedOutput::kCpp, EmbedOutput::kCatalog});
  CHECK(manifest->embed.compression == Compression::kNone);
  CHECK(manifest->minimum_runtime == 100);
  CHECK(manifest->floors.cuda == 12040);
  CHECK(manifest->floors.rocm == 6020);
  std::vector<std::uint64_t> budgets;
  for (const BudgetField& field : kBudgetFields) {
    budgets.push_back((manifest->budgets.*field.member).value());
  }
  CHECK(budgets == std::vector<std::uint64_t>{1, 2, 3, 4, 0, 6});
  CHECK(b.budgets.registers == 64u);
  CHECK_FALSE(b.budgets.spills);
  CHECK(b.coverage == AbiCoverage::kSome);
  CHECK(manifest->modules[0].coverage == AbiCoverage::kAll);
  // The kernels of both files, sorted; each parameter at a multiple of its size.
  const std::vector<AbiKernel>& kernels = manifest->abi.at("a");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "j");
  CHECK(kernels[0].where.file == "sub/own.json");
  const std::vector<KernelParameter>& parameters = kernels[1].parameters;
  REQUIRE(parameters.size() == 5);
  CHECK(parameters[0].layout.offset == 0);
  CHECK(parameters[1].layout.offset == 8);
  CHECK(parameters[1].layout.kind == ParameterKind::kPointer);
  CHECK(parameters[2].layout.offset == 16);
  CHECK(parameters[3].layout.offset == 24);
  CHECK(parameters[3].layout.size == 8);
  CHECK(parameters[3].type == ParameterType{ElementType::kF32, true, true});
  CHECK(parameters[3].name == "f");
  CHECK(parameters[4].layout.offset == 32);
  CHECK(parameters[4].layout.size == 4);
  CHECK(parameters[4].layout.kind == ParameterKind::kValue);
}

TEST_CASE("the manifest's JSON Schema has the keys that parse_manifest takes") {
  const auto schema = read_json(
      testing::read_text(std::string(KILN_GOLDEN_DIR) + "/../../tools/schema/targets.schema.json"),
      "schema");
  REQUIRE(schema);
  CHECK(properties_of(*schema) == keys_of(R"({"unknown_to_all": 1})"));
  CHECK(properties_of(*schema->find("definitions")->find("module")) ==
        keys_of(R"({"modules": [{"unknown_to_all": 1}]})"));
  CHECK(properties_of(*schema->find("properties")->find("embed")) ==
        keys_of(R"({"embed": {"unknown_to_all": 1}})"));
  CHECK(properties_of(*schema->find("properties")->find("budgets")) ==
        keys_of(R"({"budgets": {"unknown_to_all": 1}})"));

  const auto words = [](const Json& key) {
    std::vector<std::string> found;
    for (const Json& word : *key.find("enum")->array()) found.push_back(*word.text());
    return found;
  };
  const Json& embed = *schema->find("properties")->find("embed")->find("properties");
  CHECK(words(*embed.find("mode")) == all_words(kEmbedModeWords));
  CHECK(words(*embed.find("compression")) == all_words(kCompressionWords));
  CHECK(words(*embed.find("source")) == all_words(kEmbedSourceWords));
  CHECK(words(*embed.find("emit")->find("items")) == all_words(kEmitWords));
  CHECK(words(*schema->find("properties")->find("debug")) == all_words(kDebugInfoWords));
}

// Each suggestion reads a folder and compares its names, so only a few of thousands of errors get
// one.
TEST_CASE("parse_manifest looks for what was meant a few times only") {
  testing::FakeFiles files;
  std::string sources;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "kernel_number_" + std::to_string(i);
    REQUIRE(files.write("/p/" + name + ".cu", ""));
    sources += (i == 0 ? "\"" : ", \"") + name + "_.cu\"";
  }
  std::string modules;
  for (int i = 0; i < 20; ++i) {
    modules += (i == 0 ? "" : ",") + std::string("{\"name\": \"m") + std::to_string(i) +
               "\", \"sources\": [" + sources + "]}";
  }
  REQUIRE(files.write("/p/targets.json",
                      "{\"format\": 1, \"name\": \"n\", \"targets\": [\"sm_90\"], "
                      "\"modules\": [" +
                          modules + "]}"));
  const auto parsed = parse_manifest("targets.json", "/p", files);
  REQUIRE_FALSE(parsed);
  const std::vector<Error>& others = parsed.error().others;
  REQUIRE(others.size() > 20);
  CHECK(std::count_if(others.begin(), others.end(), [](const Error& error) {
          return !error.notes.empty() && error.notes.front().text.starts_with("did you mean");
        }) < 16);
}

TEST_CASE("a struct in an abi file has a size, an alignment and no type") {
  const auto abi = parse_abi(
      R"({"format": 1, "modules": {"m": {"k": ["u32 n", "f64[2] tone", "f32[3] place", "u8 last"]}}})", "abi.json");
  REQUIRE(abi);
  const std::vector<KernelParameter>& parameters = abi->at("m").front().parameters;
  std::vector<std::pair<unsigned, unsigned>> places;
  for (const KernelParameter& one : parameters) {
    places.emplace_back(one.layout.offset, one.layout.size);
  }
  CHECK(places == std::vector<std::pair<unsigned, unsigned>>{{0, 4}, {8, 16}, {24, 12}, {36, 1}});
  CHECK_FALSE(parameters[1].type.is_known());
  CHECK(parameters[1].layout.kind == ParameterKind::kValue);
  for (const char* wrong : {"f32[0]", "f32[]", "void[3]", "f32*[2]", "ptr[2]", "f32[2", "f32[-1]", "f32[99999999999999999999]"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_abi(R"({"format": 1, "modules": {"m": {"k": [")" + std::string(wrong) + R"( x"]}}})", "abi.json"));
  }
}
