// Integer arithmetic on lanes.
#include <algorithm>
#include <cstdlib>

#include "emulator/operations/rows.hpp"

namespace kiln::emulator {
namespace {

// v_sad_u8: adds up the absolute differences of four bytes.
u32 sum_of_differences(u32 a, u32 b, u32 sum) {
  for (int i = 0; i < 4; ++i) {
    const u32 x = a >> (8 * i) & 255;
    const u32 y = b >> (8 * i) & 255;
    sum += x > y ? x - y : y - x;
  }
  return sum;
}
u32 sum_of_differences_16(u32 a, u32 b, u32 sum) {
  const u32 low =
      (a & 0xffff) > (b & 0xffff) ? (a & 0xffff) - (b & 0xffff) : (b & 0xffff) - (a & 0xffff);
  const u32 high = (a >> 16) > (b >> 16) ? (a >> 16) - (b >> 16) : (b >> 16) - (a >> 16);
  return low + high + sum;
}

enum class Sum : u8 { kAdd, kSubtract, kSubtractReversed };

// ---- sums that saturate if the instruction has "clamp"

template <int W, Sum kSum>
void add_unsigned(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 a_buffer[W];
  u32 b_buffer[W];
  u32 result[W];
  const u32* a = read<W, U32>(wave, in, 1, a_buffer);
  const u32* b = read<W, U32>(wave, in, 2, b_buffer);
  if (kSum == Sum::kSubtractReversed) std::swap(a, b);
  if (!in.clamp) {
    for (int lane = 0; lane < W; ++lane) {
      result[lane] = kSum == Sum::kAdd ? a[lane] + b[lane] : a[lane] - b[lane];
    }
  } else {
    for (int lane = 0; lane < W; ++lane) {
      result[lane] = kSum == Sum::kAdd   ? saturate_u32(u64{a[lane]} + b[lane])
                     : a[lane] < b[lane] ? 0
                                         : a[lane] - b[lane];
    }
  }
  write_bits<W>(wave, in, 0, result);
}

template <int W, Sum kSum>
void add_signed(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  i32 a_buffer[W];
  i32 b_buffer[W];
  u32 result[W];
  const i32* a = read<W, I32>(wave, in, 1, a_buffer);
  const i32* b = read<W, I32>(wave, in, 2, b_buffer);
  for (int lane = 0; lane < W; ++lane) {
    const i64 sum = kSum == Sum::kAdd ? i64{a[lane]} + b[lane] : i64{a[lane]} - b[lane];
    result[lane] = static_cast<u32>(in.clamp ? saturate_i32(sum) : static_cast<i32>(sum));
  }
  write_bits<W>(wave, in, 0, result);
}

template <typename Wide>
Wide saturate_16(Wide x, bool is_signed) {
  return is_signed ? std::clamp<Wide>(x, -32768, 32767) : std::clamp<Wide>(x, 0, 65535);
}

i32 sum(i32 a, i32 b) { return a + b; }
i32 difference(i32 a, i32 b) { return a - b; }
i32 reversed_difference(i32 a, i32 b) { return b - a; }
i64 product(i32 a, i32 b) { return i64{a} * b; }

// The result of kFormula is exact.
template <int W, auto kFormula, bool kSigned>
void binary_16(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 a[W];
  u32 b[W];
  u32 result[W];
  read_bits<W>(wave, in, 1, a, Reading::kBits16);
  read_bits<W>(wave, in, 2, b, Reading::kBits16);
  for (int lane = 0; lane < W; ++lane) {
    const i32 x = kSigned ? static_cast<i16>(a[lane]) : static_cast<i32>(a[lane] & 0xffff);
    const i32 y = kSigned ? static_cast<i16>(b[lane]) : static_cast<i32>(b[lane] & 0xffff);
    const auto exact = kFormula(x, y);
    result[lane] = static_cast<u32>(in.clamp ? saturate_16(exact, kSigned) : exact) & 0xffff;
  }
  write_bits16<W>(wave, in, 0, result);
}

template <int W, UpperHalf kUpper, bool kSigned>
void multiply_add_16(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 a[W];
  u32 b[W];
  u32 c[W];
  u32 result[W];
  read_bits<W>(wave, in, 1, a, Reading::kBits16);
  read_bits<W>(wave, in, 2, b, Reading::kBits16);
  read_bits<W>(wave, in, 3, c, Reading::kBits16);
  for (int lane = 0; lane < W; ++lane) {
    const i64 sum = kSigned ? i64{static_cast<i16>(a[lane])} * static_cast<i16>(b[lane]) +
                                  static_cast<i16>(c[lane])
                            : i64{a[lane] & 0xffff} * (b[lane] & 0xffff) + (c[lane] & 0xffff);
    result[lane] = static_cast<u32>(in.clamp ? saturate_16(sum, kSigned) : sum) & 0xffff;
  }
  write_bits16<W>(wave, in, 0, result, kUpper);
}

// d, carry = a * b + c; c and d have 64 bits.
template <int W, bool kSigned>
void multiply_add_64(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 a_buffer[W];
  u32 b_buffer[W];
  u64 c[W];
  u64 result[W];
  const u32* a = read<W, U32>(wave, in, 2, a_buffer);
  const u32* b = read<W, U32>(wave, in, 3, b_buffer);
  read_bits64<W>(wave, in, 4, c, false, kSigned ? Literal::kSignExtend : Literal::kZeroExtend);
  u64 carries = 0;
  for (int lane = 0; lane < W; ++lane) {
    const u64 product =
        kSigned ? static_cast<u64>(i64{static_cast<i32>(a[lane])} * static_cast<i32>(b[lane]))
                : u64{a[lane]} * b[lane];
    result[lane] = product + c[lane];
    // The carry is bit 64 of the sum; for a signed sum, its sign.
    i64 sum;
    const bool carry = kSigned ? __builtin_add_overflow(static_cast<i64>(product),
                                                        static_cast<i64>(c[lane]), &sum) !=
                                     (static_cast<i64>(result[lane]) < 0)
                               : result[lane] < product;
    carries |= u64{carry} << lane;
  }
  write_bits64<W>(wave, in, 0, result);
  write_mask<W>(wave, in, in.operands[1], carries & wave.write_mask);
}

// ---- sums with carry: d, carry out, a, b [, carry in]

enum class CarryIn : bool { kNo, kYes };

template <int W, Sum kSum, CarryIn kCarryIn>
void add_with_carry(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 a_buffer[W];
  u32 b_buffer[W];
  u32 result[W];
  const u32* a = read<W, U32>(wave, in, 2, a_buffer);
  const u32* b = read<W, U32>(wave, in, 3, b_buffer);
  if (kSum == Sum::kSubtractReversed) std::swap(a, b);
  const u64 carries_in = kCarryIn == CarryIn::kYes ? read_mask<W>(wave, in, in.operands[4]) : 0;
  u64 carries_out = 0;
  for (int lane = 0; lane < W; ++lane) {
    const u32 carry_in = static_cast<u32>(carries_in >> lane & 1);
    u64 sum;
    bool carry;
    if (kSum == Sum::kAdd) {
      sum = u64{a[lane]} + b[lane] + carry_in;
      carry = sum >> 32 != 0;
    } else {
      sum = u64{a[lane]} - b[lane] - carry_in;
      carry = u64{b[lane]} + carry_in > a[lane];
    }
    const u32 saturated = kSum == Sum::kAdd ? ~0u : 0;
    result[lane] = in.clamp && carry ? saturated : static_cast<u32>(sum);
    carries_out |= u64{carry} << lane;
  }
  write_bits<W>(wave, in, 0, result);
  carries_out &= wave.write_mask;
  if (in.lanes != LaneMap::kOwn) {
    carries_out |= read_mask<W>(wave, in, in.operands[1]) & ~wave.write_mask;
  }
  write_mask<W>(wave, in, in.operands[1], carries_out);
}

}  // namespace

// clang-format off
Operations integer_operations() {
  return {
      KILN_OPERATION("v_add_nc_u32", add_unsigned, Sum::kAdd),
      KILN_OPERATION("v_sub_nc_u32", add_unsigned, Sum::kSubtract),
      KILN_OPERATION("v_subrev_nc_u32", add_unsigned, Sum::kSubtractReversed),
      KILN_OPERATION("v_add_nc_i32", add_signed, Sum::kAdd),
      KILN_OPERATION("v_sub_nc_i32", add_signed, Sum::kSubtract),
      KILN_OPERATION("v_add_nc_u16", binary_16, sum, false),
      KILN_OPERATION("v_sub_nc_u16", binary_16, difference, false),
      KILN_OPERATION("v_subrev_nc_u16", binary_16, reversed_difference, false),
      KILN_OPERATION("v_add_nc_i16", binary_16, sum, true),
      KILN_OPERATION("v_sub_nc_i16", binary_16, difference, true),
      KILN_OPERATION("v_mad_u16", multiply_add_16, UpperHalf::kKeep, false),
      KILN_OPERATION("v_mad_i16", multiply_add_16, UpperHalf::kKeep, true),
      KILN_OPERATION("v_mad_legacy_u16", multiply_add_16, UpperHalf::kByGeneration, false),
      KILN_OPERATION("v_mad_legacy_i16", multiply_add_16, UpperHalf::kByGeneration, true),
      KILN_OPERATION("v_mad_u64_u32", multiply_add_64, false),
      KILN_OPERATION("v_mad_i64_i32", multiply_add_64, true),
      KILN_OPERATION("v_add_co_u32", add_with_carry, Sum::kAdd, CarryIn::kNo),
      KILN_OPERATION("v_sub_co_u32", add_with_carry, Sum::kSubtract, CarryIn::kNo),
      KILN_OPERATION("v_subrev_co_u32", add_with_carry, Sum::kSubtractReversed, CarryIn::kNo),
      KILN_OPERATION("v_add_co_ci_u32", add_with_carry, Sum::kAdd, CarryIn::kYes),
      KILN_OPERATION("v_sub_co_ci_u32", add_with_carry, Sum::kSubtract, CarryIn::kYes),
      KILN_OPERATION("v_subrev_co_ci_u32", add_with_carry, Sum::kSubtractReversed, CarryIn::kYes),
      KILN_OPERATION("v_mul_lo_u16", binary_16, product, false),
      binary<U16, U16, U16>("v_max_u16", [](u32 a, u32 b) { return a > b ? a : b; }),
      binary<U16, U16, U16>("v_min_u16", [](u32 a, u32 b) { return a < b ? a : b; }),
      binary<I16, I16, I16>("v_max_i16", [](i32 a, i32 b) { return a > b ? a : b; }),
      binary<I16, I16, I16>("v_min_i16", [](i32 a, i32 b) { return a < b ? a : b; }),
      binary<U32, U32, U32>("v_max_u32", [](u32 a, u32 b) { return a > b ? a : b; }),
      binary<U32, U32, U32>("v_min_u32", [](u32 a, u32 b) { return a < b ? a : b; }),
      binary<I32, I32, I32>("v_max_i32", [](i32 a, i32 b) { return a > b ? a : b; }),
      binary<I32, I32, I32>("v_min_i32", [](i32 a, i32 b) { return a < b ? a : b; }),
      ternary<U32, U32, U32, U32>("v_max3_u32", [](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); }),
      ternary<U32, U32, U32, U32>("v_min3_u32", [](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); }),
      ternary<U32, U32, U32, U32>("v_med3_u32", [](u32 a, u32 b, u32 c) { return median_integer(a, b, c); }),
      ternary<I32, I32, I32, I32>("v_max3_i32", [](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); }),
      ternary<I32, I32, I32, I32>("v_min3_i32", [](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); }),
      ternary<I32, I32, I32, I32>("v_med3_i32", [](i32 a, i32 b, i32 c) { return median_integer(a, b, c); }),
      ternary<U16, U16, U16, U16>("v_max3_u16", [](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); }),
      ternary<U16, U16, U16, U16>("v_min3_u16", [](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); }),
      ternary<U16, U16, U16, U16>("v_med3_u16", [](u32 a, u32 b, u32 c) { return median_integer(a, b, c); }),
      ternary<I16, I16, I16, I16>("v_max3_i16", [](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); }),
      ternary<I16, I16, I16, I16>("v_min3_i16", [](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); }),
      ternary<I16, I16, I16, I16>("v_med3_i16", [](i32 a, i32 b, i32 c) { return median_integer(a, b, c); }),
      ternary<I32, I32, I32, I32>("v_maxmin_i32", [](i32 a, i32 b, i32 c) { return std::min(std::max(a, b), c); }),
      ternary<I32, I32, I32, I32>("v_minmax_i32", [](i32 a, i32 b, i32 c) { return std::max(std::min(a, b), c); }),
      ternary<U32, U32, U32, U32>("v_maxmin_u32", [](u32 a, u32 b, u32 c) { return std::min(std::max(a, b), c); }),
      ternary<U32, U32, U32, U32>("v_minmax_u32", [](u32 a, u32 b, u32 c) { return std::max(std::min(a, b), c); }),
      binary<U32, U32, U32>("v_mul_lo_u32", [](u32 a, u32 b) { return a * b; }),
      binary<U32, U32, U32>("v_mul_hi_u32", [](u32 a, u32 b) { return (static_cast<u64>(a) * b) >> 32; }),
      binary<I32, I32, I32>("v_mul_hi_i32", [](i32 a, i32 b) { return (static_cast<i64>(a) * b) >> 32; }),
      binary<U32, U32, U32>("v_mul_u32_u24", [](u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }),
      binary<U32, U32, U32>("v_mul_hi_u32_u24", [](u32 a, u32 b) { return (static_cast<u64>(a & 0xffffff) * (b & 0xffffff)) >> 32; }),
      binary<I32, U32, U32>("v_mul_i32_i24", [](u32 a, u32 b) { return static_cast<u32>(sign_extend_24(a)) * static_cast<u32>(sign_extend_24(b)); }),
      binary<I32, U32, U32>("v_mul_hi_i32_i24", [](u32 a, u32 b) { return (static_cast<i64>(sign_extend_24(a)) * sign_extend_24(b)) >> 32; }),
      ternary<U32, U32, U32, U32>("v_mad_u32_u24", [](u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; }),
      ternary<I32, U32, U32, U32>("v_mad_i32_i24", [](u32 a, u32 b, u32 c) { return static_cast<u32>(sign_extend_24(a)) * static_cast<u32>(sign_extend_24(b)) + c; }),
      ternary<U32, U16, U16, U32>("v_mad_u32_u16", [](u32 a, u32 b, u32 c) { return (a & 0xffff) * (b & 0xffff) + c; }),
      ternary<I32, I16, I16, I32>("v_mad_i32_i16", [](i32 a, i32 b, i32 c) { return static_cast<u32>(a * b) + static_cast<u32>(c); }),
      ternary<U32, U32, U32, U32>("v_sad_u8", [](u32 a, u32 b, u32 c) { return sum_of_differences(a, b, c); }),
      ternary<U32, U32, U32, U32>("v_sad_hi_u8", [](u32 a, u32 b, u32 c) { return (sum_of_differences(a, b, 0) << 16) + c; }),
      ternary<U32, U32, U32, U32>("v_sad_u32", [](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }),
      ternary<U32, U32, U32, U32>("v_sad_u16", [](u32 a, u32 b, u32 c) { return sum_of_differences_16(a, b, c); }),
  };
}
// clang-format on

}  // namespace kiln::emulator
