#include "formats/hsaco.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/elf_target.hpp"
#include "formats/msgpack.hpp"

namespace kiln {
namespace {

constexpr std::uint8_t kOsAbiAmdHsa = 64;
constexpr std::uint32_t kMetadataNote = 32;
constexpr std::string_view kDescriptorSuffix = ".kd";
constexpr std::size_t kDescriptorSize = 64;

Result<int> read_version(const ElfHeader& header) {
  if (header.machine != kElfMachineAmdGpu) {
    return malformed("not an AMD code object: the ELF file is for machine " +
                     std::to_string(header.machine) + ", expected " +
                     std::to_string(kElfMachineAmdGpu));
  }
  if (header.os_abi != kOsAbiAmdHsa) {
    return malformed("not a compute code object: its OS ABI is " + std::to_string(header.os_abi) +
                     ", expected " + std::to_string(kOsAbiAmdHsa) + " (AMDGPU_HSA)");
  }
  if (header.abi_version < 1 || header.abi_version > 4) {
    return malformed("unsupported code object: ABI version " + std::to_string(header.abi_version) +
                     ", expected 1 to 4 (code object v3 to v6)");
  }
  return header.abi_version + 2;
}

Error bad_metadata(std::string_view kernel, const std::string& what) {
  return malformed("damaged code object: metadata of kernel " + quote(kernel) + ": " + what);
}

// Finds the requested fields of a map in one pass. Of equal keys, the first counts.
template <std::size_t kCount>
class Fields {
 public:
  Fields(const MsgpackValue& value, const std::array<std::string_view, kCount>& keys)
      : keys_(keys) {
    const MsgpackMap* map = value.map();
    if (map == nullptr) return;
    const MsgpackArray& values = map->keys_and_values;
    for (auto at = values.begin(); at != values.end(); ++at) {
      const std::optional<std::string_view> key = (*at).text();
      ++at;
      const std::size_t i = key ? position(*key) : kCount;
      if (i != kCount && !found_[i]) found_[i] = *at;
    }
  }

  // `key` must be one of the requested keys.
  const std::optional<MsgpackValue>& find(std::string_view key) const {
    return found_[position(key)];
  }

 private:
  std::size_t position(std::string_view key) const {
    return static_cast<std::size_t>(std::ranges::find(keys_, key) - keys_.begin());
  }

