// The target that the header of a vendor's ELF file names in its flags. The tables of bits are in
// hsaco.hpp and cubin.hpp.
#pragma once

#include "formats/elf.hpp"
#include "formats/target_id.hpp"

namespace kiln {

// Of an AMD code object, with the features that it asks for.
Result<TargetId> amd_target(const ElfHeader& header);

// Of a cubin. The flags do not tell every 'a' and no 'f', which read_cubin() finds elsewhere in the
// file: "sm_90" may turn out to be "sm_90a".
Result<TargetId> nvidia_target(const ElfHeader& header);

}  // namespace kiln
