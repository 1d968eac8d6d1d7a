#include "formats/elf.hpp"

#include <algorithm>
#include <string>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln {
namespace {

constexpr std::string_view kMagic =
    "\x7f"
    "ELF";
constexpr std::size_t kHeaderSize = 64;
constexpr std::size_t kSegmentSize = 56;
constexpr std::size_t kSectionSize = 64;
constexpr std::size_t kSymbolSize = 24;
constexpr std::size_t kMinNoteSize = 12;
constexpr std::size_t kMaxSegments = 1024;  // images have about ten

// The location of the tables, from the file's header.
struct Tables {
  std::uint64_t segment_offset = 0;
  std::uint16_t segment_entry = 0;
  std::uint16_t segment_count = 0;
  std::uint64_t section_offset = 0;
  std::uint16_t section_entry = 0;
  std::uint64_t section_count = 0;
  std::uint32_t section_names = 0;  // index of the section that holds the names
};

std::string extent(std::uint64_t offset, std::uint64_t size) {
  return std::to_string(size) + " bytes at offset " + std::to_string(offset);
}

Error past_end(const std::string& what, std::uint64_t offset, std::uint64_t size, Bytes file) {
  return malformed("damaged ELF file: " + what + ", " + extent(offset, size) +
                   ", passes the end of the file at " + std::to_string(file.size()));
}

// The strings that a table's records point to. If every record named the same long string, a small
// file would need a lot of memory, so all names together may have at most twice the file's size.
class Names {
 public:
  Names(Bytes strings, Bytes file) : strings_(strings), budget_(2 * std::uint64_t{file.size()}) {}

  // `what` is the owner of the name, for messages: "section 3".
  Result<std::string_view> at(std::uint64_t offset, std::string_view what) {
    const auto name = c_string(strings_, offset);
    if (!name) {
      return malformed("damaged ELF file: the name of " + std::string(what) + ", at " +
                       std::to_string(offset) + ", is outside of its string section");
    }
    if (name->size() > budget_) {
      return malformed("damaged ELF file: with " + std::string(what) +
                       " the names are longer in all than twice the file");
    }
    budget_ -= name->size();
    return *name;
  }

