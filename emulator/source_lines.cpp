#include "emulator/source_lines.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace kiln::emulator {
namespace {

std::string spelt(const char* file, int line, int column) {
  if (file == nullptr || line == 0) return {};
  std::string_view name = file;
  while (name.starts_with("./")) name.remove_prefix(2);
  return std::string(name) + ":" + std::to_string(line) + (column > 0 ? ":" + std::to_string(column) : "");
}

// Returns the line in that unit, or nothing. The lines of a unit need not be ordered by address.
std::string line_in(Dwarf_Die* unit, std::uint64_t address) {
  Dwarf_Line* line = dwarf_getsrc_die(unit, address);
  int number = 0;
  int column = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0) return {};
  dwarf_linecol(line, &column);
  return spelt(dwarf_linesrc(line, nullptr, nullptr), number, column);
}

int number_of(Dwarf_Die* entry, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(entry, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0) return 0;
  return static_cast<int>(value);
}

// Returns the line of the call of an inlined function.
std::string line_of_call(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0) return {};
  const auto file = static_cast<std::size_t>(number_of(inlined, DW_AT_call_file));
  if (file >= count) return {};
  return spelt(dwarf_filesrc(files, file, nullptr, nullptr), number_of(inlined, DW_AT_call_line),
               number_of(inlined, DW_AT_call_column));
}

struct Scopes {
  std::unique_ptr<Dwarf_Die, decltype(&std::free)> entries{nullptr, &std::free};
  int count = 0;
};

// Returns the scopes that contain the address, innermost first, including inlined functions.
Scopes scopes_at(Dwarf_Die* unit, std::uint64_t address) {
  Dwarf_Die* lexical = nullptr;
  if (dwarf_getscopes(unit, address, &lexical) <= 0) return {};
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(lexical, &std::free);
  Scopes scopes;
  Dwarf_Die* around = nullptr;
  scopes.count = dwarf_getscopes_die(lexical, &around);
  scopes.entries.reset(around);
  return scopes;
}

// True for a line in the headers of primitives such as a barrier. The report then names the caller.
bool is_of_a_primitive(const std::string& line) { return line.find("device/platform") != std::string::npos; }

}  // namespace

std::string source_line(Bytes code_object, std::uint64_t address) {
  // libelf needs writable bytes.
  std::vector<char> image(code_object.size());
  const auto* bytes = reinterpret_cast<const char*>(code_object.data());
  image.assign(bytes, bytes + code_object.size());
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(image.data(), image.size()), &elf_end);
  if (elf == nullptr) return {};
  const std::unique_ptr<Dwarf, int (*)(Dwarf*)> dwarf(
      dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr), &dwarf_end);
  if (dwarf == nullptr) return {};
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf.get(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    std::string line = line_in(&die, address);
    if (line.empty()) continue;
    const Scopes scopes = scopes_at(&die, address);
    for (int i = 0; i < scopes.count && is_of_a_primitive(line); ++i) {
      Dwarf_Die* const scope = scopes.entries.get() + i;
      if (dwarf_tag(scope) != DW_TAG_inlined_subroutine) continue;
      if (std::string call = line_of_call(&die, scope); !call.empty()) line = std::move(call);
    }
    return line;
  }
  return {};
}

}  // namespace kiln::emulator
