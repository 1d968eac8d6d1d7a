#include "emulator/spelling.hpp"

#include <algorithm>
#include <iterator>

namespace kiln::emulator {
namespace {

struct Renaming {
  std::string_view from;
  std::string_view to;
};

// Each table is sorted by the old name.
constexpr Renaming kVectorAndScalar[] = {
    {"s_ff1_i32_b32", "s_ctz_i32_b32"},
    {"s_ff1_i32_b64", "s_ctz_i32_b64"},
    {"s_flbit_i32", "s_cls_i32"},
    {"s_flbit_i32_b32", "s_clz_i32_u32"},
    {"s_flbit_i32_b64", "s_clz_i32_u64"},
    {"s_flbit_i32_i64", "s_cls_i32_i64"},
    {"s_inst_prefetch", "s_set_inst_prefetch_distance"},
    {"v_accvgpr_read", "v_accvgpr_read_b32"},
    {"v_accvgpr_write", "v_accvgpr_write_b32"},
    {"v_add_i16", "v_add_nc_i16"},
    {"v_add_i32", "v_add_nc_i32"},
    {"v_add_u16", "v_add_nc_u16"},
    {"v_add_u32", "v_add_nc_u32"},
    {"v_addc_co_u32", "v_add_co_ci_u32"},
    {"v_cvt_pknorm_i16_f32", "v_cvt_pk_norm_i16_f32"},
    {"v_cvt_pknorm_u16_f32", "v_cvt_pk_norm_u16_f32"},
    {"v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"},
    {"v_div_fixup_legacy_f16", "v_div_fixup_f16"},
    {"v_dot2_f32_f16_e64", "v_dot2_f32_f16"},
    {"v_ffbh_i32", "v_cls_i32"},
    {"v_ffbh_u32", "v_clz_i32_u32"},
    {"v_ffbl_b32", "v_ctz_i32_b32"},
    {"v_fma_dx9_zero_f32", "v_fma_legacy_f32"},
    {"v_fma_legacy_f16", "v_fma_f16"},
    {"v_max_num_f16", "v_max_f16"},
    {"v_max_num_f32", "v_max_f32"},
    {"v_max_num_f64", "v_max_f64"},
    {"v_med3_num_f32", "v_med3_f32"},
    {"v_min_num_f16", "v_min_f16"},
    {"v_min_num_f32", "v_min_f32"},
    {"v_min_num_f64", "v_min_f64"},
    {"v_mul_dx9_zero_f32", "v_mul_legacy_f32"},
    {"v_pk_max_num_f16", "v_pk_max_f16"},
    {"v_pk_min_num_f16", "v_pk_min_f16"},
    {"v_sub_i16", "v_sub_nc_i16"},
    {"v_sub_i32", "v_sub_nc_i32"},
    {"v_sub_u16", "v_sub_nc_u16"},
    {"v_sub_u32", "v_sub_nc_u32"},
    {"v_subb_co_u32", "v_sub_co_ci_u32"},
    {"v_subbrev_co_u32", "v_subrev_co_ci_u32"},
    {"v_subrev_u16", "v_subrev_nc_u16"},
    {"v_subrev_u32", "v_subrev_nc_u32"},
};

// Names after "_load_" and "_store_".
constexpr Renaming kMemoryTypes[] = {
    {"byte", "b8"},
    {"byte_d16_hi", "d16_hi_b8"},
    {"dword", "b32"},
    {"dwordx16", "b512"},
    {"dwordx2", "b64"},
    {"dwordx3", "b96"},
    {"dwordx4", "b128"},
    {"dwordx8", "b256"},
    {"sbyte", "i8"},
    {"sbyte_d16", "d16_i8"},
    {"sbyte_d16_hi", "d16_hi_i8"},
    {"short", "b16"},
    {"short_d16", "d16_b16"},
    {"short_d16_hi", "d16_hi_b16"},
    {"sshort", "i16"},
    {"ubyte", "u8"},
    {"ubyte_d16", "d16_u8"},
    {"ubyte_d16_hi", "d16_hi_u8"},
    {"ushort", "u16"},
};

// Names after "_atomic_".
constexpr Renaming kAtomics[] = {
    {"add", "add_u32"},           {"add_x2", "add_u64"},      {"and", "and_b32"},
    {"and_x2", "and_b64"},        {"cmpswap", "cmpswap_b32"}, {"cmpswap_x2", "cmpswap_b64"},
    {"dec", "dec_u32"},           {"dec_x2", "dec_u64"},      {"fmax", "max_f32"},
    {"fmax_x2", "max_f64"},       {"fmin", "min_f32"},        {"fmin_x2", "min_f64"},
    {"inc", "inc_u32"},           {"inc_x2", "inc_u64"},      {"max_num_f32", "max_f32"},
    {"min_num_f32", "min_f32"},   {"or", "or_b32"},           {"or_x2", "or_b64"},
    {"pk_add_f16", "pk_add_f16"}, {"smax", "max_i32"},        {"smax_x2", "max_i64"},
    {"smin", "min_i32"},          {"smin_x2", "min_i64"},     {"sub", "sub_u32"},
    {"sub_x2", "sub_u64"},        {"swap", "swap_b32"},       {"swap_x2", "swap_b64"},
    {"umax", "max_u32"},          {"umax_x2", "max_u64"},     {"umin", "min_u32"},
    {"umin_x2", "min_u64"},       {"xor", "xor_b32"},         {"xor_x2", "xor_b64"},
};

// Prefixes of names. A longer prefix comes before its own prefix.
constexpr Renaming kLdsPrefixes[] = {
    {"ds_read2st64_", "ds_load_2addr_stride64_"},
    {"ds_write2st64_", "ds_store_2addr_stride64_"},
    {"ds_read2_", "ds_load_2addr_"},
    {"ds_write2_", "ds_store_2addr_"},
    {"ds_read_", "ds_load_"},
    {"ds_write_", "ds_store_"},
};
constexpr Renaming kScalarPrefixes[] = {
    {"s_andn2_", "s_and_not1_"},
    {"s_orn2_", "s_or_not1_"},
    {"s_andn1_", "s_and_not0_"},
    {"s_orn1_", "s_or_not0_"},
};

constexpr std::string_view kEncodings[] = {"_e32", "_e64", "_dpp8", "_dpp", "_sdwa"};

template <std::size_t kSize>
std::string_view renamed(const Renaming (&table)[kSize], std::string_view name) {
  const auto row = std::ranges::lower_bound(table, name, {}, &Renaming::from);
  return row != std::end(table) && row->from == name ? row->to : name;
}

template <std::size_t kSize>
std::string with_renamed_prefix(const Renaming (&table)[kSize], std::string_view name) {
  for (const Renaming& row : table) {
    if (name.starts_with(row.from))
      return std::string(row.to) + std::string(name.substr(row.from.size()));
  }
  return std::string(name);
}

std::string_view without_encoding(std::string_view name) {
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view suffix : kEncodings) {
      if (!name.ends_with(suffix)) continue;
      name.remove_suffix(suffix.size());
      found = true;
    }
  }
  return name;
}

