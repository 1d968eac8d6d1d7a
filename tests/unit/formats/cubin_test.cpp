#include "formats/cubin.hpp"

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
  const auto cubin = read_cubin(as_bytes(file));
  REQUIRE_FALSE(cubin);
  return cubin.error().message;
}

std::string target_of(const CubinSpec& spec) {
  const std::string file = make_cubin(spec);
  const auto cubin = read_cubin(as_bytes(file));
  REQUIRE(cubin);
  return to_string(cubin->target);
}

KernelInfo kernel_of(const CubinSpec& spec) {
  const std::string file = make_cubin(spec);
  auto cubin = read_cubin(as_bytes(file));
  REQUIRE(cubin);
  REQUIRE(cubin->kernels.size() == 1);
  return cubin->kernels[0];
}

}  // namespace

TEST_CASE("read_cubin reads what the attributes and sections say of a kernel", "[cubin]") {
  const std::string file = make_cubin();
  const auto cubin = read_cubin(as_bytes(file));
  REQUIRE(cubin);
  CHECK(cubin->abi_version == 8);
  CHECK(cubin->compiler == "Cuda compilation tools, release 13.0");
  REQUIRE(cubin->kernels.size() == 1);  // a function without the entry flag is not a kernel
  const KernelInfo& kernel = cubin->kernels[0];
  CHECK(kernel.name == "scale");
  CHECK(kernel.registers == 31u);
  CHECK(kernel.stack_bytes == 256u);
  CHECK(kernel.shared_bytes == 384u);
  CHECK(kernel.constant_bytes == 372u);
  CHECK(kernel.max_threads == 256u);
  CHECK(kernel.wave_width == 32u);
  CHECK_FALSE(kernel.spill_stores);
}

TEST_CASE("read_cubin reads parameters in the order of their ordinals", "[cubin]") {
  const KernelInfo kernel = kernel_of({});
  REQUIRE(kernel.parameters.size() == 2);
  CHECK(kernel.parameters[0].offset == 0);
  CHECK(kernel.parameters[0].size == 8);
  CHECK(kernel.parameters[0].kind == ParameterKind::kUnknown);
  CHECK(kernel.parameters[1].offset == 8);
  CHECK(kernel.parameters[1].size == 4);
  CHECK(kernel.parameters[1].kind == ParameterKind::kValue);
}

TEST_CASE("read_cubin knows a pointer by its space, in both forms of a parameter", "[cubin]") {
  const KernelInfo kernel =
      kernel_of({.info = cubin_parameter(0, 0, 8, 5) +
                         cubin_attribute(0x45, {0, 1 | 8u << 16, 8 | 0x0500u << 16}) +
                         cubin_attribute(0x45, {0, 2 | 16u << 16, 5000})});
  REQUIRE(kernel.parameters.size() == 3);
  CHECK(kernel.parameters[0].kind == ParameterKind::kPointer);
  CHECK(kernel.parameters[1].kind == ParameterKind::kPointer);
  CHECK(kernel.parameters[1].size == 8);
  CHECK(kernel.parameters[1].offset == 8);
  CHECK(kernel.parameters[2].kind == ParameterKind::kValue);
  CHECK(kernel.parameters[2].size == 5000);
}

TEST_CASE("read_cubin reads the target of both layouts of the flags", "[cubin]") {
  CHECK(target_of({.abi_version = 8, .flags = 0x06005004}) == "sm_80");
  CHECK(target_of({.abi_version = 8, .flags = 0x06007902}) == "sm_121");
  CHECK(target_of({.abi_version = 8, .flags = 0x0600640a}) == "sm_100a");
  CHECK(target_of({.abi_version = 7, .flags = 0x00500550}) == "sm_80");
  CHECK(target_of({.abi_version = 7, .flags = 0x005a055a}) == "sm_90");
  CHECK(target_of({.abi_version = 7, .flags = 0x005a0d5a}) == "sm_90a");
}

TEST_CASE("read_cubin reads 'a' from .nv.compat and 'f' from the compiler's command line",
          "[cubin]") {
  const std::string own = cubin_attribute(2, 0x02, 1) + cubin_attribute(2, 0x09, 1);
  const std::string plain = cubin_attribute(2, 0x02, 1) + cubin_attribute(2, 0x09, 0);
  CHECK(target_of({.flags = 0x06005a04, .compat = own}) == "sm_90a");
  CHECK(target_of({.flags = 0x06005a04, .compat = plain}) == "sm_90");
  CHECK(target_of({.flags = 0x06006402, .compat = plain, .command_line = "-arch sm_100f -m 64 "}) ==
        "sm_100f");
  CHECK(target_of({.flags = 0x06006402, .compat = plain, .command_line = "-m 64 -arch=sm_100f"}) ==
        "sm_100f");
  CHECK(target_of({.flags = 0x06006402, .compat = plain, .command_line = "-arch sm_103f"}) ==
        "sm_100");
  CHECK(target_of({.flags = 0x06006402, .compat = own, .command_line = "-arch sm_100f"}) ==
        "sm_100a");
}

TEST_CASE("read_cubin takes the reserved shared memory off from 9.0 on", "[cubin]") {
  CHECK(kernel_of({.flags = 0x06005004, .shared = 2048}).shared_bytes == 2048u);
  CHECK(kernel_of({.flags = 0x06005a04, .shared = 2048}).shared_bytes == 1024u);
  CHECK(kernel_of({.flags = 0x06005a04, .shared = 0}).shared_bytes == 0u);
}

TEST_CASE("read_cubin says what is damaged", "[cubin]") {
  ElfBuilder host;
  CHECK(error_of(host.build()) == "not a cubin: the ELF file is for machine 62, expected 190");
  CHECK_THAT(error_of(make_cubin({.flags = 0x06000104})),
             ContainsSubstring("unknown compute capability in the cubin's flags 0x6000104"));
  CHECK_THAT(error_of(make_cubin({.info = std::string("\x04\x17\xff\xff", 4)})),
             ContainsSubstring("attribute 0x17 of form 4 in section '.nv.info.scale'"));
  CHECK_THAT(error_of(make_cubin({.info = std::string("\x09\x17\0\0", 4)})),
             ContainsSubstring("of form 9"));
  CHECK_THAT(error_of(make_cubin({.info = cubin_attribute(0x17, {0, 0})})),
             ContainsSubstring("attribute 0x17 in section '.nv.info.scale' has 8 bytes"));
  CHECK_THAT(error_of(make_cubin({.info = cubin_attribute(0x05, {0, 1, 1})})),
             ContainsSubstring("attribute 0x5 in section"));
  CHECK_THAT(error_of(make_cubin({.info = cubin_parameter(1, 8, 4)})),
             ContainsSubstring("or the one before it is missing"));
  CHECK_THAT(error_of(make_cubin({.info = cubin_parameter(0, 0, 8) + cubin_parameter(0, 0, 8)})),
             ContainsSubstring("is given twice"));
  CHECK_THAT(error_of(make_cubin({.info = cubin_attribute(3, 0x19, 8) + cubin_parameter(0, 4, 8)})),
             ContainsSubstring("is outside of its 8 bytes of parameters"));
}

TEST_CASE("read_cubin survives every cut and many changes", "[cubin]") {
  const std::string file = make_cubin({.flags = 0x06005a04, .compat = cubin_attribute(2, 0x09, 1)});
  cut_everywhere(file, [](Bytes bytes) { CHECK_FALSE(read_cubin(bytes)); });
  change_bytes(file, 4, 20000, [](Bytes bytes) { (void)read_cubin(bytes); });
}
