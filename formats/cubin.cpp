#include "formats/cubin.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/elf_target.hpp"

namespace kiln {
namespace {

constexpr std::uint8_t kEntryFlag = 0x10;    // in st_other
constexpr std::uint8_t kFunctionSymbol = 2;  // STT_FUNC
constexpr std::uint32_t kToolNote = 2000;
constexpr std::uint32_t kReservedShared = 1024;  // bytes that the system keeps, from 9.0 on

// Attributes of .nv.info and .nv.compat.
constexpr std::uint8_t kMaxThreads = 0x05;
constexpr std::uint8_t kRequiredThreads = 0x10;
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kParameter = 0x17;
constexpr std::uint8_t kParameterBytes = 0x19;
constexpr std::uint8_t kRegisterCount = 0x2f;
constexpr std::uint8_t kParameterV2 = 0x45;
constexpr std::uint8_t kCompatArchSpecific = 0x09;

struct Attribute {
  std::uint8_t id = 0;
  std::uint16_t value = 0;  // for forms without a payload
  Bytes payload;
};

// Calls `use` with each attribute of the section; it returns a Result<void>.
template <typename Use>
Result<void> read_attributes(const ElfSection& section, Use&& use) {
  constexpr std::uint8_t kSized = 4;
  ByteReader reader(section.bytes);
  while (!reader.at_end()) {
    const auto form = reader.little<std::uint8_t>();
    Attribute attribute;
    attribute.id = reader.little<std::uint8_t>();
    attribute.value = reader.little<std::uint16_t>();
    if (form == kSized) attribute.payload = reader.take(attribute.value);
    if (reader.failed() || form == 0 || form > kSized) {
      return malformed("damaged cubin: attribute " + hex(attribute.id) + " of form " +
                       std::to_string(form) + " in section " + quote(section.name) + " at byte " +
                       std::to_string(reader.position()) + " of " +
                       std::to_string(section.bytes.size()));
    }
    KILN_TRY(use(attribute));
  }
  return {};
}

Error bad_attribute(const ElfSection& section, const Attribute& attribute) {
  return malformed("damaged cubin: attribute " + hex(attribute.id) + " in section " +
                   quote(section.name) + " has " + std::to_string(attribute.payload.size()) +
                   " bytes");
}

// The compiler and the target that the command line in the tool note names.
struct ToolNote {
  std::string_view compiler;
  std::string_view architecture;  // "sm_100f"
};

ToolNote read_tool_note(const Elf& elf) {
  ToolNote found;
  for (const ElfNote& note : elf.notes) {
    if (note.name != "NVIDIA Corp" || note.type != kToolNote) continue;
    // {version 2, then the offsets of five strings: object, tool, release, build, command line}
    constexpr std::size_t kStrings = 24;
    ByteReader reader(note.descriptor);
    const auto version = reader.little<std::uint32_t>();
    reader.skip(8);
    const auto release = reader.little<std::uint32_t>();
    reader.skip(4);
    const auto command = reader.little<std::uint32_t>();
    if (reader.failed() || version != 2) continue;
    const Bytes strings = note.descriptor.subspan(kStrings);
    found.compiler = c_string(strings, release).value_or("");
    const std::vector<std::string_view> words = split(c_string(strings, command).value_or(""), ' ');
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "-arch" && i + 1 < words.size()) found.architecture = words[i + 1];
      if (words[i].starts_with("-arch=")) found.architecture = words[i].substr(6);
    }
  }
  return found;
}

Result<bool> is_arch_specific(const Elf& elf) {
  const ElfSection* section = elf.find_section(".nv.compat");
  if (section == nullptr) return false;
  bool is_specific = false;
  KILN_TRY(read_attributes(*section, [&](const Attribute& attribute) -> Result<void> {
    is_specific = is_specific || (attribute.id == kCompatArchSpecific && attribute.value == 1);
    return {};
  }));
  return is_specific;
}

Result<TargetId> read_target(const Elf& elf, const ToolNote& tool) {
  KILN_TRY_ASSIGN(TargetId target, nvidia_target(elf.header));
  KILN_TRY_ASSIGN(const bool arch_specific, is_arch_specific(elf));
  if (target.nvidia_suffix() != 0) return target;
  if (arch_specific) return parse_target_id(target.processor + 'a');
  if (tool.architecture == target.processor + 'f') return parse_target_id(tool.architecture);
  return target;
}