// Returns `name` with the part after `middle` renamed: "global" + "_load_" + "dword".
template <std::size_t kSize>
std::string with_renamed_tail(const Renaming (&table)[kSize], std::string_view name,
                              std::string_view middle) {
  const std::size_t tail = name.find(middle) + middle.size();
  return std::string(name.substr(0, tail)) + std::string(renamed(table, name.substr(tail)));
}

std::string vector_name(std::string_view name) {
  constexpr std::string_view kDual = "v_dual_";
  if (name.starts_with(kDual)) {
    const std::string single = "v_" + std::string(name.substr(kDual.size()));
    return std::string(renamed(kVectorAndScalar, single));
  }
  return std::string(renamed(kVectorAndScalar, without_encoding(name)));
}

std::string scalar_name(std::string_view name) {
  if (name.starts_with("s_load_")) return with_renamed_tail(kMemoryTypes, name, "_load_");
  const std::string current = with_renamed_prefix(kScalarPrefixes, name);
  return std::string(renamed(kVectorAndScalar, current));
}

}  // namespace

std::string canonical_name(std::string_view mnemonic) {
  if (mnemonic.starts_with("v_")) return vector_name(mnemonic);
  if (mnemonic.starts_with("s_")) return scalar_name(mnemonic);
  if (mnemonic.starts_with("ds_")) return with_renamed_prefix(kLdsPrefixes, mnemonic);
  if (mnemonic.find("_atomic_") != mnemonic.npos)
    return with_renamed_tail(kAtomics, mnemonic, "_atomic_");
  for (const std::string_view verb : {"_load_", "_store_"}) {
    if (mnemonic.find(verb) != mnemonic.npos)
      return with_renamed_tail(kMemoryTypes, mnemonic, verb);
  }
  return std::string(mnemonic);
}

bool is_sdwa(std::string_view mnemonic) { return mnemonic.ends_with("_sdwa"); }

}  // namespace kiln::emulator
