// AMD code objects (".hsaco"): an ELF shared object for one processor.
//
//   EI_OSABI        64: AMDGPU_HSA
//   EI_ABIVERSION   code object version: 1 -> V3, 2 -> V4, 3 -> V5, 4 -> V6 (V2 is not read)
//   e_flags         bits 0-7   EF_AMDGPU_MACH, the processor
//     V3            bit 8      xnack on;   bit 9  sramecc on
//     V4 and later  bits 8-9   xnack:   0 unsupported, 1 any, 2 off, 3 on
//                   bits 10-11 sramecc: the same
//     V6            bits 24-31 version of a generic target, from 1
//   note "AMDGPU"   type 32: the metadata, MessagePack: "amdhsa.kernels" is a list of maps with
//                   ".name", ".symbol", ".args", ".vgpr_count", ".group_segment_fixed_size", ...
//   "<name>.kd"     a symbol of 64 bytes: the kernel descriptor, which the hardware reads; its code
//                   starts at the descriptor's own address plus an offset in it
//
// Spec: LLVM, "User Guide for AMDGPU Backend", sections ELF Code Object, Code Object Metadata and
// Kernel Descriptor.
//
// A file is refused if a kernel of the metadata has no descriptor, or a descriptor has no kernel.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/elf.hpp"
#include "formats/kernel_info.hpp"
#include "formats/target_id.hpp"

namespace kiln {

// The 64 bytes that describe a kernel to the hardware.
struct KernelDescriptor {
  std::uint32_t group_segment_size = 0;    // bytes of LDS
  std::uint32_t private_segment_size = 0;  // scratch bytes per lane
  std::uint32_t kernarg_size = 0;          // argument bytes, including hidden arguments
  std::int64_t code_offset = 0;            // from the descriptor's address to the first instruction
  std::uint32_t rsrc1 = 0;                 // COMPUTE_PGM_RSRC1, 2 and 3
  std::uint32_t rsrc2 = 0;
  std::uint32_t rsrc3 = 0;
  std::uint16_t properties = 0;       // which registers are set up before the kernel starts
  std::uint16_t kernarg_preload = 0;  // gfx940: arguments loaded into scalar registers
};

// An argument in the metadata. Includes hidden arguments.
struct HsacoArgument {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::string_view value_kind;     // "by_value", "global_buffer", "hidden_block_count_x", ...
  std::string_view address_space;  // "global", "local"; empty for a value
};

struct HsacoKernel {
  KernelInfo info;
  std::vector<HsacoArgument> arguments;
  std::string_view symbol;  // "affine_f32.kd"
  std::uint64_t descriptor_address = 0;
  KernelDescriptor descriptor;
  std::uint32_t kernarg_alignment = 0;
  std::array<std::uint32_t, 3> required_block{};  // reqd_workgroup_size, or zeros
};

// Holds views into the file, which must outlive it. Segments, symbols and sections are in `elf`.
struct Hsaco {
  Elf elf;
  TargetId target;
  int code_object_version = 0;             // 3 to 6
  int generic_version = 0;                 // version of a generic target; otherwise 0
  std::vector<HsacoKernel> kernels;        // sorted by name
  std::vector<ElfRelocation> relocations;  // against elf.dynamic_symbols
};
Result<Hsaco> read_hsaco(Bytes file);

}  // namespace kiln
