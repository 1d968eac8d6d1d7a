// Reads the target from the header flags of a vendor's ELF file. hsaco.hpp and cubin.hpp document
// the bits.
#pragma once

#include "formats/elf.hpp"
#include "formats/target_id.hpp"

namespace kiln {

// Returns the target of an AMD code object, with the features that it requires.
Result<TargetId> amd_target(const ElfHeader& header);

// Returns the target of a cubin. The flags do not tell every 'a' and no 'f', so "sm_90" may really
// be "sm_90a"; read_cubin_target() finds the suffix elsewhere in the file.
Result<TargetId> nvidia_target(const ElfHeader& header);

}  // namespace kiln
