#include "formats/hsaco.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "tests/support/damage.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln;
using namespace kiln::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string error_of(const std::string& file) {
  const auto hsaco = read_hsaco(as_bytes(file));
  REQUIRE_FALSE(hsaco);
  return hsaco.error().message;
}

std::string target_of(std::uint8_t abi_version, std::uint32_t flags) {
  const std::string file = make_hsaco({.abi_version = abi_version, .flags = flags});
  const auto hsaco = read_hsaco(as_bytes(file));
  REQUIRE(hsaco);
  return to_string(hsaco->target);
}

// Returns metadata with one kernel that has these fields.
std::string metadata(const std::vector<std::pair<std::string, std::string>>& fields) {
  return msgpack::map({{"amdhsa.kernels", msgpack::array({msgpack::map(fields)})}});
}

}  // namespace

TEST_CASE("read_hsaco reads what the metadata says of a kernel", "[hsaco]") {
  const std::string file = make_hsaco();
  const auto hsaco = read_hsaco(as_bytes(file));
  REQUIRE(hsaco);
  CHECK(to_string(hsaco->target) == "gfx90a");
  CHECK(hsaco->code_object_version == 5);
  REQUIRE(hsaco->kernels.size() == 1);
  const HsacoKernel& kernel = hsaco->kernels[0];
  CHECK(kernel.info.name == "scale");
  CHECK(kernel.symbol == "scale.kd");
  CHECK(kernel.info.registers == 5u);
  CHECK(kernel.info.scalar_registers == 17u);
  CHECK(kernel.info.accumulation_registers == 2u);
  CHECK(kernel.info.spill_stores == 3u);
  CHECK(kernel.info.scalar_spills == 1u);
  CHECK(kernel.info.stack_bytes == 272u);
  CHECK(kernel.info.shared_bytes == 1024u);
  CHECK(kernel.info.wave_width == 64u);
  CHECK(kernel.info.max_threads == 256u);
  CHECK_FALSE(kernel.info.constant_bytes);
  CHECK(kernel.kernarg_alignment == 8);
}

TEST_CASE("read_hsaco leaves hidden arguments out of the parameters", "[hsaco]") {
  const std::string file = make_hsaco();
  const Hsaco hsaco = read_hsaco(as_bytes(file)).value();
  const HsacoKernel& kernel = hsaco.kernels[0];
  REQUIRE(kernel.info.parameters.size() == 2);
  CHECK(kernel.info.parameters[0].offset == 0);
  CHECK(kernel.info.parameters[0].size == 8);
  CHECK(kernel.info.parameters[0].kind == ParameterKind::kPointer);
  CHECK(kernel.info.parameters[1].offset == 8);
  CHECK(kernel.info.parameters[1].size == 4);
  CHECK(kernel.info.parameters[1].kind == ParameterKind::kValue);
  REQUIRE(kernel.arguments.size() == 3);
  CHECK(kernel.arguments[2].value_kind == "hidden_block_count_x");
}

TEST_CASE("read_hsaco reads the kernel descriptor", "[hsaco]") {
  const std::string file = make_hsaco();
  const Hsaco hsaco = read_hsaco(as_bytes(file)).value();
  const KernelDescriptor& descriptor = hsaco.kernels[0].descriptor;
  CHECK(descriptor.group_segment_size == 1024);
  CHECK(descriptor.private_segment_size == 272);
  CHECK(descriptor.kernarg_size == 20);
  CHECK(descriptor.code_offset == 4096);
  CHECK(descriptor.rsrc1 == 1);
  CHECK(descriptor.rsrc2 == 2);
  CHECK(descriptor.rsrc3 == 3);
  CHECK(descriptor.properties == 0x408);
}

TEST_CASE("read_hsaco reads the target of each code object version", "[hsaco]") {
  // V3: a feature that is not set is off.
  CHECK(target_of(1, 0x03f) == "gfx90a:sramecc-:xnack-");
  CHECK(target_of(1, 0x13f) == "gfx90a:sramecc-:xnack+");
  CHECK(target_of(1, 0x33f) == "gfx90a:sramecc+:xnack+");
  CHECK(target_of(1, 0x036) == "gfx1030");
  // V4 and later: two bits for each feature.
  for (const std::uint8_t version : {std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{4}}) {
    CHECK(target_of(version, 0x53f) == "gfx90a");
    CHECK(target_of(version, 0x73f) == "gfx90a:xnack+");
    CHECK(target_of(version, 0x63f) == "gfx90a:xnack-");
    CHECK(target_of(version, 0xe3f) == "gfx90a:sramecc+:xnack-");
    CHECK(target_of(version, 0x041) == "gfx1100");
  }
  const std::string file = make_hsaco({.abi_version = 4, .flags = 0x02000054});
  const Hsaco generic = read_hsaco(as_bytes(file)).value();
  CHECK(to_string(generic.target) == "gfx11-generic");
  CHECK(generic.code_object_version == 6);
  CHECK(generic.generic_version == 2);
}

