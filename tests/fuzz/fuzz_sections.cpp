// ELF files with arbitrary sections, symbols and notes, built as valid files around the input, so
// that the fuzzer passes the checks of the frame and reaches the vendor-specific parts.
#include "formats/byte_reader.hpp"
#include "formats/image.hpp"
#include "formats/image_head.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln::testing;

namespace {

// Names and types that the readers look for. Others come from the input.
constexpr const char* kNames[] = {
    ".nv.info",   ".nv.info.k", ".text.k", ".nv.shared.k", ".nv.constant0.k", ".nv.constant2.k",
    ".nv.compat", ".text",      ".rodata", ".kiln.image",  ".kiln.kernels",   ".note"};
constexpr std::uint32_t kTypes[] = {1, 2, 3, 4, 6, 7, 8, 9, 11, 0x70000000, 0x70000086};

}  // namespace

FUZZ_TARGET(sections, data, size) {
  Pieces input(data, size);
  ElfBuilder elf;
  const std::uint8_t kind = input.byte();
  elf.machine = kind % 3 == 0 ? 224 : kind % 3 == 1 ? 190 : 62;
  elf.os_abi = kind % 3 == 0 ? 64 : 0x41;
  elf.abi_version = input.byte() % 10;
  elf.flags = kind % 3 == 0 ? 0x53fU : 0x06005004U;
  elf.symbol_table = kind % 3 == 0 ? 11 : 2;
  for (int sections = 0; !input.empty() && sections < 40; ++sections) {
    const std::uint8_t what = input.byte();
    const std::string name = what % 13 < 12 ? kNames[what % 13] : input.piece();
    if (what >= 200) {
      elf.add_symbol({.name = name,
                      .type = static_cast<std::uint8_t>(what & 3),
                      .other = input.byte(),
                      .section = input.byte(),
                      .value = input.byte()});
      continue;
    }
    std::string bytes = input.piece();
    if (what >= 150)
      bytes = note(what % 2 == 0 ? "AMDGPU" : "NVIDIA Corp", what % 2 == 0 ? 32 : 2000, bytes);
    const std::uint32_t type = what >= 150 ? 7 : kTypes[input.byte() % std::size(kTypes)];
    elf.add({.name = name,
             .type = type,
             .bytes = bytes,
             .link = input.byte(),
             .info = input.byte(),
             .entry_size = type == 4 || type == 2 || type == 11 ? 24U : 16U});
  }
  const std::string file = elf.build();
  const auto bytes = kiln::as_bytes(file);
  const auto image = kiln::read_image(bytes);
  const auto head = kiln::read_image_head(bytes);
  // The reader must refuse everything that the short check of the loader refuses.
  promise(head || !image, "read_image takes what read_image_head refuses");
}

FUZZ_SEEDS(sections) {
  const auto section = [](int what, const std::string& bytes, int type) {
    return std::string(1, static_cast<char>(what)) + as_piece(bytes) +
           std::string{static_cast<char>(type), 0, 0};
  };
  const std::string info = cubin_attribute(3, 0x19, 12) + cubin_parameter(1, 8, 4) +
                           cubin_parameter(0, 0, 8) + cubin_attribute(0x05, {128, 2, 1});
  const std::string cubin = std::string("\x01\x08", 2) +
                            section(0, cubin_attribute(0x2f, {1, 31}), 9) + section(1, info, 9) +
                            section(2, "code", 0) + section(4, "constants", 0) +
                            std::string("\xd1\x10\x03\x00", 4);
  const std::string hsaco = std::string("\x00\x03", 2) + std::string(1, static_cast<char>(150)) +
                            as_piece(hsaco_metadata("k", "k.kd")) + std::string(3, '\0') +
                            section(8, std::string(64, '\0'), 0);
  return {cubin, hsaco, std::string("\x02\x00", 2) + section(9, std::string(200, 'x'), 0)};
}