 private:
  Bytes strings_;
  std::uint64_t budget_;
};

Result<Tables> read_header(Bytes file, ElfHeader& header) {
  if (file.size() < kHeaderSize || !as_text(file).starts_with(kMagic)) {
    return malformed("not an ELF file: " + (file.size() < kHeaderSize
                                                ? std::to_string(file.size()) + " bytes are too few"
                                                : std::string("it does not start with 7f 45 4c 46")));
  }
  ByteReader reader(file.first(kHeaderSize));
  reader.skip(kMagic.size());
  const auto file_class = reader.little<std::uint8_t>();
  const auto byte_order = reader.little<std::uint8_t>();
  if (file_class != 2 || byte_order != 1) {
    return malformed("ELF file of class " + std::to_string(file_class) + " and byte order " +
                     std::to_string(byte_order) +
                     ": kiln reads 64 bits, little-endian (2 and 1) alone");
  }
  reader.skip(1);  // version of the identification
  header.os_abi = reader.little<std::uint8_t>();
  header.abi_version = reader.little<std::uint8_t>();
  reader.skip(7);
  header.type = reader.little<std::uint16_t>();
  header.machine = reader.little<std::uint16_t>();
  reader.skip(4);  // version of the file
  header.entry = reader.little<std::uint64_t>();
  Tables tables;
  tables.segment_offset = reader.little<std::uint64_t>();
  tables.section_offset = reader.little<std::uint64_t>();
  header.flags = reader.little<std::uint32_t>();
  reader.skip(2);  // size of this header
  tables.segment_entry = reader.little<std::uint16_t>();
  tables.segment_count = reader.little<std::uint16_t>();
  tables.section_entry = reader.little<std::uint16_t>();
  tables.section_count = reader.little<std::uint16_t>();
  tables.section_names = reader.little<std::uint16_t>();
  return tables;
}

Result<std::vector<ElfSegment>> read_segments(Bytes file, const Tables& tables) {
  std::vector<ElfSegment> segments;
  if (tables.segment_count == 0) return segments;
  if (tables.segment_entry != kSegmentSize) {
    return malformed("damaged ELF file: program headers of " +
                     std::to_string(tables.segment_entry) + " bytes, expected " +
                     std::to_string(kSegmentSize));
  }
  const std::uint64_t size = std::uint64_t{tables.segment_count} * kSegmentSize;
  const auto table = slice(file, tables.segment_offset, size);
  if (!table) return past_end("the table of program headers", tables.segment_offset, size, file);
  if (tables.segment_count > kMaxSegments) {
    return malformed("damaged ELF file: " + std::to_string(tables.segment_count) +
                     " segments, kiln reads " + std::to_string(kMaxSegments));
  }
  segments.reserve(tables.segment_count);
  ByteReader reader(*table);
  for (std::uint16_t i = 0; i < tables.segment_count; ++i) {
    ElfSegment& segment = segments.emplace_back();
    segment.type = reader.little<std::uint32_t>();
    segment.flags = reader.little<std::uint32_t>();
    segment.offset = reader.little<std::uint64_t>();
    segment.address = reader.little<std::uint64_t>();
    reader.skip(8);  // physical address
    const auto file_size = reader.little<std::uint64_t>();
    segment.memory_size = reader.little<std::uint64_t>();
    segment.alignment = reader.little<std::uint64_t>();
    const std::string what = "segment " + std::to_string(i);
    const auto bytes = slice(file, segment.offset, file_size);
    if (!bytes) return past_end(what, segment.offset, file_size, file);
    segment.bytes = *bytes;
    if (segment.type == kElfSegmentLoad &&
        (segment.memory_size < file_size || segment.memory_size > ~segment.address)) {
      return malformed("damaged ELF file: " + what + " has " + std::to_string(file_size) +
                       " bytes for " + std::to_string(segment.memory_size) +
                       " bytes of memory at " + hex(segment.address));
    }
  }
  return segments;
}

ElfSection read_section_header(ByteReader& reader, std::uint32_t& name) {
  ElfSection section;
  name = reader.little<std::uint32_t>();
  section.type = reader.little<std::uint32_t>();
  section.flags = reader.little<std::uint64_t>();
  section.address = reader.little<std::uint64_t>();
  section.offset = reader.little<std::uint64_t>();
  section.size = reader.little<std::uint64_t>();
  section.link = reader.little<std::uint32_t>();
  section.info = reader.little<std::uint32_t>();
  reader.skip(8);  // alignment
  section.entry_size = reader.little<std::uint64_t>();
  return section;
}

// Extended numbering: if the header's 16 bits are too few for the number of sections or for the
// index of the names, the first section header, which is otherwise unused, holds it.
Result<void> read_extended_numbers(Bytes file, Tables& tables) {
  if (tables.section_count != 0 && tables.section_names != 0xffff) return {};
  const auto first = slice(file, tables.section_offset, kSectionSize);
  if (!first) return past_end("section header 0", tables.section_offset, kSectionSize, file);
  ByteReader reader(*first);
  std::uint32_t name = 0;
  const ElfSection numbers = read_section_header(reader, name);
  if (tables.section_count == 0) tables.section_count = numbers.size;
  if (tables.section_names == 0xffff) tables.section_names = numbers.link;
  return {};
}

Result<std::vector<ElfSection>> read_sections(Bytes file, Tables tables) {
  std::vector<ElfSection> sections;
  if (tables.section_offset == 0) return sections;
  if (tables.section_entry != kSectionSize) {
    return malformed("damaged ELF file: section headers of " +
                     std::to_string(tables.section_entry) + " bytes, expected " +
                     std::to_string(kSectionSize));
  }
  KILN_TRY(read_extended_numbers(file, tables));
  const std::uint64_t count = tables.section_count;
  if (count > file.size() / kSectionSize) {
    return malformed("damaged ELF file: " + std::to_string(count) + " sections in " +
                     std::to_string(file.size()) + " bytes");
  }
  const auto table = slice(file, tables.section_offset, count * kSectionSize);
  if (!table) {
    return past_end("the table of section headers", tables.section_offset, count * kSectionSize,
                    file);
  }
  ByteReader reader(*table);
  std::vector<std::uint32_t> names;
  names.reserve(static_cast<std::size_t>(count));
  sections.reserve(static_cast<std::size_t>(count));
  std::uint64_t content = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    ElfSection section = read_section_header(reader, names.emplace_back());
    if (section.type != kElfSectionNoBits && i != 0) {
      const auto bytes = slice(file, section.offset, section.size);
      if (!bytes) {
        return past_end("section " + std::to_string(i), section.offset, section.size, file);
      }
      section.bytes = *bytes;
      content += bytes->size();
      if (content > file.size()) {
        return malformed("damaged ELF file: its sections overlap: up to section " +
                         std::to_string(i) + " they have " + std::to_string(content) +
                         " bytes, the file " + std::to_string(file.size()));
      }
    }
    sections.push_back(section);
  }
  if (tables.section_names == 0) return sections;  // sections without names
  if (tables.section_names >= count) {
    return malformed("damaged ELF file: the section names are said to be in section " +
                     std::to_string(tables.section_names) + " of " + std::to_string(count));
  }
  Names strings(sections[tables.section_names].bytes, file);
  for (std::size_t i = 1; i < sections.size(); ++i) {
    KILN_TRY_ASSIGN(sections[i].name, strings.at(names[i], "section " + std::to_string(i)));
  }
  return sections;
}