// The entries of .nv.info for a symbol.
struct SymbolFacts {
  std::optional<std::uint32_t> registers;
  std::optional<std::uint32_t> frame;
};

// Returns one entry per symbol.
Result<std::vector<SymbolFacts>> read_symbol_facts(const Elf& elf) {
  std::vector<SymbolFacts> facts(elf.symbols.size());
  const ElfSection* section = elf.find_section(".nv.info");
  if (section == nullptr) return facts;
  KILN_TRY(read_attributes(*section, [&](const Attribute& attribute) -> Result<void> {
    if (attribute.id != kRegisterCount && attribute.id != kFrameSize) return {};
    ByteReader reader(attribute.payload);
    const auto symbol = reader.little<std::uint32_t>();
    const auto value = reader.little<std::uint32_t>();
    if (reader.failed()) return bad_attribute(*section, attribute);
    if (symbol >= facts.size()) return {};
    (attribute.id == kRegisterCount ? facts[symbol].registers : facts[symbol].frame) = value;
    return {};
  }));
  return facts;
}

struct OrdinalParameter {
  std::uint16_t ordinal = 0;
  Parameter parameter;
};

Result<OrdinalParameter> read_parameter(const ElfSection& section, const Attribute& attribute) {
  OrdinalParameter result;
  ByteReader reader(attribute.payload);
  reader.skip(4);  // index, always 0
  result.ordinal = reader.little<std::uint16_t>();
  result.parameter.offset = reader.little<std::uint16_t>();
  const auto packed = reader.little<std::uint32_t>();
  if (reader.failed()) return bad_attribute(section, attribute);
  const bool is_v2 = attribute.id == kParameterV2;
  const std::uint32_t space = (is_v2 ? packed >> 24 : packed >> 8) & 15;
  result.parameter.size = static_cast<std::uint16_t>(is_v2 ? packed & 0xffff : packed >> 18);
  if (space != 0) {
    result.parameter.kind = ParameterKind::kPointer;
  } else if (result.parameter.size != 8) {
    result.parameter.kind = ParameterKind::kValue;
  }
  return result;
}

Result<void> read_kernel_attributes(const ElfSection& section, KernelInfo& kernel) {
  std::vector<OrdinalParameter> parameters;
  std::optional<std::uint16_t> parameter_bytes;
  KILN_TRY(read_attributes(section, [&](const Attribute& attribute) -> Result<void> {
    switch (attribute.id) {
      case kParameter:
      case kParameterV2: {
        KILN_TRY_ASSIGN(const OrdinalParameter parameter, read_parameter(section, attribute));
        parameters.push_back(parameter);
        break;
      }
      case kParameterBytes: parameter_bytes = attribute.value; break;
      case kMaxThreads:
      case kRequiredThreads: {
        ByteReader reader(attribute.payload);
        std::uint64_t threads = 1;
        for (int i = 0; i < 3; ++i) {
          const auto extent = reader.little<std::uint32_t>();
          if (extent == 0 || extent > 1024) return bad_attribute(section, attribute);
          threads *= extent;
        }
        kernel.max_threads = static_cast<std::uint32_t>(threads);
        break;
      }
      default: break;
    }
    return {};
  }));
  std::ranges::sort(parameters, {}, &OrdinalParameter::ordinal);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i].parameter;
    const bool in_order = parameters[i].ordinal == i;
    const bool inside = !parameter_bytes || parameter.offset + parameter.size <= *parameter_bytes;
    if (!in_order || !inside) {
      return malformed("damaged cubin: parameter " + std::to_string(parameters[i].ordinal) +
                       " of kernel " + quote(kernel.name) + ", " + std::to_string(parameter.size) +
                       " bytes at offset " + std::to_string(parameter.offset) +
                       (in_order ? ", is outside of its " + std::to_string(*parameter_bytes) +
                                       " bytes of parameters"
                                 : ", is given twice, or the one before it is missing"));
    }
    kernel.parameters.push_back(parameter);
  }
  return {};
}

Result<std::uint32_t> section_size(const ElfSection* section) {
  if (section == nullptr) return std::uint32_t{0};
  if (section->size > std::numeric_limits<std::uint32_t>::max()) {
    return malformed("damaged cubin: section " + quote(section->name) + " of " +
                     std::to_string(section->size) + " bytes");
  }
  return static_cast<std::uint32_t>(section->size);
}

