// Scalar arithmetic: one value for the whole wave.
#include <algorithm>
#include <utility>

#include "emulator/operations/rows.hpp"

namespace kiln::emulator {
namespace {

// ---- rows that are a formula. The types of its parameters and result give the width of each
// operand.

enum class Scc : u8 { kUnchanged, kResultIsNotZero };

template <int W, typename T>
T read_source(const Wave& wave, const Instruction& in, std::size_t operand) {
  if constexpr (sizeof(T) == 8) {
    return read_scalar64<W>(wave, in, in.operands[operand]);
  } else {
    return read_scalar<W>(wave, in, in.operands[operand]);
  }
}

template <int W, Scc kScc, typename F, typename Result, typename... Sources>
void run_formula(Wave& wave, const Instruction& in) {
  const auto apply = [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    return F{}(read_source<W, Sources>(wave, in, 1 + kIndices)...);
  };
  const Result result = apply(std::index_sequence_for<Sources...>{});
  if constexpr (sizeof(Result) == 8) {
    write_scalar64(wave, in, in.operands[0], result);
  } else {
    write_scalar(wave, in, in.operands[0], result);
  }
  if (kScc == Scc::kResultIsNotZero) wave.scc = result != 0;
}

template <Scc kScc, typename F, typename Result, typename... Sources>
Operation formula_row(std::string_view name, Result (F::*)(Sources...) const) {
  return {std::string(name), run_formula<32, kScc, F, Result, Sources...>,
          run_formula<64, kScc, F, Result, Sources...>};
}
// Does not change SCC.
template <typename F>
Operation formula(std::string_view name, F) {
  return formula_row<Scc::kUnchanged>(name, &F::operator());
}
// Sets SCC to 1 if the result is not zero, otherwise to 0.
template <typename F>
Operation logic(std::string_view name, F) {
  return formula_row<Scc::kResultIsNotZero>(name, &F::operator());
}

// ---- rows that do more

template <int W>
struct Step {
  Wave& wave;
  const Instruction& in;

