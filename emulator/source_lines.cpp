#include "emulator/source_lines.hpp"

#include <elfutils/libdw.h>

#include <memory>
#include <string_view>
#include <vector>

namespace kiln::emulator {
namespace {

// The line in that unit, or empty. The lines of a unit need not be in order of address.
std::string line_in(Dwarf_Die* unit, std::uint64_t address) {
  Dwarf_Line* line = dwarf_getsrc_die(unit, address);
  if (line == nullptr) return {};
  const char* file = dwarf_linesrc(line, nullptr, nullptr);
  int number = 0;
  int column = 0;
  if (file == nullptr || dwarf_lineno(line, &number) != 0 || number == 0) return {};
  dwarf_linecol(line, &column);
  std::string_view name = file;
  while (name.starts_with("./")) name.remove_prefix(2);
  return std::string(name) + ":" + std::to_string(number) +
         (column > 0 ? ":" + std::to_string(column) : "");
}

}  // namespace

std::string source_line(Bytes code_object, std::uint64_t address) {
  // libelf wants bytes that it may change.
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
    if (std::string line = line_in(&die, address); !line.empty()) return line;
  }
  return {};
}

}  // namespace kiln::emulator
