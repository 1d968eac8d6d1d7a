#include "formats/elf.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "tests/support/damage.hpp"
#include "tests/support/elf_builder.hpp"

using namespace kiln;
using namespace kiln::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

// Offsets of fields in the header, and in a section header.
constexpr std::size_t kSectionTable = 40, kSegmentTable = 32, kSectionCount = 60, kNamesIndex = 62;
constexpr std::size_t kSectionEntry = 58;

ElfBuilder sample() {
  ElfBuilder elf;
  elf.machine = 224;
  elf.flags = 0x41;
  elf.os_abi = 64;
  elf.abi_version = 3;
  const auto text = elf.add({.name = ".text", .bytes = "0123456789"});
  elf.add({.name = ".note", .type = 7, .bytes = note("AMDGPU", 32, "abcde") + note("X", 1, "")});
  elf.add({.name = ".bss", .type = 8, .size = 1 << 20});
  std::string relocation;
  put(relocation, std::uint64_t{16});
  put(relocation, std::uint32_t{3});
  put(relocation, std::uint32_t{1});
  put(relocation, std::int64_t{-8});
  elf.add({.name = ".rela.text", .type = 4, .bytes = relocation, .entry_size = 24});
  elf.add_symbol({.name = "main", .type = 2, .section = text, .value = 64, .size = 10});
  elf.add_symbol({.name = "outside"});
  return elf;
}

std::string error_of(const std::string& file) {
  const auto elf = read_elf(as_bytes(file));
  REQUIRE_FALSE(elf);
  return elf.error().message;
}

std::uint64_t at(const std::string& file, std::size_t offset) {
  return load_le<std::uint64_t>(as_bytes(file).data() + offset);
}

}  // namespace

TEST_CASE("read_elf reads header, sections, symbols, segments and notes", "[elf]") {
  const std::string file = sample().build();
  const auto elf = read_elf(as_bytes(file));
  REQUIRE(elf);
  CHECK(elf->header.machine == kElfMachineAmdGpu);
  CHECK(elf->header.flags == 0x41);
  CHECK(elf->header.os_abi == 64);
  CHECK(elf->header.abi_version == 3);
  CHECK(elf->header.type == 3);

  REQUIRE(elf->sections.size() == 8);
  const ElfSection* text = elf->find_section(".text");
  REQUIRE(text != nullptr);
  CHECK(as_text(text->bytes) == "0123456789");
  CHECK(elf->find_section(".bss")->size == 1 << 20);
  CHECK(elf->find_section(".bss")->bytes.empty());
  CHECK(elf->find_section(".data") == nullptr);

  REQUIRE(elf->symbols.size() == 3);
  CHECK(elf->symbols[1].name == "main");
  CHECK(elf->symbols[1].type == 2);
  CHECK(elf->symbols[1].binding == 1);
  CHECK(elf->symbols[1].size == 10);
  CHECK(elf->symbols[2].section == 0);
  CHECK(elf->dynamic_symbols.empty());

  REQUIRE(elf->segments.size() == 1);
  CHECK(elf->segments[0].type == kElfSegmentLoad);
  CHECK(elf->segments[0].bytes.size() == file.size());

  REQUIRE(elf->notes.size() == 2);
  CHECK(elf->notes[0].name == "AMDGPU");
  CHECK(elf->notes[0].type == 32);
  CHECK(as_text(elf->notes[0].descriptor) == "abcde");
  CHECK(elf->notes[1].name == "X");
  CHECK(elf->notes[1].descriptor.empty());
}

TEST_CASE("at_address finds bytes of a loaded segment", "[elf]") {
  const std::string file = sample().build();
  const Elf elf = read_elf(as_bytes(file)).value();
  CHECK(as_text(elf.at_address(elf.symbols[1].value, 10).value()) == "0123456789");
  CHECK(elf.at_address(file.size(), 0));
  CHECK_FALSE(elf.at_address(file.size(), 1));
  CHECK_FALSE(elf.at_address(~std::uint64_t{0}, 16));
}

TEST_CASE("read_relocations reads entries with and without addends", "[elf]") {
  const std::string file = sample().build();
  const Elf elf = read_elf(as_bytes(file)).value();
  const auto relocations = read_relocations(*elf.find_section(".rela.text"));
  REQUIRE(relocations);
  REQUIRE(relocations->size() == 1);
  CHECK((*relocations)[0].offset == 16);
  CHECK((*relocations)[0].type == 3);
  CHECK((*relocations)[0].symbol == 1);
  CHECK((*relocations)[0].addend == -8);

  ElfSection odd = *elf.find_section(".rela.text");
  odd.entry_size = 16;
  CHECK_FALSE(read_relocations(odd));
  odd.type = kElfSectionRel;
  odd.bytes = odd.bytes.first(16);
  REQUIRE(read_relocations(odd));
  CHECK(read_relocations(odd)->front().addend == 0);
}

