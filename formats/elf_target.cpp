#include "formats/elf_target.hpp"

#include <array>
#include <string>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln {

Result<TargetId> amd_target(const ElfHeader& header) {
  constexpr int kVersion3 = 1;  // EI_ABIVERSION of code object V3
  const std::uint32_t flags = header.flags;
  const Processor* processor = find_processor(flags & 0xff);
  if (processor == nullptr) {
    return malformed("unknown AMD processor " + hex(flags & 0xff) + " in the file's flags " +
                     hex(flags));
  }
  TargetId target;
  target.kind = TargetKind::kAmd;
  target.processor = std::string(processor->name);
  if (header.abi_version == kVersion3) {
    const auto state = [&](std::uint32_t bit) {
      return (flags & bit) != 0 ? Feature::kOn : Feature::kOff;
    };
    if (processor->has_xnack) target.xnack = state(0x100);
    if (processor->has_sramecc) target.sramecc = state(0x200);
  } else {
    constexpr std::array kStates = {Feature::kAny, Feature::kAny, Feature::kOff, Feature::kOn};
    if (processor->has_xnack) target.xnack = kStates[(flags >> 8) & 3];
    if (processor->has_sramecc) target.sramecc = kStates[(flags >> 10) & 3];
  }
  return target;
}

Result<TargetId> nvidia_target(const ElfHeader& header) {
  constexpr int kNewAbi = 8;
  const std::uint32_t flags = header.flags;
  const bool is_new = header.abi_version >= kNewAbi;
  std::string name = "sm_" + std::to_string(is_new ? (flags >> 8) & 0xff : flags & 0xff);
  if ((flags & (is_new ? 0x8U : 0x800U)) != 0) name += 'a';
  auto target = parse_target_id(name);
  if (!target) {
    return malformed("unknown compute capability in the cubin's flags " + hex(flags) +
                     " (ABI version " + std::to_string(header.abi_version) + "): " + quote(name));
  }
  return target;
}

}  // namespace kiln