  const std::array<std::string_view, kCount>& keys_;
  std::array<std::optional<MsgpackValue>, kCount> found_;
};

// Returns the number with this key, if the metadata has it.
template <std::size_t kCount>
Result<std::optional<std::uint32_t>> number(const Fields<kCount>& map, std::string_view key,
                                            std::string_view kernel) {
  const std::optional<MsgpackValue>& value = map.find(key);
  if (!value) return std::optional<std::uint32_t>();
  const std::optional<std::uint64_t> n = value->number();
  if (!n || *n > std::numeric_limits<std::uint32_t>::max()) {
    return bad_metadata(kernel, quote(key) + " is no number of 32 bits");
  }
  return std::optional(static_cast<std::uint32_t>(*n));
}

template <std::size_t kCount>
Result<std::uint32_t> required_number(const Fields<kCount>& map, std::string_view key,
                                      std::string_view kernel) {
  KILN_TRY_ASSIGN(const std::optional<std::uint32_t> n, number(map, key, kernel));
  if (!n) return bad_metadata(kernel, quote(key) + " is missing");
  return *n;
}

ParameterKind parameter_kind(std::string_view value_kind) {
  const bool is_pointer = value_kind == "global_buffer" || value_kind == "dynamic_shared_pointer";
  return is_pointer ? ParameterKind::kPointer : ParameterKind::kValue;
}

constexpr std::array<std::string_view, 4> kArgumentKeys = {".address_space", ".offset", ".size",
                                                           ".value_kind"};

Result<void> read_arguments(const std::optional<MsgpackValue>& arguments, HsacoKernel& kernel) {
  const std::string_view name = kernel.info.name;
  if (!arguments) return {};
  if (arguments->array() == nullptr) return bad_metadata(name, "'.args' is no list");
  for (const MsgpackValue value : *arguments->array()) {
    const Fields entry(value, kArgumentKeys);
    HsacoArgument& argument = kernel.arguments.emplace_back();
    KILN_TRY_ASSIGN(argument.offset, required_number(entry, ".offset", name));
    KILN_TRY_ASSIGN(argument.size, required_number(entry, ".size", name));
    const std::optional<MsgpackValue>& kind = entry.find(".value_kind");
    if (!kind || !kind->text()) {
      return bad_metadata(name, "an argument has no '.value_kind'");
    }
    argument.value_kind = *kind->text();
    if (const std::optional<MsgpackValue>& space = entry.find(".address_space")) {
      argument.address_space = space->text().value_or("");
    }
    if (argument.value_kind.starts_with("hidden_")) continue;
    constexpr std::uint32_t kLimit = std::numeric_limits<std::uint16_t>::max();
    if (argument.offset > kLimit || argument.size > kLimit) {
      return bad_metadata(name, "an argument of " + std::to_string(argument.size) +
                                    " bytes at offset " + std::to_string(argument.offset));
    }
    kernel.info.parameters.push_back({.offset = static_cast<std::uint16_t>(argument.offset),
                                      .size = static_cast<std::uint16_t>(argument.size),
                                      .kind = parameter_kind(argument.value_kind)});
  }
  std::ranges::stable_sort(kernel.info.parameters, {}, &Parameter::offset);
  return {};
}

constexpr std::array<std::string_view, 14> kKernelKeys = {".agpr_count",
                                                          ".args",
                                                          ".group_segment_fixed_size",
                                                          ".kernarg_segment_align",
                                                          ".max_flat_workgroup_size",
                                                          ".name",
                                                          ".private_segment_fixed_size",
                                                          ".reqd_workgroup_size",
                                                          ".sgpr_count",
                                                          ".sgpr_spill_count",
                                                          ".symbol",
                                                          ".vgpr_count",
                                                          ".vgpr_spill_count",
                                                          ".wavefront_size"};

Result<HsacoKernel> read_kernel(const MsgpackValue& value) {
  const Fields map(value, kKernelKeys);
  HsacoKernel kernel;
  const std::optional<MsgpackValue>& name = map.find(".name");
  if (!name || !name->text()) {
    return malformed("damaged code object: metadata of a kernel without a '.name'");
  }
  kernel.info.name = std::string(*name->text());
  const std::optional<MsgpackValue>& symbol = map.find(".symbol");
  if (!symbol || !symbol->text() || !symbol->text()->ends_with(kDescriptorSuffix)) {
    return bad_metadata(kernel.info.name, "'.symbol' does not end in '.kd'");
  }
  kernel.symbol = *symbol->text();

  const std::pair<std::string_view, std::optional<std::uint32_t> KernelInfo::*> kFields[] = {
      {".vgpr_count", &KernelInfo::registers},
      {".sgpr_count", &KernelInfo::scalar_registers},
      {".agpr_count", &KernelInfo::accumulation_registers},
      {".private_segment_fixed_size", &KernelInfo::stack_bytes},
      {".group_segment_fixed_size", &KernelInfo::shared_bytes},
      {".wavefront_size", &KernelInfo::wave_width},
      {".max_flat_workgroup_size", &KernelInfo::max_threads},
      {".vgpr_spill_count", &KernelInfo::spill_stores},
      {".sgpr_spill_count", &KernelInfo::scalar_spills},
  };
  for (const auto& [key, field] : kFields) {
    KILN_TRY_ASSIGN(kernel.info.*field, number(map, key, kernel.info.name));
  }
  KILN_TRY_ASSIGN(const auto alignment, number(map, ".kernarg_segment_align", kernel.info.name));
  kernel.kernarg_alignment = alignment.value_or(0);
  if (const std::optional<MsgpackValue>& block = map.find(".reqd_workgroup_size")) {
    if (block->array() == nullptr || block->array()->size() != 3) {
      return bad_metadata(kernel.info.name, "'.reqd_workgroup_size' is no list of three numbers");
    }
    std::size_t i = 0;
    for (const MsgpackValue extent : *block->array()) {
      const auto size = extent.number();
      if (!size || *size > std::numeric_limits<std::uint32_t>::max()) {
        return bad_metadata(kernel.info.name, "'.reqd_workgroup_size' is no list of three numbers");
      }
      kernel.required_block[i++] = static_cast<std::uint32_t>(*size);
    }
  }
  KILN_TRY(read_arguments(map.find(".args"), kernel));
  return kernel;
}

Result<std::vector<HsacoKernel>> read_metadata(const Elf& elf) {
  const auto note = std::ranges::find_if(elf.notes, [](const ElfNote& candidate) {
    return candidate.name == "AMDGPU" && candidate.type == kMetadataNote;
  });
  if (note == elf.notes.end()) return malformed("damaged code object: it has no metadata note");
  KILN_TRY_ASSIGN(const MsgpackValue metadata, read_msgpack(note->descriptor));
  if (metadata.map() == nullptr) return malformed("damaged code object: its metadata is no map");
  std::vector<HsacoKernel> kernels;
  const std::optional<MsgpackValue> list = metadata.find("amdhsa.kernels");
  if (!list) return kernels;  // only device functions or data
  if (list->array() == nullptr) {
    return malformed("damaged code object: 'amdhsa.kernels' of its metadata is no list");
  }
  // Each kernel has a symbol of its own.
  if (list->array()->size() > elf.dynamic_symbols.size()) {
    return malformed("damaged code object: " + std::to_string(list->array()->size()) +
                     " kernels in its metadata, with " +
                     std::to_string(elf.dynamic_symbols.size()) + " symbols");
  }
  kernels.reserve(static_cast<std::size_t>(list->array()->size()));
  for (const MsgpackValue entry : *list->array()) {
    KILN_TRY_ASSIGN(HsacoKernel kernel, read_kernel(entry));
    kernels.push_back(std::move(kernel));
  }
  std::ranges::sort(kernels, {},
                    [](const HsacoKernel& kernel) { return std::string_view(kernel.info.name); });
  return kernels;
}

KernelDescriptor read_descriptor(Bytes bytes) {
  ByteReader reader(bytes);
  KernelDescriptor descriptor;
  descriptor.group_segment_size = reader.little<std::uint32_t>();
  descriptor.private_segment_size = reader.little<std::uint32_t>();
  descriptor.kernarg_size = reader.little<std::uint32_t>();
  reader.skip(4);
  descriptor.code_offset = reader.little<std::int64_t>();
  reader.skip(20);
  descriptor.rsrc3 = reader.little<std::uint32_t>();
  descriptor.rsrc1 = reader.little<std::uint32_t>();
  descriptor.rsrc2 = reader.little<std::uint32_t>();
  descriptor.properties = reader.little<std::uint16_t>();
  descriptor.kernarg_preload = reader.little<std::uint16_t>();
  return descriptor;
}

// Finds the descriptor of each kernel. A descriptor without a kernel is an error.
Result<void> attach_descriptors(const Elf& elf, std::vector<HsacoKernel>& kernels) {
  std::vector<std::pair<std::string_view, const ElfSymbol*>> descriptors;
  for (const ElfSymbol& symbol : elf.dynamic_symbols) {
    if (symbol.section != 0 && symbol.name.ends_with(kDescriptorSuffix)) {
      descriptors.emplace_back(symbol.name, &symbol);
    }
  }
  std::ranges::sort(descriptors);
  std::vector<std::string_view> used;
  for (HsacoKernel& kernel : kernels) {
    const auto found = std::ranges::lower_bound(
        descriptors, kernel.symbol, {}, &std::pair<std::string_view, const ElfSymbol*>::first);
    if (found == descriptors.end() || found->first != kernel.symbol) {
      return malformed("damaged code object: kernel " + quote(kernel.info.name) +
                       " has no symbol " + quote(kernel.symbol));
    }
    used.push_back(kernel.symbol);
    kernel.descriptor_address = found->second->value;
    auto bytes = elf.at_address(kernel.descriptor_address, kDescriptorSize);
    if (!bytes) {
      return std::move(bytes).error().note("while reading the descriptor " + quote(kernel.symbol));
    }
    kernel.descriptor = read_descriptor(*bytes);
  }
  std::ranges::sort(used);
  if (const auto twice = std::ranges::adjacent_find(used); twice != used.end()) {
    return malformed("damaged code object: its metadata lists " + quote(*twice) + " twice");
  }
  for (const auto& [name, symbol] : descriptors) {
    if (!std::ranges::binary_search(used, name)) {
      return malformed("damaged code object: symbol " + quote(name) +
                       " has no kernel in the metadata");
    }
  }
  return {};
}

}  // namespace

Result<Hsaco> read_hsaco(Bytes file) {
  Hsaco hsaco;
  KILN_TRY_ASSIGN(hsaco.elf, read_elf(file));
  KILN_TRY_ASSIGN(hsaco.code_object_version, read_version(hsaco.elf.header));
  KILN_TRY_ASSIGN(hsaco.target, amd_target(hsaco.elf.header));
  if (hsaco.target.is_generic()) {
    hsaco.generic_version = static_cast<int>(hsaco.elf.header.flags >> 24);
  }
  KILN_TRY_ASSIGN(hsaco.kernels, read_metadata(hsaco.elf));
  KILN_TRY(attach_descriptors(hsaco.elf, hsaco.kernels));
  for (const ElfSection& section : hsaco.elf.sections) {
    if (section.type != kElfSectionRela && section.type != kElfSectionRel) continue;
    KILN_TRY_ASSIGN(const auto relocations, read_relocations(section));
    hsaco.relocations.insert(hsaco.relocations.end(), relocations.begin(), relocations.end());
  }
  return hsaco;
}

}  // namespace kiln
