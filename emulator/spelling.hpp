// The names of instructions. AMD renames instructions from generation to generation; kiln maps the
// names of all generations to those of gfx11, without the suffix of the encoding.
#pragma once

#include <string>
#include <string_view>

namespace kiln::emulator {

// "v_add_u32_e32" -> "v_add_nc_u32", "global_load_dwordx2" -> "global_load_b64",
// "ds_read2st64_b32" -> "ds_load_2addr_stride64_b32", "v_dual_mov_b32" -> "v_mov_b32".
std::string canonical_name(std::string_view mnemonic);

// True if the suffix of the mnemonic names the SDWA encoding.
bool is_sdwa(std::string_view mnemonic);

}  // namespace kiln::emulator
