// Comparisons of lanes: v_cmp writes a mask, v_cmpx the set of active lanes (on gfx9, both).
#include "emulator/operations/rows.hpp"

namespace kiln::emulator {
namespace {

enum class Writes : u8 { kMask, kExec };

template <int W, Writes kWrites>
void finish(Wave& wave, const Instruction& in, u64 lanes) {
  lanes &= wave.write_mask;
  if (in.destination_count != 0) {
    u64 mask = lanes;
    if (in.lanes != LaneMap::kOwn) {
      mask |= read_mask<W>(wave, in, in.operands[0]) & ~wave.write_mask & read_exec<W>(wave);
    }
    write_mask<W>(wave, in, in.operands[0], mask);
  }
  if (kWrites == Writes::kExec) write_exec<W>(wave, lanes);
}

template <int W, Writes kWrites, typename A, typename B, typename F>
void compare(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  ValueOf<A> a_buffer[W];
  ValueOf<B> b_buffer[W];
  const ValueOf<A>* a = read<W, A>(wave, in, in.destination_count, a_buffer);
  const ValueOf<B>* b = read<W, B>(wave, in, in.destination_count + 1, b_buffer);
  u64 lanes = 0;
  for (int lane = 0; lane < W; ++lane) lanes |= u64{F{}(a[lane], b[lane])} << lane;
  finish<W, kWrites>(wave, in, lanes);
}

template <int W, Writes kWrites>
void classify_half(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 a[W];
  u32 b_buffer[W];
  read_bits<W>(wave, in, in.destination_count, a, Reading::kHalf);
  const u32* b = read<W, U32>(wave, in, in.destination_count + 1, b_buffer);
  u64 lanes = 0;
  for (int lane = 0; lane < W; ++lane)
    lanes |= u64{(class_of_half(a[lane]) & b[lane]) != 0} << lane;
  finish<W, kWrites>(wave, in, lanes);
}

// Adds both instructions of a comparison: "lt_f32" makes v_cmp_lt_f32 and v_cmpx_lt_f32.
template <typename A, typename B, typename F>
void add(Operations& rows, const std::string& name, F) {
  rows.push_back(
      {"v_cmp_" + name, compare<32, Writes::kMask, A, B, F>, compare<64, Writes::kMask, A, B, F>});
  rows.push_back(
      {"v_cmpx_" + name, compare<32, Writes::kExec, A, B, F>, compare<64, Writes::kExec, A, B, F>});
}

template <typename Type>
void add_integer_comparisons(Operations& rows, const std::string& type) {
  using T = ValueOf<Type>;
  add<Type, Type>(rows, "f_" + type, [](T, T) { return false; });
  add<Type, Type>(rows, "lt_" + type, [](T a, T b) { return a < b; });
  add<Type, Type>(rows, "eq_" + type, [](T a, T b) { return a == b; });
  add<Type, Type>(rows, "le_" + type, [](T a, T b) { return a <= b; });
  add<Type, Type>(rows, "gt_" + type, [](T a, T b) { return a > b; });
  add<Type, Type>(rows, "ne_" + type, [](T a, T b) { return a != b; });
  add<Type, Type>(rows, "ge_" + type, [](T a, T b) { return a >= b; });
  add<Type, Type>(rows, "t_" + type, [](T, T) { return true; });
}

template <typename Type>
void add_float_comparisons(Operations& rows, const std::string& type) {
  using T = ValueOf<Type>;
  add<Type, Type>(rows, "f_" + type, [](T, T) { return false; });
  add<Type, Type>(rows, "lt_" + type, [](T a, T b) { return a < b; });
  add<Type, Type>(rows, "eq_" + type, [](T a, T b) { return a == b; });
  add<Type, Type>(rows, "le_" + type, [](T a, T b) { return a <= b; });
  add<Type, Type>(rows, "gt_" + type, [](T a, T b) { return a > b; });
  add<Type, Type>(rows, "lg_" + type, [](T a, T b) { return a < b || a > b; });
  add<Type, Type>(rows, "ge_" + type, [](T a, T b) { return a >= b; });
  add<Type, Type>(rows, "o_" + type, [](T a, T b) { return a == a && b == b; });
  add<Type, Type>(rows, "u_" + type, [](T a, T b) { return a != a || b != b; });
  add<Type, Type>(rows, "nge_" + type, [](T a, T b) { return !(a >= b); });
  add<Type, Type>(rows, "nlg_" + type, [](T a, T b) { return !(a < b || a > b); });
  add<Type, Type>(rows, "ngt_" + type, [](T a, T b) { return !(a > b); });
  add<Type, Type>(rows, "nle_" + type, [](T a, T b) { return !(a <= b); });
  add<Type, Type>(rows, "neq_" + type, [](T a, T b) { return !(a == b); });
  add<Type, Type>(rows, "nlt_" + type, [](T a, T b) { return !(a < b); });
  add<Type, Type>(rows, "tru_" + type, [](T, T) { return true; });
  add<Type, Type>(rows, "t_" + type, [](T, T) { return true; });
}

}  // namespace

Operations comparison_operations() {
  Operations rows = {
      KILN_OPERATION("v_cmp_class_f16", classify_half, Writes::kMask),
      KILN_OPERATION("v_cmpx_class_f16", classify_half, Writes::kExec),
  };
  add<F32, U32>(rows, "class_f32", [](float a, u32 b) { return (class_of(a) & b) != 0; });
  add<F64, U32>(rows, "class_f64", [](double a, u32 b) { return (class_of(a) & b) != 0; });
  add_float_comparisons<F32>(rows, "f32");
  add_float_comparisons<F64>(rows, "f64");
  add_float_comparisons<F16>(rows, "f16");
  add_integer_comparisons<I32>(rows, "i32");
  add_integer_comparisons<U32>(rows, "u32");
  add_integer_comparisons<I64>(rows, "i64");
  add_integer_comparisons<U64>(rows, "u64");
  add_integer_comparisons<I16>(rows, "i16");
  add_integer_comparisons<U16>(rows, "u16");
  return rows;
}

}  // namespace kiln::emulator