  u32 read(std::size_t operand) const { return read_scalar<W>(wave, in, in.operands[operand]); }
  u64 read64(std::size_t operand) const { return read_scalar64<W>(wave, in, in.operands[operand]); }
  u32 a() const { return read(1); }
  u32 b() const { return read(2); }
  i32 signed_a() const { return static_cast<i32>(a()); }
  i32 signed_b() const { return static_cast<i32>(b()); }
  float float_at(std::size_t operand) const { return float_of(read(operand)); }
  void put(u32 value) const { write_scalar(wave, in, in.operands[0], value); }
  void put64(u64 value) const { write_scalar64(wave, in, in.operands[0], value); }
  void put(u32 value, bool scc) const {
    put(value);
    wave.scc = scc;
  }
  u32 exec32() const { return wave.scalar[kExec]; }
  u64 exec64() const { return combine(wave.scalar[kExec], wave.scalar[kExec + 1]); }
  void set_exec32(u32 mask) const {
    wave.scalar[kExec] = mask;
    wave.scc = mask != 0;
  }
  void set_exec64(u64 mask) const {
    wave.scalar[kExec] = low_half(mask);
    wave.scalar[kExec + 1] = high_half(mask);
    wave.scc = mask != 0;
  }
};
template <int W, typename F>
void run_step(Wave& wave, const Instruction& in) {
  F{}(Step<W>{wave, in});
}
template <typename F>
Operation step(std::string_view name, F) {
  return {std::string(name), run_step<32, F>, run_step<64, F>};
}

// s_<name>_saveexec: copies the active lanes to the destination and replaces them by the formula of
// the source and the active lanes.
template <typename F>
Operation save_exec32(std::string_view name, F) {
  return step(name, [](auto s) {
    const u32 source = s.a();
    const u32 exec = s.exec32();
    s.put(exec);
    s.set_exec32(F{}(source, exec));
  });
}
template <typename F>
Operation save_exec64(std::string_view name, F) {
  return step(name, [](auto s) {
    const u64 source = s.read64(1);
    const u64 exec = s.exec64();
    s.put64(exec);
    s.set_exec64(F{}(source, exec));
  });
}

// ---- comparisons of the first two operands

template <typename F>
Operation compare(std::string_view name, F) {
  return step(name, [](auto s) { s.wave.scc = F{}(s.read(0), s.read(1)); });
}
template <typename F>
Operation compare_signed(std::string_view name, F) {
  return step(name, [](auto s) {
    s.wave.scc = F{}(static_cast<i32>(s.read(0)), static_cast<i32>(s.read(1)));
  });
}
template <typename F>
Operation compare_signed_16(std::string_view name, F) {
  return step(name, [](auto s) {
    s.wave.scc = F{}(static_cast<i32>(s.read(0)), i32{static_cast<i16>(s.read(1))});
  });
}
template <typename F>
Operation compare_unsigned_16(std::string_view name, F) {
  return step(name, [](auto s) { s.wave.scc = F{}(s.read(0), u32{static_cast<u16>(s.read(1))}); });
}
template <typename F>
Operation compare_float(std::string_view name, F) {
  return step(name, [](auto s) { s.wave.scc = F{}(s.float_at(0), s.float_at(1)); });
}
template <typename F>
Operation float_formula(std::string_view name, F) {
  return step(name, [](auto s) { s.put(bits_of(F{}(s.float_at(1), s.float_at(2)))); });
}

// ---- formulas too long for a row

u32 sign_extend_8(u32 x) { return static_cast<u32>(i32{static_cast<i8>(x)}); }
u32 sign_extend_16(u32 x) { return static_cast<u32>(i32{static_cast<i16>(x)}); }

// The field operand of s_bfe: the offset in the low bits, the count from bit 16 on.
u32 field_count(u32 field) { return field >> 16 & 127; }
u32 extract_field(u32 x, u32 field) {
  return field_count(field) >= 32 ? x >> (field & 31) : extract_bits(x, field, field_count(field));
}
u32 extract_signed_field(u32 x, u32 field) {
  if (field_count(field) >= 32) return static_cast<u32>(static_cast<i32>(x) >> (field & 31));
  return static_cast<u32>(extract_signed_bits(x, field, field_count(field)));
}
u64 extract_field_64(u64 x, u32 field) {
  const u32 count = field_count(field);
  const u64 shifted = x >> (field & 63);
  return count < 64 ? shifted & ((1ull << count) - 1) : shifted;
}
u64 extract_signed_field_64(u64 x, u32 field) {
  const u32 count = field_count(field);
  const i64 shifted = static_cast<i64>(x) >> (field & 63);
  if (count == 0) return 0;
  if (count >= 64) return static_cast<u64>(shifted);
  return static_cast<u64>(static_cast<i64>(static_cast<u64>(shifted) << (64 - count)) >>
                          (64 - count));
}

// Doubles every bit.
u64 replicate_bits(u32 x) {
  u64 result = 0;
  for (int i = 0; i < 32; ++i) {
    if ((x >> i & 1) != 0) result |= 3ull << (2 * i);
  }
  return result;
}
// Fills every group of four bits in which at least one bit is set.
u64 whole_quads(u64 x) {
  u64 result = 0;
  for (int i = 0; i < 64; i += 4) {
    if ((x >> i & 15) != 0) result |= 15ull << i;
  }
  return result;
}

template <int kShift, int W>
void shift_and_add(Wave& wave, const Instruction& in) {
  const Step<W> s{wave, in};
  const u64 sum = (u64{s.a()} << kShift) + s.b();
  s.put(low_half(sum), high_half(sum) != 0);
}

}  // namespace

// clang-format off
Operations scalar_operations() {
  return {
      formula("s_mov_b32", [](u32 a) { return a; }),
      formula("s_mov_b64", [](u64 a) { return a; }),
      formula("s_movk_i32", [](u32 a) { return sign_extend_16(a); }),
      step("s_cmov_b32", [](auto s) { if (s.wave.scc != 0) s.put(s.a()); }),
      step("s_cmov_b64", [](auto s) { if (s.wave.scc != 0) s.put64(s.read64(1)); }),
      step("s_cmovk_i32", [](auto s) { if (s.wave.scc != 0) s.put(sign_extend_16(s.a())); }),
      step("s_cselect_b32", [](auto s) { s.put(s.wave.scc != 0 ? s.a() : s.b()); }),
      step("s_cselect_b64", [](auto s) { s.put64(s.wave.scc != 0 ? s.read64(1) : s.read64(2)); }),

      // bits
      logic("s_not_b32", [](u32 a) { return ~a; }),
      logic("s_not_b64", [](u64 a) { return ~a; }),
      logic("s_and_b32", [](u32 a, u32 b) { return a & b; }),
      logic("s_and_b64", [](u64 a, u64 b) { return a & b; }),
      logic("s_or_b32", [](u32 a, u32 b) { return a | b; }),
      logic("s_or_b64", [](u64 a, u64 b) { return a | b; }),
      logic("s_xor_b32", [](u32 a, u32 b) { return a ^ b; }),
      logic("s_xor_b64", [](u64 a, u64 b) { return a ^ b; }),
      logic("s_and_not1_b32", [](u32 a, u32 b) { return a & ~b; }),
      logic("s_and_not1_b64", [](u64 a, u64 b) { return a & ~b; }),
      logic("s_or_not1_b32", [](u32 a, u32 b) { return a | ~b; }),
      logic("s_or_not1_b64", [](u64 a, u64 b) { return a | ~b; }),
      logic("s_nand_b32", [](u32 a, u32 b) { return ~(a & b); }),
      logic("s_nand_b64", [](u64 a, u64 b) { return ~(a & b); }),
      logic("s_nor_b32", [](u32 a, u32 b) { return ~(a | b); }),
      logic("s_nor_b64", [](u64 a, u64 b) { return ~(a | b); }),
      logic("s_xnor_b32", [](u32 a, u32 b) { return ~(a ^ b); }),
      logic("s_xnor_b64", [](u64 a, u64 b) { return ~(a ^ b); }),
      logic("s_lshl_b32", [](u32 a, u32 b) { return a << (b & 31); }),
      logic("s_lshl_b64", [](u64 a, u32 b) { return a << (b & 63); }),
      logic("s_lshr_b32", [](u32 a, u32 b) { return a >> (b & 31); }),
      logic("s_lshr_b64", [](u64 a, u32 b) { return a >> (b & 63); }),
      logic("s_ashr_i32", [](u32 a, u32 b) { return static_cast<u32>(static_cast<i32>(a) >> (b & 31)); }),
      logic("s_ashr_i64", [](u64 a, u32 b) { return static_cast<u64>(static_cast<i64>(a) >> (b & 63)); }),
      logic("s_bfe_u32", [](u32 a, u32 b) { return extract_field(a, b); }),
      logic("s_bfe_i32", [](u32 a, u32 b) { return extract_signed_field(a, b); }),
      logic("s_bfe_u64", [](u64 a, u32 b) { return extract_field_64(a, b); }),
      logic("s_bfe_i64", [](u64 a, u32 b) { return extract_signed_field_64(a, b); }),
      formula("s_bfm_b32", [](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }),
      formula("s_bfm_b64", [](u32 a, u32 b) { return ((1ull << (a & 63)) - 1) << (b & 63); }),
      formula("s_brev_b32", [](u32 a) { return reverse_bits(a); }),
      formula("s_brev_b64", [](u64 a) { return reverse_bits(a); }),
      logic("s_bcnt0_i32_b32", [](u32 a) { return 32 - count_bits(a); }),
      logic("s_bcnt0_i32_b64", [](u64 a) { return 64 - count_bits(a); }),
      logic("s_bcnt1_i32_b32", [](u32 a) { return count_bits(a); }),
      logic("s_bcnt1_i32_b64", [](u64 a) { return count_bits(a); }),
      formula("s_ctz_i32_b32", [](u32 a) { return trailing_zeros(a); }),
      formula("s_ctz_i32_b64", [](u64 a) { return trailing_zeros(a); }),
      formula("s_ff0_i32_b32", [](u32 a) { return trailing_zeros(~a); }),
      formula("s_clz_i32_u32", [](u32 a) { return leading_zeros(a); }),
      formula("s_clz_i32_u64", [](u64 a) { return leading_zeros(a); }),
      formula("s_cls_i32", [](u32 a) { return leading_sign_bits(a); }),
      formula("s_cls_i32_i64", [](u64 a) { return leading_sign_bits(a); }),
      formula("s_sext_i32_i8", [](u32 a) { return sign_extend_8(a); }),
      formula("s_sext_i32_i16", [](u32 a) { return sign_extend_16(a); }),
      formula("s_pack_ll_b32_b16", [](u32 a, u32 b) { return (a & 0xffff) | b << 16; }),
      formula("s_pack_lh_b32_b16", [](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000u); }),
      formula("s_pack_hh_b32_b16", [](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000u); }),
      formula("s_pack_hl_b32_b16", [](u32 a, u32 b) { return a >> 16 | b << 16; }),
      formula("s_bitreplicate_b64_b32", [](u32 a) { return replicate_bits(a); }),
      logic("s_wqm_b32", [](u32 a) { return low_half(whole_quads(a)); }),
      logic("s_wqm_b64", [](u64 a) { return whole_quads(a); }),
      step("s_bitset0_b32", [](auto s) { s.put(s.read(0) & ~(1u << (s.a() & 31))); }),
      step("s_bitset1_b32", [](auto s) { s.put(s.read(0) | 1u << (s.a() & 31)); }),
      step("s_bitset0_b64", [](auto s) { s.put64(s.read64(0) & ~(1ull << (s.a() & 63))); }),
      step("s_bitset1_b64", [](auto s) { s.put64(s.read64(0) | 1ull << (s.a() & 63)); }),
      step("s_bitcmp0_b32", [](auto s) { s.wave.scc = (s.read(0) >> (s.read(1) & 31) & 1) == 0; }),
      step("s_bitcmp1_b32", [](auto s) { s.wave.scc = (s.read(0) >> (s.read(1) & 31) & 1) != 0; }),
      step("s_bitcmp0_b64", [](auto s) { s.wave.scc = (s.read64(0) >> (s.read(1) & 63) & 1) == 0; }),
      step("s_bitcmp1_b64", [](auto s) { s.wave.scc = (s.read64(0) >> (s.read(1) & 63) & 1) != 0; }),