class SectionsByName {
 public:
  explicit SectionsByName(const std::vector<ElfSection>& sections) {
    sorted_.reserve(sections.size());
    for (const ElfSection& section : sections) sorted_.push_back(&section);
    std::ranges::sort(sorted_, [](const ElfSection* a, const ElfSection* b) {
      return std::tie(a->name, a) < std::tie(b->name, b);
    });
  }
  // Returns the first section with this name, or null.
  const ElfSection* find(std::string_view name) const {
    const auto found = std::ranges::lower_bound(sorted_, name, {}, &ElfSection::name);
    return found != sorted_.end() && (*found)->name == name ? *found : nullptr;
  }

 private:
  std::vector<const ElfSection*> sorted_;
};

// Reads the sections of the kernel that `symbol` names.
Result<KernelInfo> read_kernel(const ElfSymbol& symbol, const SymbolFacts& facts,
                               const SectionsByName& sections, const TargetId& target) {
  const auto find = [&](std::string_view prefix) {
    return sections.find(std::string(prefix) + std::string(symbol.name));
  };
  KernelInfo kernel;
  kernel.name = std::string(symbol.name);
  kernel.wave_width = 32;
  const ElfSection* info = find(".nv.info.");
  const ElfSection* text = find(".text.");
  if (info == nullptr || text == nullptr) {
    return malformed("damaged cubin: kernel " + quote(symbol.name) + " has no section '" +
                     (info == nullptr ? ".nv.info." : ".text.") + kernel.name + "'");
  }
  KILN_TRY(read_kernel_attributes(*info, kernel));
  kernel.registers = text->info >> 24;
  if (facts.registers) kernel.registers = facts.registers;
  kernel.stack_bytes = facts.frame;
  KILN_TRY_ASSIGN(std::uint32_t shared, section_size(find(".nv.shared.")));
  const bool has_reserved = target.compute_capability() >= 90 && shared >= kReservedShared;
  if (has_reserved) shared -= kReservedShared;
  kernel.shared_bytes = shared;
  KILN_TRY_ASSIGN(const std::uint32_t bank0, section_size(find(".nv.constant0.")));
  KILN_TRY_ASSIGN(const std::uint32_t bank2, section_size(find(".nv.constant2.")));
  if (bank2 > std::numeric_limits<std::uint32_t>::max() - bank0) {
    return malformed("damaged cubin: the constants of kernel " + quote(symbol.name) + " are " +
                     std::to_string(bank0) + " and " + std::to_string(bank2) + " bytes");
  }
  kernel.constant_bytes = bank0 + bank2;
  return kernel;
}

}  // namespace

Result<TargetId> read_cubin_target(Bytes file) {
  KILN_TRY_ASSIGN(const Elf elf, read_elf_without_symbols(file));
  return read_target(elf, read_tool_note(elf));
}

Result<Cubin> read_cubin(Bytes file) {
  Cubin cubin;
  KILN_TRY_ASSIGN(cubin.elf, read_elf(file));
  const Elf& elf = cubin.elf;
  if (elf.header.machine != kElfMachineCuda) {
    return malformed("not a cubin: the ELF file is for machine " +
                     std::to_string(elf.header.machine) + ", expected " +
                     std::to_string(kElfMachineCuda));
  }
  cubin.abi_version = elf.header.abi_version;
  const ToolNote tool = read_tool_note(elf);
  cubin.compiler = tool.compiler;
  KILN_TRY_ASSIGN(cubin.target, read_target(elf, tool));
  KILN_TRY_ASSIGN(const auto facts, read_symbol_facts(elf));

  const SectionsByName sections(elf.sections);
  for (std::uint32_t i = 0; i < elf.symbols.size(); ++i) {
    const ElfSymbol& symbol = elf.symbols[i];
    if (symbol.type != kFunctionSymbol || (symbol.other & kEntryFlag) == 0 || symbol.section == 0) {
      continue;
    }
    KILN_TRY_ASSIGN(KernelInfo kernel, read_kernel(symbol, facts[i], sections, cubin.target));
    cubin.kernels.push_back(std::move(kernel));
  }
  std::ranges::sort(cubin.kernels, {}, &KernelInfo::name);
  const auto twice = std::ranges::adjacent_find(cubin.kernels, {}, &KernelInfo::name);
  if (twice != cubin.kernels.end()) {
    return malformed("damaged cubin: two kernels are named " + quote(twice->name));
  }
  return cubin;
}

}  // namespace kiln
