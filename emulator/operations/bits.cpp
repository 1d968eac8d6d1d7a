// Moves, shifts and logic on the bits of each lane.
#include "emulator/operations/rows.hpp"

namespace kiln::emulator {
namespace {

// v_perm_b32: each byte of `selectors` selects one of the eight bytes of a:b, the sign of one, 0 or
// 0xff.
u32 permute_bytes(u32 a, u32 b, u32 selectors) {
  const u64 bytes = combine(b, a);
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 selector = selectors >> (8 * i) & 255;
    u32 byte = 0;
    if (selector >= 13) {
      byte = 0xff;
    } else if (selector == 12) {
      byte = 0;
    } else if (selector >= 8) {
      byte = (bytes >> (16 * (selector - 8) + 15) & 1) != 0 ? 0xff : 0;
    } else {
      byte = static_cast<u32>(bytes >> (8 * selector) & 255);
    }
    result |= byte << (8 * i);
  }
  return result;
}

template <int W>
void swap_registers(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32* a = vector_register<W>(wave, in, in.operands[0]);
  u32* b = vector_register<W>(wave, in, in.operands[1]);
  for (int lane = 0; lane < W; ++lane) {
    if (has_lane<W>(wave.write_mask, lane)) std::swap(a[lane], b[lane]);
  }
}

}  // namespace

// clang-format off
Operations bit_operations() {
  return {
      unary<U32, U32>("v_mov_b32", [](u32 a) { return a; }),
      unary<U64, U64>("v_mov_b64", [](u64 a) { return a; }),
      unary<U32, U32>("v_not_b32", [](u32 a) { return ~a; }),
      unary<U32, U32>("v_bfrev_b32", [](u32 a) { return reverse_bits(a); }),
      unary<U32, U32>("v_clz_i32_u32", [](u32 a) { return leading_zeros(a); }),
      unary<U32, U32>("v_ctz_i32_b32", [](u32 a) { return trailing_zeros(a); }),
      unary<U32, U32>("v_cls_i32", [](u32 a) { return leading_sign_bits(a); }),
      binary<U32, U32, U32>("v_and_b32", [](u32 a, u32 b) { return a & b; }),
      binary<U32, U32, U32>("v_or_b32", [](u32 a, u32 b) { return a | b; }),
      binary<U32, U32, U32>("v_xor_b32", [](u32 a, u32 b) { return a ^ b; }),
      binary<U32, U32, U32>("v_xnor_b32", [](u32 a, u32 b) { return ~(a ^ b); }),
      binary<U16, U16, U16>("v_and_b16", [](u32 a, u32 b) { return a & b; }),
      binary<U16, U16, U16>("v_or_b16", [](u32 a, u32 b) { return a | b; }),
      binary<U16, U16, U16>("v_xor_b16", [](u32 a, u32 b) { return a ^ b; }),
      unary<U16, U16>("v_not_b16", [](u32 a) { return ~a; }),
      unary<U16, U16>("v_mov_b16", [](u32 a) { return a; }),
      binary<U32, U32, U32>("v_lshlrev_b32", [](u32 a, u32 b) { return b << (a & 31); }),
      binary<U32, U32, U32>("v_lshrrev_b32", [](u32 a, u32 b) { return b >> (a & 31); }),
      binary<I32, U32, I32>("v_ashrrev_i32", [](u32 a, i32 b) { return b >> (a & 31); }),
      binary<U16, U16, U16>("v_lshlrev_b16", [](u32 a, u32 b) { return b << (a & 15); }),
      binary<U16, U16, U16>("v_lshrrev_b16", [](u32 a, u32 b) { return b >> (a & 15); }),
      binary<I16, U16, I16>("v_ashrrev_i16", [](u32 a, i32 b) { return b >> (a & 15); }),
      binary<U64, U32, U64>("v_lshlrev_b64", [](u32 a, u64 b) { return b << (a & 63); }),
      binary<U64, U32, U64>("v_lshrrev_b64", [](u32 a, u64 b) { return b >> (a & 63); }),
      binary<I64, U32, I64>("v_ashrrev_i64", [](u32 a, i64 b) { return b >> (a & 63); }),
      ternary<U32, U32, U32, U32>("v_lshl_add_u32", [](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }),
      ternary<U64, U64, U32, U64>("v_lshl_add_u64", [](u64 a, u32 b, u64 c) { return (a << (b & 63)) + c; }),
      ternary<U32, U32, U32, U32>("v_add_lshl_u32", [](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }),
      ternary<U32, U32, U32, U32>("v_lshl_or_b32", [](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }),
      ternary<U32, U32, U32, U32>("v_and_or_b32", [](u32 a, u32 b, u32 c) { return (a & b) | c; }),
      ternary<U32, U32, U32, U32>("v_or3_b32", [](u32 a, u32 b, u32 c) { return a | b | c; }),
      ternary<U32, U32, U32, U32>("v_xor3_b32", [](u32 a, u32 b, u32 c) { return a ^ b ^ c; }),
      ternary<U32, U32, U32, U32>("v_xad_u32", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }),
      ternary<U32, U32, U32, U32>("v_add3_u32", [](u32 a, u32 b, u32 c) { return a + b + c; }),
      ternary<U32, U32, U32, U32>("v_bfe_u32", [](u32 a, u32 b, u32 c) { return extract_bits(a, b, c); }),
      ternary<I32, U32, U32, U32>("v_bfe_i32", [](u32 a, u32 b, u32 c) { return extract_signed_bits(a, b, c); }),
      ternary<U32, U32, U32, U32>("v_bfi_b32", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }),
      binary<U32, U32, U32>("v_bfm_b32", [](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }),
      ternary<U32, U32, U32, U32>("v_alignbit_b32", [](u32 a, u32 b, u32 c) { return ((static_cast<u64>(a) << 32) | b) >> (c & 31); }),
      ternary<U32, U32, U32, U32>("v_alignbyte_b32", [](u32 a, u32 b, u32 c) { return ((static_cast<u64>(a) << 32) | b) >> (8 * (c & 3)); }),
      ternary<U32, U32, U32, U32>("v_perm_b32", [](u32 a, u32 b, u32 c) { return permute_bytes(a, b, c); }),
      binary<U32, U32, U32>("v_bcnt_u32_b32", [](u32 a, u32 b) { return count_bits(a) + b; }),
      binary<U32, HalfBits, HalfBits>("v_pack_b32_f16", [](u32 a, u32 b) { return (a & 0xffff) | b << 16; }),
      unary<U32, U32>("v_accvgpr_read_b32", [](u32 a) { return a; }),
      unary<U32, U32>("v_accvgpr_write_b32", [](u32 a) { return a; }),
      unary<U32, U32>("v_accvgpr_mov_b32", [](u32 a) { return a; }),
      KILN_OPERATION("v_swap_b32", swap_registers),
  };
}
// clang-format on

}  // namespace kiln::emulator