TEST_CASE("read_elf says what is not an ELF file that it reads", "[elf]") {
  CHECK(error_of("") == "not an ELF file: 0 bytes are too few");
  CHECK(error_of(std::string(64, 'x')) == "not an ELF file: it does not start with 7f 45 4c 46");
  std::string narrow = sample().build();
  narrow[4] = 1;
  CHECK_THAT(error_of(narrow), ContainsSubstring("class 1 and byte order 1"));
  std::string big_endian = sample().build();
  big_endian[5] = 2;
  CHECK_THAT(error_of(big_endian), ContainsSubstring("byte order 2"));
}

TEST_CASE("read_elf refuses offsets and sizes outside of the file", "[elf]") {
  const std::string good = sample().build();
  const std::size_t sections = at(good, kSectionTable);
  const std::size_t segments = at(good, kSegmentTable);
  constexpr std::uint64_t kMax = ~std::uint64_t{0};

  std::string file = good;
  poke(file, kSectionTable, kMax - 63);
  CHECK_THAT(error_of(file), ContainsSubstring("the table of section headers"));
  file = good;
  poke(file, kSegmentTable, good.size() - 55);
  CHECK_THAT(error_of(file), ContainsSubstring("the table of program headers"));
  file = good;
  poke(file, sections + 64 + 24, kMax);  // sh_offset of section 1
  CHECK_THAT(error_of(file), ContainsSubstring("section 1"));
  file = good;
  poke(file, sections + 64 + 32, kMax);  // sh_size of section 1
  CHECK_THAT(error_of(file), ContainsSubstring("passes the end of the file"));
  file = good;
  poke(file, sections + 64, std::uint32_t{0xffffff});  // sh_name of section 1
  CHECK_THAT(error_of(file), ContainsSubstring("the name of section 1"));
  file = good;
  poke(file, segments + 32, kMax);  // p_filesz
  CHECK_THAT(error_of(file), ContainsSubstring("segment 0"));
  file = good;
  poke(file, segments + 40, std::uint64_t{1});  // p_memsz below p_filesz
  CHECK_THAT(error_of(file), ContainsSubstring("for 1 bytes of memory"));
  file = good;
  poke(file, segments + 16, kMax);  // p_vaddr, so that the segment's end wraps
  CHECK_THAT(error_of(file), ContainsSubstring("segment 0"));
  file = good;
  poke(file, kSectionEntry, std::uint16_t{65});
  CHECK_THAT(error_of(file), ContainsSubstring("section headers of 65 bytes"));
  file = good;
  poke(file, kNamesIndex, std::uint16_t{99});
  CHECK_THAT(error_of(file), ContainsSubstring("section 99 of 8"));
}

TEST_CASE("read_elf takes the number of sections from section 0 when the header has no room",
          "[elf]") {
  const std::string good = sample().build();
  const std::size_t sections = at(good, kSectionTable);
  std::string file = good;
  poke(file, kSectionCount, std::uint16_t{0});
  poke(file, kNamesIndex, std::uint16_t{0xffff});
  poke(file, sections + 32, std::uint64_t{8});
  poke(file, sections + 40, std::uint32_t{7});
  const auto elf = read_elf(as_bytes(file));
  REQUIRE(elf);
  CHECK(elf->find_section(".text") != nullptr);
  poke(file, sections + 32, ~std::uint64_t{0} / 64);  // times 64 it would wrap
  CHECK_THAT(error_of(file), ContainsSubstring("sections in"));
}

TEST_CASE("read_elf refuses symbols whose names or sizes are wrong", "[elf]") {
  ElfBuilder odd;
  odd.add({.name = ".symtab", .type = 2, .bytes = std::string(25, '\0'), .entry_size = 24});
  CHECK_THAT(error_of(odd.build()), ContainsSubstring("are not of 24 bytes each"));

  ElfBuilder far;
  far.add(
      {.name = ".symtab", .type = 2, .bytes = std::string(24, '\0'), .link = 77, .entry_size = 24});
  CHECK_THAT(error_of(far.build()), ContainsSubstring("section 77 of 3"));

  ElfBuilder unnamed;
  std::string symbol;
  put(symbol, std::uint32_t{9});
  symbol.resize(24);
  const auto strings = unnamed.add({.name = ".strtab", .type = 3, .bytes = "no end"});
  unnamed.add({.name = ".symtab", .type = 2, .bytes = symbol, .link = strings, .entry_size = 24});
  CHECK_THAT(error_of(unnamed.build()), ContainsSubstring("the name of symbol 0"));
}

TEST_CASE("read_elf refuses a note that passes its section", "[elf]") {
  std::string bytes = note("A", 1, "abcd");
  poke(bytes, 4, ~std::uint32_t{0});
  ElfBuilder elf;
  elf.add({.name = ".note", .type = 7, .bytes = bytes});
  CHECK_THAT(error_of(elf.build()), ContainsSubstring("a note with a name of 2"));
}

TEST_CASE("read_elf survives every cut and many changes", "[elf]") {
  const std::string file = sample().build();
  int errors = 0;
  cut_everywhere(file, [&](Bytes bytes) { errors += read_elf(bytes) ? 0 : 1; });
  CHECK(errors == static_cast<int>(file.size()));  // the loaded segment is the whole file
  change_bytes(file, 1, 20000, [](Bytes bytes) {
    const auto elf = read_elf(bytes);
    if (!elf) return;
    for (const ElfSection& section : elf->sections) (void)read_relocations(section);
  });
}