// Reads the symbols of the first section with this type.
Result<std::vector<ElfSymbol>> read_symbols(Bytes file, const std::vector<ElfSection>& sections,
                                            std::uint32_t type) {
  std::vector<ElfSymbol> symbols;
  const auto table = std::ranges::find(sections, type, &ElfSection::type);
  if (table == sections.end()) return symbols;
  if (table->entry_size != kSymbolSize || table->bytes.size() % kSymbolSize != 0) {
    return malformed("damaged ELF file: the symbols of section " + quote(table->name) + ", " +
                     std::to_string(table->bytes.size()) + " bytes, are not of " +
                     std::to_string(kSymbolSize) + " bytes each");
  }
  if (table->link >= sections.size()) {
    return malformed("damaged ELF file: section " + quote(table->name) +
                     " links to its names in section " + std::to_string(table->link) + " of " +
                     std::to_string(sections.size()));
  }
  Names names(sections[table->link].bytes, file);
  ByteReader reader(table->bytes);
  symbols.reserve(table->bytes.size() / kSymbolSize);
  while (!reader.at_end()) {
    ElfSymbol symbol;
    const auto name_offset = reader.little<std::uint32_t>();
    const auto info = reader.little<std::uint8_t>();
    symbol.type = info & 15;
    symbol.binding = info >> 4;
    symbol.other = reader.little<std::uint8_t>();
    symbol.section = reader.little<std::uint16_t>();
    symbol.value = reader.little<std::uint64_t>();
    symbol.size = reader.little<std::uint64_t>();
    if (name_offset != 0) {
      KILN_TRY_ASSIGN(symbol.name,
                      names.at(name_offset, "symbol " + std::to_string(symbols.size())));
    }
    symbols.push_back(symbol);
  }
  return symbols;
}

