// Builds small ELF files from a description, so that a test shows each unusual field that it is
// about.
//
//   ElfBuilder elf;
//   elf.machine = 224;
//   const auto text = elf.add({.name = ".text", .bytes = "..."});
//   elf.add_symbol({.name = "f", .type = 2, .section = text});
//   std::string file = elf.build();
//
// One loaded segment holds the whole file at address 0, so an address is a file offset. To damage a
// header, a test changes the built bytes with `poke`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln::testing {

// Appends an integer, little-endian.
template <typename Integer>
void put(std::string& bytes, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
  }
}

// Overwrites an integer, little-endian.
template <typename Integer>
void poke(std::string& bytes, std::size_t offset, Integer value) {
  std::string integer;
  put(integer, value);
  bytes.replace(offset, integer.size(), integer);
}

struct SectionSpec {
  std::string name;
  std::uint32_t type = 1;
  std::string bytes = {};
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;
  std::optional<std::uint64_t> size = {};  // if it differs from that of `bytes`: NOBITS
};

struct SymbolSpec {
  std::string name;
  std::uint8_t type = 0;
  std::uint8_t binding = 1;
  std::uint8_t other = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

// Returns a padded note record.
inline std::string note(const std::string& name, std::uint32_t type,
                        const std::string& descriptor) {
  const auto pad = [](std::string& bytes) { bytes.resize((bytes.size() + 3) / 4 * 4); };
  std::string bytes;
  put(bytes, static_cast<std::uint32_t>(name.size() + 1));
  put(bytes, static_cast<std::uint32_t>(descriptor.size()));
  put(bytes, type);
  bytes += name + '\0';
  pad(bytes);
  bytes += descriptor;
  pad(bytes);
  return bytes;
}

class ElfBuilder {
 public:
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint16_t type = 3;
  std::uint16_t machine = 62;
  std::uint32_t flags = 0;
  // The section type of the symbol table: 2 SYMTAB, 11 DYNSYM.
  std::uint32_t symbol_table = 2;

  // Adds a section and returns its index.
  std::uint16_t add(SectionSpec section) {
    align();
    offsets_.push_back(kHeader + body_.size());
    body_ += section.bytes;
    sections_.push_back(std::move(section));
    return static_cast<std::uint16_t>(sections_.size());
  }
  // Returns the file offset of the bytes of a section, which is also their address.
  std::uint64_t offset(std::uint16_t section) const { return offsets_[section - 1]; }

  void add_symbol(const SymbolSpec& symbol) { symbols_.push_back(symbol); }

  std::string build() {
    if (!symbols_.empty()) add_symbols();
    std::string names(1, '\0');
    std::vector<std::size_t> name_offsets;
    for (const SectionSpec& section : sections_) {
      name_offsets.push_back(names.size());
      names += section.name + '\0';
    }
    name_offsets.push_back(names.size());
    names += std::string(".shstrtab") + '\0';
    add({.name = ".shstrtab", .type = 3, .bytes = names});
    align();
    const std::uint64_t sections_at = kHeader + body_.size();
    const std::uint64_t segments_at = sections_at + 64 * (sections_.size() + 1);
    const std::uint64_t end = segments_at + 56;

    std::string file(
        "\x7f"
        "ELF\x02\x01\x01",
        7);
    put(file, os_abi);
    put(file, abi_version);
    file.resize(16);
    put(file, type);
    put(file, machine);
    put(file, std::uint32_t{1});
    put(file, std::uint64_t{0});
    put(file, segments_at);
    put(file, sections_at);
    put(file, flags);
    for (const std::size_t number : {std::size_t{64}, std::size_t{56}, std::size_t{1},
                                     std::size_t{64}, sections_.size() + 1, sections_.size()}) {
      put(file, static_cast<std::uint16_t>(number));
    }
    file += body_;
    file.resize(file.size() + 64);  // section 0
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const SectionSpec& section = sections_[i];
      put(file, static_cast<std::uint32_t>(name_offsets[i]));
      put(file, section.type);
      put(file, std::uint64_t{0});
      put(file, offsets_[i]);
      put(file, offsets_[i]);
      put(file, section.size.value_or(section.bytes.size()));
      put(file, section.link);
      put(file, section.info);
      put(file, std::uint64_t{8});
      put(file, section.entry_size);
    }
    put(file, std::uint32_t{1});  // PT_LOAD
    put(file, std::uint32_t{4});
    put(file, std::uint64_t{0});
    put(file, std::uint64_t{0});
    put(file, std::uint64_t{0});
    put(file, end);
    put(file, end);
    put(file, std::uint64_t{4096});
    return file;
  }

 private:
  static constexpr std::uint64_t kHeader = 64;

  void align() { body_.resize((body_.size() + 7) / 8 * 8); }

  void add_symbols() {
    std::string names(1, '\0');
    std::string table(24, '\0');
    for (const SymbolSpec& symbol : symbols_) {
      put(table, static_cast<std::uint32_t>(names.size()));
      put(table, static_cast<std::uint8_t>(symbol.binding << 4 | symbol.type));
      put(table, symbol.other);
      put(table, symbol.section);
      put(table, symbol.value);
      put(table, symbol.size);
      names += symbol.name + '\0';
    }
    symbols_.clear();
    const std::uint16_t strings = add({.name = ".strtab", .type = 3, .bytes = names});
    add({.name = symbol_table == 2 ? ".symtab" : ".dynsym",
         .type = symbol_table,
         .bytes = table,
         .link = strings,
         .entry_size = 24});
  }

  std::string body_;
  std::vector<SectionSpec> sections_;
  std::vector<std::uint64_t> offsets_;
  std::vector<SymbolSpec> symbols_;
};

}  // namespace kiln::testing
