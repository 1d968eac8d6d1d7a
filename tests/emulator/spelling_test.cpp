// The instruction names of gfx9, gfx10 and gfx12 in their documents, and the names of gfx11, which
// the emulator uses.
#include "emulator/spelling.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/emulator/bench.hpp"

using kiln::emulator::Bench;
using kiln::emulator::canonical_name;

namespace {

struct Spelling {
  std::string other;
  std::string here;
};

const Spelling kSpellings[] = {
    // scalars
    {"s_andn2_b32", "s_and_not1_b32"},
    {"s_andn2_b64", "s_and_not1_b64"},
    {"s_orn2_b64", "s_or_not1_b64"},
    {"s_andn2_saveexec_b64", "s_and_not1_saveexec_b64"},
    {"s_orn2_saveexec_b32", "s_or_not1_saveexec_b32"},
    {"s_andn1_saveexec_b64", "s_and_not0_saveexec_b64"},
    {"s_orn1_saveexec_b32", "s_or_not0_saveexec_b32"},
    {"s_andn1_wrexec_b32", "s_and_not0_wrexec_b32"},
    {"s_andn2_wrexec_b64", "s_and_not1_wrexec_b64"},
    {"s_ff1_i32_b32", "s_ctz_i32_b32"},
    {"s_ff1_i32_b64", "s_ctz_i32_b64"},
    {"s_flbit_i32_b32", "s_clz_i32_u32"},
    {"s_flbit_i32_b64", "s_clz_i32_u64"},
    {"s_flbit_i32", "s_cls_i32"},
    {"s_flbit_i32_i64", "s_cls_i32_i64"},
    {"s_inst_prefetch", "s_set_inst_prefetch_distance"},
    {"s_load_dword", "s_load_b32"},
    {"s_load_dwordx2", "s_load_b64"},
    {"s_load_dwordx4", "s_load_b128"},
    {"s_load_dwordx8", "s_load_b256"},
    {"s_load_dwordx16", "s_load_b512"},
    // vectors: sums without carry have no "nc" on gfx9, and carries another name
    {"v_add_u32_e32", "v_add_nc_u32"},
    {"v_sub_u32_e64", "v_sub_nc_u32"},
    {"v_subrev_u32_sdwa", "v_subrev_nc_u32"},
    {"v_add_i32", "v_add_nc_i32"},
    {"v_sub_i32", "v_sub_nc_i32"},
    {"v_add_u16_e32", "v_add_nc_u16"},
    {"v_sub_u16_dpp", "v_sub_nc_u16"},
    {"v_subrev_u16_e32", "v_subrev_nc_u16"},
    {"v_add_i16", "v_add_nc_i16"},
    {"v_sub_i16", "v_sub_nc_i16"},
    {"v_addc_co_u32_e32", "v_add_co_ci_u32"},
    {"v_subb_co_u32_e64", "v_sub_co_ci_u32"},
    {"v_subbrev_co_u32_e32", "v_subrev_co_ci_u32"},
    {"v_ffbh_u32_e32", "v_clz_i32_u32"},
    {"v_ffbh_i32_e32", "v_cls_i32"},
    {"v_ffbl_b32_e64", "v_ctz_i32_b32"},
    {"v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"},
    {"v_cvt_pknorm_i16_f32", "v_cvt_pk_norm_i16_f32"},
    {"v_cvt_pknorm_u16_f32", "v_cvt_pk_norm_u16_f32"},
    {"v_fma_dx9_zero_f32", "v_fma_legacy_f32"},
    {"v_mul_dx9_zero_f32_e32", "v_mul_legacy_f32"},
    {"v_max_num_f32_e32", "v_max_f32"},
    {"v_min_num_f64", "v_min_f64"},
    {"v_pk_max_num_f16", "v_pk_max_f16"},
    {"v_dual_fmac_f32", "v_fmac_f32"},
    {"v_dual_lshlrev_b32", "v_lshlrev_b32"},
    {"v_cmp_lt_f32_e64_dpp", "v_cmp_lt_f32"},
    {"v_mov_b32_dpp8", "v_mov_b32"},
    // memory: names of sizes instead of bits
    {"global_load_dword", "global_load_b32"},
    {"flat_load_dwordx2", "flat_load_b64"},
    {"buffer_load_dwordx3", "buffer_load_b96"},
    {"scratch_load_dwordx4", "scratch_load_b128"},
    {"global_load_ubyte", "global_load_u8"},
    {"global_load_sbyte", "global_load_i8"},
    {"global_load_ushort", "global_load_u16"},
    {"global_load_sshort", "global_load_i16"},
    {"flat_load_ubyte_d16", "flat_load_d16_u8"},
    {"flat_load_ubyte_d16_hi", "flat_load_d16_hi_u8"},
    {"flat_load_sbyte_d16", "flat_load_d16_i8"},
    {"flat_load_sbyte_d16_hi", "flat_load_d16_hi_i8"},
    {"buffer_load_short_d16", "buffer_load_d16_b16"},
    {"buffer_load_short_d16_hi", "buffer_load_d16_hi_b16"},
    {"global_store_byte", "global_store_b8"},
    {"global_store_short", "global_store_b16"},
    {"global_store_dword", "global_store_b32"},
    {"global_store_dwordx2", "global_store_b64"},
    {"global_store_dwordx3", "global_store_b96"},
    {"global_store_dwordx4", "global_store_b128"},
    {"global_store_byte_d16_hi", "global_store_d16_hi_b8"},
    {"global_store_short_d16_hi", "global_store_d16_hi_b16"},
    // LDS
    {"ds_read_u8", "ds_load_u8"},
    {"ds_read_i8_d16_hi", "ds_load_i8_d16_hi"},
    {"ds_read_b96", "ds_load_b96"},
    {"ds_write_b16_d16_hi", "ds_store_b16_d16_hi"},
    {"ds_write_b128", "ds_store_b128"},
    {"ds_read2_b32", "ds_load_2addr_b32"},
    {"ds_read2st64_b64", "ds_load_2addr_stride64_b64"},
    {"ds_write2_b64", "ds_store_2addr_b64"},
    {"ds_write2st64_b32", "ds_store_2addr_stride64_b32"},
    {"ds_bpermute_b32", "ds_bpermute_b32"},
    {"ds_add_rtn_u32", "ds_add_rtn_u32"},
};

// Atomics of gfx9 and gfx10 have no type in their names; "_x2" marks those of 64 bits.
struct AtomicSpelling {
  std::string other;
  std::string narrow;
  std::string wide;
};
const AtomicSpelling kAtomics[] = {
    {"swap", "swap_b32", "swap_b64"}, {"cmpswap", "cmpswap_b32", "cmpswap_b64"},
    {"add", "add_u32", "add_u64"},    {"sub", "sub_u32", "sub_u64"},
    {"smin", "min_i32", "min_i64"},   {"umin", "min_u32", "min_u64"},
    {"smax", "max_i32", "max_i64"},   {"umax", "max_u32", "max_u64"},
    {"and", "and_b32", "and_b64"},    {"or", "or_b32", "or_b64"},
    {"xor", "xor_b32", "xor_b64"},    {"inc", "inc_u32", "inc_u64"},
    {"dec", "dec_u32", "dec_u64"},    {"fmin", "min_f32", "min_f64"},
    {"fmax", "max_f32", "max_f64"},
};

}  // namespace

TEST_CASE("names of other generations lead to the emulator's rows") {
  const auto& rows = Bench::operations().rows();
  for (const Spelling& spelling : kSpellings) {
    INFO(spelling.other);
    CHECK(canonical_name(spelling.other) == spelling.here);
    CHECK(rows.contains(spelling.here));
  }
  for (const std::string form : {"global", "flat", "buffer"}) {
    for (const AtomicSpelling& spelling : kAtomics) {
      const std::string prefix = form + "_atomic_";
      INFO(prefix << spelling.other);
      CHECK(canonical_name(prefix + spelling.other) == prefix + spelling.narrow);
      CHECK(canonical_name(prefix + spelling.other + "_x2") == prefix + spelling.wide);
      CHECK(rows.contains(prefix + spelling.narrow));
      CHECK(rows.contains(prefix + spelling.wide));
    }
  }
}

TEST_CASE("every row is found under its own name") {
  for (const auto& row : Bench::operations().rows()) {
    INFO(row.first);
    CHECK(canonical_name(row.first) == row.first);
  }
}
