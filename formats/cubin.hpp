// NVIDIA cubins: an ELF file of machine code for one compute capability.
//
//   e_machine       190
//   EI_ABIVERSION   8 and later (CUDA 13; CUDA 12.8 for 10.0 on), else the older layout of e_flags
//   e_flags         ABI 8:  bits 8-15 compute capability;  bit 3 'a'
//                   before: bits 0-7  compute capability;  bit 11 'a'
//   .nv.compat      ABI 8, 9.0 and later: attributes in the form of .nv.info; 0x09 is 1 for 'a'
//   note 2000       of "NVIDIA Corp": the command line, "-arch sm_100f"; the only trace of 'f'
//
//   A kernel is a function symbol whose st_other has bit 4 (entry). For kernel K:
//   .text.K         code; sh_info bits 24-31 repeat the register count
//   .nv.info.K      its attributes
//   .nv.shared.K    static shared memory; from 9.0 on, 1024 bytes reserved by the system come first
//   .nv.constant0.K what the driver passes, then the parameters;  .nv.constant2.K  literals
//   .nv.info        attributes of all kernels, each naming its symbol
//
//   An attribute is {u8 form, u8 attribute, u16 value}; form 4 says that `value` bytes follow.
//     0x05 MAX_THREADS {x, y, z}    0x10 REQNTID {x, y, z}      0x11 FRAME_SIZE {symbol, bytes}
//     0x17 KPARAM_INFO {u32 index, u16 ordinal, u16 offset, u32: bits 8-11 space, bits 18-31 size}
//     0x19 CBANK_PARAM_SIZE (value: bytes of all parameters)    0x2f REGCOUNT {symbol, registers}
//     0x45 KPARAM_INFO_V2 {u32 index, u16 ordinal, u16 offset, u16 size, u16: bits 8-11 space}
//   A parameter whose space is not 0 is a pointer. Compilers for 10.0 and later set the space of
//   pointers; older ones leave it 0.
//
// Byte order: little-endian. NVIDIA publishes no specification beyond the names that cuobjdump and
// nvdisasm print. The fields above were found by compiling kernels with known parameters,
// registers, frames and shared memory, for 7.5 to 12.1. Tests in tests/unit/formats check them. The
// e_flags of both layouts are in LLVM's BinaryFormat/ELF.h.
#pragma once

#include <string_view>
#include <vector>

#include "formats/elf.hpp"
#include "formats/kernel_info.hpp"
#include "formats/target_id.hpp"

namespace kiln {

// Views into the file, which must outlive it.
struct Cubin {
  Elf elf;
  TargetId target;
  int abi_version = 0;
  std::string_view compiler;        // "Cuda compilation tools, release 13.0, V13.0.88", or empty
  std::vector<KernelInfo> kernels;  // sorted by name
};
Result<Cubin> read_cubin(Bytes file);

// Reads only the target, for a loader. Takes microseconds, whatever the file's size.
Result<TargetId> read_cubin_target(Bytes file);

}  // namespace kiln
