// 64-bit little-endian ELF files, the common frame of AMD code objects, NVIDIA cubins and the
// host's shared objects. hsaco.hpp and cubin.hpp read the vendors' contents.
//
//   header      64 bytes: identification, machine, flags, where the two tables lie
//   segments    program headers, 56 bytes each: what a loader maps
//   sections    section headers, 64 bytes each: what a linker sees; names in a string section
//   symbols     24 bytes each, in a section of type SYMTAB or DYNSYM; names in the one it links to
//   notes       {name size, descriptor size, type, name, descriptor}, both padded to 4 bytes
//
// Spec: System V ABI, "Object Files"; machine numbers of the vendors: EM_CUDA 190, EM_AMDGPU 224.
//
// All results are views into the file, which must outlive them. Nothing in a file is trusted: every
// offset, size and index is checked when the file is read, so users of these values need no checks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/byte_reader.hpp"

namespace kiln {

inline constexpr std::uint16_t kElfMachineX86_64 = 62;
inline constexpr std::uint16_t kElfMachineAArch64 = 183;
inline constexpr std::uint16_t kElfMachineCuda = 190;
inline constexpr std::uint16_t kElfMachineAmdGpu = 224;

inline constexpr std::uint32_t kElfSectionSymbols = 2;          // SHT_SYMTAB
inline constexpr std::uint32_t kElfSectionRela = 4;             // SHT_RELA
inline constexpr std::uint32_t kElfSectionNote = 7;             // SHT_NOTE
inline constexpr std::uint32_t kElfSectionNoBits = 8;           // SHT_NOBITS
inline constexpr std::uint32_t kElfSectionRel = 9;              // SHT_REL
inline constexpr std::uint32_t kElfSectionDynamicSymbols = 11;  // SHT_DYNSYM
inline constexpr std::uint32_t kElfSegmentLoad = 1;             // PT_LOAD
inline constexpr std::uint32_t kElfSegmentNote = 4;             // PT_NOTE

struct ElfHeader {
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint16_t type = 0;  // 1 relocatable, 2 executable, 3 shared object
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  std::uint64_t entry = 0;
};

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;
  Bytes bytes;  // empty for NOBITS sections, whatever their size
};

struct ElfSegment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;  // 1 execute, 2 write, 4 read
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t memory_size = 0;  // at least bytes.size(); the rest is zeros
  std::uint64_t alignment = 0;
  Bytes bytes;
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t type = 0;     // 0 none, 1 object, 2 function, 3 section
  std::uint8_t binding = 0;  // 0 local, 1 global, 2 weak
  std::uint8_t other = 0;
  std::uint16_t section = 0;  // 0: undefined; may be a reserved number past the last section
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

struct ElfNote {
  std::string_view name;  // without its NUL
  std::uint32_t type = 0;
  Bytes descriptor;
};

struct ElfRelocation {
  std::uint64_t offset = 0;
  std::uint32_t type = 0;
  std::uint32_t symbol = 0;  // index into the symbols of the section's link
  std::int64_t addend = 0;   // 0 for REL
};

struct Elf {
  ElfHeader header;
  std::vector<ElfSegment> segments;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;          // of the SYMTAB section; the first one is empty
  std::vector<ElfSymbol> dynamic_symbols;  // of the DYNSYM section
  std::vector<ElfNote> notes;  // of the NOTE sections, or of the NOTE segments if there are none

  // Returns the first section with this name, or null.
  const ElfSection* find_section(std::string_view name) const;
  // Returns `size` bytes at an address, from the loaded segment that holds them all.
  Result<Bytes> at_address(std::uint64_t address, std::uint64_t size) const;
};
Result<Elf> read_elf(Bytes file);
// The same without the symbols: the check of a loader before it passes the file on. Takes
// microseconds, whatever the file's size.
Result<Elf> read_elf_without_symbols(Bytes file);

// Returns the entries of a REL or RELA section.
Result<std::vector<ElfRelocation>> read_relocations(const ElfSection& section);

}  // namespace kiln