Result<void> read_notes(Bytes region, std::vector<ElfNote>& notes) {
  ByteReader reader(region);
  while (reader.remaining() >= kMinNoteSize) {
    const auto name_size = reader.little<std::uint32_t>();
    const auto descriptor_size = reader.little<std::uint32_t>();
    ElfNote note;
    note.type = reader.little<std::uint32_t>();
    std::string_view name = as_text(reader.take(name_size));
    reader.align(4);
    note.descriptor = reader.take(descriptor_size);
    if (reader.failed()) {
      return malformed("damaged ELF file: a note with a name of " + std::to_string(name_size) +
                       " and a descriptor of " + std::to_string(descriptor_size) +
                       " bytes passes the end of its region of " + std::to_string(region.size()));
    }
    if (reader.remaining() != 0) reader.align(4);
    note.name = name.substr(0, name.find('\0'));
    notes.push_back(note);
  }
  return {};
}

// Reads the notes of the NOTE sections, or of the NOTE segments if no section has any.
Result<void> read_all_notes(Bytes file, Elf& elf) {
  const auto read_regions = [&](const auto& regions, std::uint32_t type) -> Result<void> {
    std::uint64_t size = 0;
    for (const auto& region : regions) {
      if (region.type == type) size += region.bytes.size();
    }
    if (size > file.size()) return malformed("damaged ELF file: its notes overlap");
    elf.notes.reserve(static_cast<std::size_t>(size / kMinNoteSize));
    for (const auto& region : regions) {
      if (region.type == type) KILN_TRY(read_notes(region.bytes, elf.notes));
    }
    return {};
  };
  KILN_TRY(read_regions(elf.sections, kElfSectionNote));
  return elf.notes.empty() ? read_regions(elf.segments, kElfSegmentNote) : Result<void>();
}

}  // namespace

const ElfSection* Elf::find_section(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &ElfSection::name);
  return found != sections.end() ? &*found : nullptr;
}

Result<Bytes> Elf::at_address(std::uint64_t address, std::uint64_t size) const {
  for (const ElfSegment& segment : segments) {
    if (segment.type != kElfSegmentLoad || address < segment.address) continue;
    if (const auto bytes = slice(segment.bytes, address - segment.address, size)) return *bytes;
  }
  return malformed("damaged ELF file: no segment holds the " + std::to_string(size) +
                   " bytes at address " + hex(address));
}

Result<Elf> read_elf_without_symbols(Bytes file) {
  Elf elf;
  KILN_TRY_ASSIGN(const Tables tables, read_header(file, elf.header));
  KILN_TRY_ASSIGN(elf.segments, read_segments(file, tables));
  KILN_TRY_ASSIGN(elf.sections, read_sections(file, tables));
  KILN_TRY(read_all_notes(file, elf));
  return elf;
}

Result<Elf> read_elf(Bytes file) {
  KILN_TRY_ASSIGN(Elf elf, read_elf_without_symbols(file));
  KILN_TRY_ASSIGN(elf.symbols, read_symbols(file, elf.sections, kElfSectionSymbols));
  KILN_TRY_ASSIGN(elf.dynamic_symbols, read_symbols(file, elf.sections, kElfSectionDynamicSymbols));
  return elf;
}

Result<std::vector<ElfRelocation>> read_relocations(const ElfSection& section) {
  const bool has_addend = section.type == kElfSectionRela;
  const std::size_t entry = has_addend ? 24 : 16;
  if (section.entry_size != entry || section.bytes.size() % entry != 0) {
    return malformed("damaged ELF file: the relocations of section " + quote(section.name) + ", " +
                     std::to_string(section.bytes.size()) + " bytes, are not of " +
                     std::to_string(entry) + " bytes each");
  }
  std::vector<ElfRelocation> relocations;
  ByteReader reader(section.bytes);
  while (!reader.at_end()) {
    ElfRelocation& relocation = relocations.emplace_back();
    relocation.offset = reader.little<std::uint64_t>();
    relocation.type = reader.little<std::uint32_t>();
    relocation.symbol = reader.little<std::uint32_t>();
    if (has_addend) relocation.addend = reader.little<std::int64_t>();
  }
  return relocations;
}

}  // namespace kiln