      // integers
      step("s_add_u32", [](auto s) { const u64 sum = u64{s.a()} + s.b(); s.put(low_half(sum), high_half(sum) != 0); }),
      step("s_addc_u32", [](auto s) { const u64 sum = u64{s.a()} + s.b() + s.wave.scc; s.put(low_half(sum), high_half(sum) != 0); }),
      step("s_sub_u32", [](auto s) { const u32 a = s.a(); const u32 b = s.b(); s.put(a - b, b > a); }),
      step("s_subb_u32", [](auto s) { const u32 a = s.a(); const u64 b = u64{s.b()} + s.wave.scc; s.put(a - low_half(b), b > a); }),
      step("s_add_i32", [](auto s) { i32 sum; const bool over = __builtin_add_overflow(s.signed_a(), s.signed_b(), &sum); s.put(static_cast<u32>(sum), over); }),
      step("s_sub_i32", [](auto s) { i32 sum; const bool over = __builtin_sub_overflow(s.signed_a(), s.signed_b(), &sum); s.put(static_cast<u32>(sum), over); }),
      step("s_addk_i32", [](auto s) { i32 sum; const bool over = __builtin_add_overflow(static_cast<i32>(s.read(0)), static_cast<i32>(sign_extend_16(s.a())), &sum); s.put(static_cast<u32>(sum), over); }),
      step("s_mulk_i32", [](auto s) { s.put(s.read(0) * sign_extend_16(s.a())); }),
      formula("s_mul_i32", [](u32 a, u32 b) { return a * b; }),
      formula("s_mul_hi_u32", [](u32 a, u32 b) { return high_half(u64{a} * b); }),
      formula("s_mul_hi_i32", [](u32 a, u32 b) { return high_half(static_cast<u64>(i64{static_cast<i32>(a)} * static_cast<i32>(b))); }),
      formula("s_add_nc_u64", [](u64 a, u64 b) { return a + b; }),
      formula("s_sub_nc_u64", [](u64 a, u64 b) { return a - b; }),
      formula("s_mul_u64", [](u64 a, u64 b) { return a * b; }),
      logic("s_abs_i32", [](u32 a) { return static_cast<i32>(a) < 0 ? 0 - a : a; }),
      logic("s_absdiff_i32", [](u32 a, u32 b) { return static_cast<i32>(a - b) < 0 ? b - a : a - b; }),
      step("s_min_i32", [](auto s) { const i32 a = s.signed_a(); const i32 b = s.signed_b(); s.put(static_cast<u32>(std::min(a, b)), a < b); }),
      step("s_max_i32", [](auto s) { const i32 a = s.signed_a(); const i32 b = s.signed_b(); s.put(static_cast<u32>(std::max(a, b)), a >= b); }),
      step("s_min_u32", [](auto s) { const u32 a = s.a(); const u32 b = s.b(); s.put(std::min(a, b), a < b); }),
      step("s_max_u32", [](auto s) { const u32 a = s.a(); const u32 b = s.b(); s.put(std::max(a, b), a >= b); }),
      {"s_lshl1_add_u32", shift_and_add<1, 32>, shift_and_add<1, 64>},
      {"s_lshl2_add_u32", shift_and_add<2, 32>, shift_and_add<2, 64>},
      {"s_lshl3_add_u32", shift_and_add<3, 32>, shift_and_add<3, 64>},
      {"s_lshl4_add_u32", shift_and_add<4, 32>, shift_and_add<4, 64>},

