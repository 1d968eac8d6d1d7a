#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_toolkit.hpp"
#include "tools/stages/catalog.hpp"
#include "tools/stages/catalog_json.hpp"
#include "tools/stages/read_catalog.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

Artifact image(const std::string& target, std::uint16_t unit, std::vector<KernelInfo> kernels) {
  Artifact artifact;
  artifact.module = "affine";
  artifact.unit = unit;
  artifact.target = artifact.info.target = parse_target_id(target).value();
  artifact.info.format =
      artifact.target.kind == TargetKind::kAmd ? ImageFormat::kHsaco : ImageFormat::kPtx;
  artifact.info.format_version = "v";
  artifact.info.ptx_isa = artifact.info.format == ImageFormat::kPtx ? 90 : 0;
  artifact.path = "images/affine/" + target;
  artifact.bytes = "bytes of " + target;
  artifact.digest = sha256(artifact.bytes);
  artifact.info.kernels = std::move(kernels);
  return artifact;
}

KernelInfo kernel_of(std::string name, ParameterKind kind) {
  KernelInfo info;
  info.name = std::move(name);
  info.parameters = {{0, 8, kind}};
  return info;
}

ModuleSpec two_sources() {
  ModuleSpec module;
  module.name.value = "affine";
  module.sources = {{"a.cu", {}}, {"b.cu", {}}};
  return module;
}

Module sample() {
  return assemble_module(two_sources(),
                         {image("compute_80", 1, {kernel_of("z", ParameterKind::kUnknown)}),
                          image("gfx1100", 1, {kernel_of("z", ParameterKind::kPointer)}),
                          image("gfx1100", 0, {kernel_of("a", ParameterKind::kValue)}),
                          image("compute_80", 0, {kernel_of("a", ParameterKind::kUnknown)})},
                         nullptr);
}

}  // namespace

TEST_CASE("assemble_module sorts images and kernels and names each kernel's unit") {
  const Module module = sample();
  CHECK(module.sources == std::vector<std::string>{"a.cu", "b.cu"});
  REQUIRE(module.kernels.size() == 2);
  CHECK(module.kernels[0].name == "a");
  CHECK(module.kernels[0].unit == 0);
  CHECK(module.kernels[1].name == "z");
  CHECK(module.kernels[1].unit == 1);
  REQUIRE(module.images.size() == 4);
  CHECK(to_string(module.images[0].target) == "gfx1100");
  CHECK(module.images[0].source == "a.cu");
  CHECK(module.images[3].source == "b.cu");
  CHECK(to_string(module.images[3].target) == "compute_80");
}

TEST_CASE("assemble_module learns what is a pointer from any image or the abi") {
  const Module module = sample();
  CHECK(module.kernels[0].parameters[0].layout.kind == ParameterKind::kValue);
  CHECK(module.kernels[1].parameters[0].layout.kind == ParameterKind::kPointer);
}

TEST_CASE("assemble_module takes types and names from the abi, else types from mangled names") {
  const ParameterType floats{ElementType::kF32, true, true};
  const std::vector<AbiKernel> abi = {
      {"a", {{{0, 8, ParameterKind::kPointer}, floats, "inp"}}, {}}};
  const auto only_parameter = [&](const std::string& name, ParameterKind kind,
                                  const std::vector<AbiKernel>* declared) {
    const Module module =
        assemble_module(two_sources(), {image("compute_80", 0, {kernel_of(name, kind)})}, declared);
    return module.kernels.at(0).parameters.at(0);
  };
  const KernelParameter told = only_parameter("a", ParameterKind::kUnknown, &abi);
  CHECK(told.layout.kind == ParameterKind::kPointer);
  CHECK(told.type == floats);
  CHECK(told.name == "inp");
  const KernelParameter read = only_parameter("_Z1kPKf", ParameterKind::kUnknown, nullptr);
  CHECK(read.layout.kind == ParameterKind::kPointer);
  CHECK(read.type == floats);
  CHECK(read.name.empty());
  // The image decides about sizes and kinds.
  CHECK_FALSE(only_parameter("_Z1kf", ParameterKind::kUnknown, nullptr).type.is_known());
  CHECK_FALSE(only_parameter("_Z1kPKf", ParameterKind::kValue, nullptr).type.is_known());
  CHECK_FALSE(only_parameter("_Z1kPKfi", ParameterKind::kPointer, nullptr).type.is_known());
  CHECK_FALSE(only_parameter("plain", ParameterKind::kPointer, nullptr).type.is_known());
}

TEST_CASE("built_targets are sorted by vendor, then name") {
  CHECK(built_targets({sample()}) == std::vector<std::string>{"gfx1100", "compute_80"});
}

TEST_CASE("tool_records name the tools that steps use, by the bytes of the parts they use") {
  kiln::testing::FakeToolkit toolkit;
  const auto records = [&] {
    FileDigests digests(toolkit.files);
    return tool_records(toolkit.plan, toolkit.toolchain, digests);
  };
  const auto before = records();
  REQUIRE(before.size() == 2);
  CHECK(before[0].name == "nvcc");
  CHECK(before[1].name == "fatbinary");
  REQUIRE(toolkit.files.write("/cuda/ptxas", "another"));
  CHECK(identity_of(records()[0]) != identity_of(before[0]));
  CHECK(identity_of(records()[1]) == identity_of(before[1]));
}

