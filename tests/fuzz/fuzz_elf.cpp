#include <span>

#include "formats/elf.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto elf = kiln::read_elf(bytes)) {
    for (const kiln::ElfSection& section : elf->sections) (void)kiln::read_relocations(section);
    (void)elf->at_address(elf->header.entry, 16);
  }
  return 0;
}

std::vector<std::string> kiln::testing::fuzz_seeds() {
  return {make_hsaco(), make_cubin(), ElfBuilder().build()};
}