      // the active lanes
      save_exec32("s_and_saveexec_b32", [](u32 a, u32 exec) { return a & exec; }),
      save_exec64("s_and_saveexec_b64", [](u64 a, u64 exec) { return a & exec; }),
      save_exec32("s_or_saveexec_b32", [](u32 a, u32 exec) { return a | exec; }),
      save_exec64("s_or_saveexec_b64", [](u64 a, u64 exec) { return a | exec; }),
      save_exec32("s_xor_saveexec_b32", [](u32 a, u32 exec) { return a ^ exec; }),
      save_exec64("s_xor_saveexec_b64", [](u64 a, u64 exec) { return a ^ exec; }),
      save_exec32("s_and_not1_saveexec_b32", [](u32 a, u32 exec) { return a & ~exec; }),
      save_exec64("s_and_not1_saveexec_b64", [](u64 a, u64 exec) { return a & ~exec; }),
      save_exec32("s_or_not1_saveexec_b32", [](u32 a, u32 exec) { return a | ~exec; }),
      save_exec64("s_or_not1_saveexec_b64", [](u64 a, u64 exec) { return a | ~exec; }),
      save_exec32("s_and_not0_saveexec_b32", [](u32 a, u32 exec) { return ~a & exec; }),
      save_exec64("s_and_not0_saveexec_b64", [](u64 a, u64 exec) { return ~a & exec; }),
      save_exec32("s_or_not0_saveexec_b32", [](u32 a, u32 exec) { return ~a | exec; }),
      save_exec64("s_or_not0_saveexec_b64", [](u64 a, u64 exec) { return ~a | exec; }),
      save_exec32("s_nand_saveexec_b32", [](u32 a, u32 exec) { return ~(a & exec); }),
      save_exec64("s_nand_saveexec_b64", [](u64 a, u64 exec) { return ~(a & exec); }),
      save_exec32("s_nor_saveexec_b32", [](u32 a, u32 exec) { return ~(a | exec); }),
      save_exec64("s_nor_saveexec_b64", [](u64 a, u64 exec) { return ~(a | exec); }),
      save_exec32("s_xnor_saveexec_b32", [](u32 a, u32 exec) { return ~(a ^ exec); }),
      save_exec64("s_xnor_saveexec_b64", [](u64 a, u64 exec) { return ~(a ^ exec); }),
      step("s_and_not1_wrexec_b32", [](auto s) { const u32 mask = s.a() & ~s.exec32(); s.set_exec32(mask); s.put(mask); }),
      step("s_and_not0_wrexec_b32", [](auto s) { const u32 mask = ~s.a() & s.exec32(); s.set_exec32(mask); s.put(mask); }),
      step("s_and_not1_wrexec_b64", [](auto s) { const u64 mask = s.read64(1) & ~s.exec64(); s.set_exec64(mask); s.put64(mask); }),
      step("s_and_not0_wrexec_b64", [](auto s) { const u64 mask = ~s.read64(1) & s.exec64(); s.set_exec64(mask); s.put64(mask); }),