TEST_CASE("catalog_json tells what read_images reads back") {
  tools::Catalog catalog;
  catalog.name = "demo";
  catalog.modules = {sample()};
  KernelParameter& parameter = catalog.modules[0].kernels[0].parameters[0];
  parameter.type = {ElementType::kU64, false, false};
  parameter.name = "numel";
  catalog.modules[0].images[1].info.kernels[0].registers = 12;
  catalog.modules[0].images[1].info.kernels[0].spill_stores = 3;
  catalog.modules[0].images[1].info.kernels[0].spill_loads = 4;
  catalog.targets = built_targets(catalog.modules);
  catalog.missing_targets = {"sm_90"};
  catalog.tools = {{"nvcc", "13.0.88", {{"cicc", "abc"}, {"ptxas", "def"}}, {{"NVCC_APPEND_FLAGS", "-G"}}}};
  const Json document = catalog_json(catalog, {{"affine", "bundles/affine.hsaco", 7, sha256("x")}});
  const std::string text = write_json(document);
  const auto images = read_images(read_json(text, "kiln.json").value(), "kiln.json");
  REQUIRE(images);
  REQUIRE(images->size() == 4);
  const ImageSummary& second = (*images)[1];
  CHECK(second.module == "affine");
  CHECK(second.path == "images/affine/compute_80");
  CHECK(second.size == catalog.modules[0].images[1].bytes.size());
  CHECK(second.info.target == catalog.modules[0].images[1].target);
  CHECK(second.info.format == ImageFormat::kPtx);
  CHECK(second.info.ptx_isa == 90);
  REQUIRE(second.info.kernels.size() == 1);
  CHECK(second.info.kernels[0].registers == 12u);
  CHECK(second.info.kernels[0].spill_loads == 4u);
  CHECK_FALSE(second.info.kernels[0].wave_width);
  CHECK(second.info.kernels[0].parameters[0].kind == ParameterKind::kValue);
  const Json& kernel_object = (*(*document.find("images")->array())[1].find("kernels")->array())[0];
  CHECK(*kernel_object.find("spills")->integer() == 7);
  const Json& parameter_object = kernel_object.find("params")->array()->at(0);
  CHECK(*parameter_object.find("type")->text() == "u64");
  CHECK(*parameter_object.find("name")->text() == "numel");
}

TEST_CASE("read_catalog gives back the catalog that kiln.json was written from") {
  kiln::tools::Catalog catalog;
  catalog.name = "demo";
  catalog.modules = {sample()};
  Module& module = catalog.modules[0];
  module.kernels[0].parameters[0].type = {ElementType::kU64, false, false};
  module.kernels[0].parameters[0].name = "numel";
  module.origins = {{{{"a.cu", sha256("a")}, {"h.cuh", sha256("h")}}, {{"flags", {"-O2", "-g"}}}},
                    {{{"b.cu", sha256("b")}}, {}}};
  module.has_own_targets = true;
  module.source_digest = sha256("all");
  catalog.targets = built_targets(catalog.modules);
  catalog.missing_targets = {"sm_90"};
  catalog.tools = {
      {"nvcc", "13.0.88", {{"cicc", "abc"}, {"ptxas", "def"}}, {{"NVCC_APPEND_FLAGS", "-G"}}}};
  catalog.settings.embed = {.header = "demo.hpp", .name_space = "demo", .mode = EmbedMode::kAsm,
                            .compression = Compression::kNone, .source = EmbedSource::kBeside};
  catalog.settings.minimum_runtime = 100;
  catalog.settings.debug = DebugInfo::kLines;
  catalog.settings.joined_ptx = JoinedPtx::kYes;
  const std::vector<BundleRecord> bundles = {{"affine", "bundles/affine.hsaco", 7, sha256("x")}};
  const std::string text = write_json(catalog_json(catalog, bundles));
  auto record = read_catalog(read_json(text, "kiln.json").value(), "kiln.json");
  REQUIRE(record);
  for (std::size_t i = 0; i < module.images.size(); ++i) {
    record->catalog.modules[0].images[i].bytes = module.images[i].bytes;
  }
  CHECK(write_json(catalog_json(record->catalog, record->bundles)) == text);

  const auto is_read_with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    REQUIRE(changed.find(from) != std::string::npos);
    changed.replace(changed.find(from), from.size(), to);
    return read_catalog(read_json(changed, "kiln.json").value(), "kiln.json").has_value();
  };
  CHECK(is_read_with("\"unit\": 0", "\"unit\": 0"));
  CHECK_FALSE(is_read_with("\"unit\": 0", "\"unit\": 65536"));
  CHECK_FALSE(is_read_with("\"unit\": 0", "\"unit\": -65536"));
  CHECK_FALSE(is_read_with("\"size\": 7,", "\"size\": -7,"));
  CHECK_FALSE(is_read_with(sha256("x").hex(), "x"));
}

TEST_CASE("read_images refuses a document of another format") {
  const auto images = read_images(read_json("{\"format\": 99}", "kiln.json").value(), "out/kiln.json");
  REQUIRE_FALSE(images);
  CHECK(images.error().message == "not a catalog of this kiln: its 'format' is not 1");
  CHECK(images.error().where.file == "out/kiln.json");
}
