#include <span>

#include "formats/elf.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

FUZZ_TARGET(elf, data, size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto elf = kiln::read_elf(bytes)) {
    for (const kiln::ElfSection& section : elf->sections) (void)kiln::read_relocations(section);
    (void)elf->at_address(elf->header.entry, 16);
  }
}

FUZZ_SEEDS(elf) { return {make_hsaco(), make_cubin(), ElfBuilder().build()}; }