      // comparisons
      compare_signed("s_cmp_eq_i32", [](i32 a, i32 b) { return a == b; }),
      compare("s_cmp_eq_u32", [](u32 a, u32 b) { return a == b; }),
      compare_signed_16("s_cmpk_eq_i32", [](i32 a, i32 b) { return a == b; }),
      compare_unsigned_16("s_cmpk_eq_u32", [](u32 a, u32 b) { return a == b; }),
      compare_signed("s_cmp_lg_i32", [](i32 a, i32 b) { return a != b; }),
      compare("s_cmp_lg_u32", [](u32 a, u32 b) { return a != b; }),
      compare_signed_16("s_cmpk_lg_i32", [](i32 a, i32 b) { return a != b; }),
      compare_unsigned_16("s_cmpk_lg_u32", [](u32 a, u32 b) { return a != b; }),
      compare_signed("s_cmp_gt_i32", [](i32 a, i32 b) { return a > b; }),
      compare("s_cmp_gt_u32", [](u32 a, u32 b) { return a > b; }),
      compare_signed_16("s_cmpk_gt_i32", [](i32 a, i32 b) { return a > b; }),
      compare_unsigned_16("s_cmpk_gt_u32", [](u32 a, u32 b) { return a > b; }),
      compare_signed("s_cmp_ge_i32", [](i32 a, i32 b) { return a >= b; }),
      compare("s_cmp_ge_u32", [](u32 a, u32 b) { return a >= b; }),
      compare_signed_16("s_cmpk_ge_i32", [](i32 a, i32 b) { return a >= b; }),
      compare_unsigned_16("s_cmpk_ge_u32", [](u32 a, u32 b) { return a >= b; }),
      compare_signed("s_cmp_lt_i32", [](i32 a, i32 b) { return a < b; }),
      compare("s_cmp_lt_u32", [](u32 a, u32 b) { return a < b; }),
      compare_signed_16("s_cmpk_lt_i32", [](i32 a, i32 b) { return a < b; }),
      compare_unsigned_16("s_cmpk_lt_u32", [](u32 a, u32 b) { return a < b; }),
      compare_signed("s_cmp_le_i32", [](i32 a, i32 b) { return a <= b; }),
      compare("s_cmp_le_u32", [](u32 a, u32 b) { return a <= b; }),
      compare_signed_16("s_cmpk_le_i32", [](i32 a, i32 b) { return a <= b; }),
      compare_unsigned_16("s_cmpk_le_u32", [](u32 a, u32 b) { return a <= b; }),
      compare_float("s_cmp_lt_f32", [](float a, float b) { return a < b; }),
      compare_float("s_cmp_eq_f32", [](float a, float b) { return a == b; }),
      compare_float("s_cmp_le_f32", [](float a, float b) { return a <= b; }),
      compare_float("s_cmp_gt_f32", [](float a, float b) { return a > b; }),
      compare_float("s_cmp_lg_f32", [](float a, float b) { return a < b || a > b; }),
      compare_float("s_cmp_ge_f32", [](float a, float b) { return a >= b; }),
      compare_float("s_cmp_o_f32", [](float a, float b) { return a == a && b == b; }),
      compare_float("s_cmp_u_f32", [](float a, float b) { return a != a || b != b; }),
      compare_float("s_cmp_nge_f32", [](float a, float b) { return !(a >= b); }),
      compare_float("s_cmp_nlg_f32", [](float a, float b) { return !(a < b || a > b); }),
      compare_float("s_cmp_ngt_f32", [](float a, float b) { return !(a > b); }),
      compare_float("s_cmp_nle_f32", [](float a, float b) { return !(a <= b); }),
      compare_float("s_cmp_neq_f32", [](float a, float b) { return !(a == b); }),
      compare_float("s_cmp_nlt_f32", [](float a, float b) { return !(a < b); }),
      step("s_cmp_eq_u64", [](auto s) { s.wave.scc = s.read64(0) == s.read64(1); }),
      step("s_cmp_lg_u64", [](auto s) { s.wave.scc = s.read64(0) != s.read64(1); }),