TEST_CASE("read_hsaco says which file it does not read", "[hsaco]") {
  ElfBuilder host;
  CHECK(error_of(host.build()) ==
        "not an AMD code object: the ELF file is for machine 62, expected 224");
  CHECK_THAT(error_of(make_hsaco({.abi_version = 0})),
             ContainsSubstring("ABI version 0, expected 1 to 4"));
  CHECK_THAT(error_of(make_hsaco({.abi_version = 5})), ContainsSubstring("ABI version 5"));
  CHECK_THAT(error_of(make_hsaco({.flags = 0x5ff})),
             ContainsSubstring("unknown AMD processor 0xff in the file's flags 0x5ff"));
  std::string graphics = make_hsaco();
  graphics[7] = 65;
  CHECK_THAT(error_of(graphics), ContainsSubstring("its OS ABI is 65, expected 64"));
}

TEST_CASE("read_hsaco refuses metadata and symbols that do not match", "[hsaco]") {
  CHECK(error_of(make_hsaco({.descriptor = "other.kd"})) ==
        "damaged code object: kernel 'scale' has no symbol 'scale.kd'");
  const std::string none =
      make_hsaco({.metadata = msgpack::map({{"amdhsa.kernels", msgpack::array({})}})});
  CHECK(error_of(none) == "damaged code object: symbol 'scale.kd' has no kernel in the metadata");
  const std::string kernel =
      msgpack::map({{".name", msgpack::text("scale")}, {".symbol", msgpack::text("scale.kd")}});
  const std::string twice = msgpack::map({{"amdhsa.kernels", msgpack::array({kernel, kernel})}});
  CHECK(error_of(make_hsaco({.metadata = twice})) ==
        "damaged code object: its metadata lists 'scale.kd' twice");
}

TEST_CASE("read_hsaco says which key of the metadata is wrong", "[hsaco]") {
  using msgpack::text;
  CHECK_THAT(error_of(make_hsaco({.metadata = msgpack::number(7)})),
             ContainsSubstring("is no map"));
  CHECK_THAT(error_of(make_hsaco({.metadata = metadata({})})),
             ContainsSubstring("without a '.name'"));
  CHECK_THAT(error_of(make_hsaco({.metadata = metadata({{".name", text("k")}})})),
             ContainsSubstring("kernel 'k': '.symbol' does not end in '.kd'"));
  const auto with = [](const std::string& key, const std::string& value) {
    return error_of(make_hsaco(
        {.metadata =
             metadata({{".name", text("k")}, {".symbol", text("scale.kd")}, {key, value}})}));
  };
  CHECK_THAT(with(".vgpr_count", text("many")),
             ContainsSubstring("'.vgpr_count' is no number of 32 bits"));
  CHECK_THAT(with(".vgpr_count", msgpack::number(1ull << 32)), ContainsSubstring("'.vgpr_count'"));
  CHECK_THAT(with(".args", msgpack::number(1)), ContainsSubstring("'.args' is no list"));
  CHECK_THAT(with(".args", msgpack::array({msgpack::map({{".size", msgpack::number(8)}})})),
             ContainsSubstring("'.offset' is missing"));
  CHECK_THAT(with(".args", msgpack::array({msgpack::map({{".offset", msgpack::number(70000)},
                                                         {".size", msgpack::number(8)},
                                                         {".value_kind", text("by_value")}})})),
             ContainsSubstring("an argument of 8 bytes at offset 70000"));
  CHECK_THAT(with(".reqd_workgroup_size", msgpack::array({msgpack::number(8)})),
             ContainsSubstring("no list of three numbers"));
}

TEST_CASE("read_hsaco refuses a file without metadata, or with a descriptor outside of it",
          "[hsaco]") {
  ElfBuilder bare;
  bare.machine = 224;
  bare.os_abi = 64;
  bare.abi_version = 3;
  bare.flags = 0x41;
  CHECK(error_of(bare.build()) == "damaged code object: it has no metadata note");

  ElfBuilder outside = bare;
  outside.symbol_table = 11;
  const auto text = outside.add(
      {.name = ".note", .type = 7, .bytes = note("AMDGPU", 32, hsaco_metadata("k", "k.kd"))});
  outside.add_symbol({.name = "k.kd", .section = text, .value = 1 << 20});
  const std::string file = outside.build();
  const auto hsaco = read_hsaco(as_bytes(file));
  REQUIRE_FALSE(hsaco);
  CHECK_THAT(hsaco.error().message,
             ContainsSubstring("no segment holds the 64 bytes at address 0x100000"));
  CHECK(hsaco.error().notes.at(0).text == "while reading the descriptor 'k.kd'");
}

TEST_CASE("read_hsaco survives every cut and many changes", "[hsaco]") {
  const std::string file = make_hsaco();
  cut_everywhere(file, [](Bytes bytes) { CHECK_FALSE(read_hsaco(bytes)); });
  change_bytes(file, 3, 20000, [](Bytes bytes) { (void)read_hsaco(bytes); });
}