      // floats (gfx11.5 and later)
      float_formula("s_add_f32", [](float a, float b) { return a + b; }),
      float_formula("s_sub_f32", [](float a, float b) { return a - b; }),
      float_formula("s_mul_f32", [](float a, float b) { return a * b; }),
      float_formula("s_min_f32", [](float a, float b) { return minimum(a, b); }),
      float_formula("s_max_f32", [](float a, float b) { return maximum(a, b); }),
      float_formula("s_min_num_f32", [](float a, float b) { return minimum(a, b); }),
      float_formula("s_max_num_f32", [](float a, float b) { return maximum(a, b); }),
      step("s_fmac_f32", [](auto s) { s.put(bits_of(std::fma(s.float_at(1), s.float_at(2), s.float_at(0)))); }),
      step("s_fmaak_f32", [](auto s) { s.put(bits_of(std::fma(s.float_at(1), s.float_at(2), s.float_at(3)))); }),
      step("s_fmamk_f32", [](auto s) { s.put(bits_of(std::fma(s.float_at(1), s.float_at(2), s.float_at(3)))); }),
      formula("s_cvt_f32_i32", [](u32 a) { return bits_of(static_cast<float>(static_cast<i32>(a))); }),
      formula("s_cvt_f32_u32", [](u32 a) { return bits_of(static_cast<float>(a)); }),
      formula("s_cvt_i32_f32", [](u32 a) { return static_cast<u32>(to_i32(float_of(a))); }),
      formula("s_cvt_u32_f32", [](u32 a) { return to_u32(float_of(a)); }),
      formula("s_cvt_f16_f32", [](u32 a) { return float_to_half(float_of(a)); }),
      formula("s_cvt_f32_f16", [](u32 a) { return bits_of(half_to_float(a & 0xffff)); }),
      formula("s_cvt_hi_f32_f16", [](u32 a) { return bits_of(half_to_float(a >> 16)); }),
      formula("s_ceil_f32", [](u32 a) { return bits_of(std::ceil(float_of(a))); }),
      formula("s_floor_f32", [](u32 a) { return bits_of(std::floor(float_of(a))); }),
      formula("s_trunc_f32", [](u32 a) { return bits_of(std::trunc(float_of(a))); }),
      formula("s_rndne_f32", [](u32 a) { return bits_of(std::nearbyint(float_of(a))); }),
  };
}
// clang-format on

}  // namespace kiln::emulator
