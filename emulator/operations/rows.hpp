// Makes a row of a vector instruction from a formula for one lane:
//
//   binary<U32, U32, U32>("v_and_b32", [](u32 a, u32 b) { return a & b; })
//
// The types say that the result and both sources have 32 bits.
#pragma once

#include "emulator/operation.hpp"
#include "emulator/vector_operands.hpp"

namespace kiln::emulator {

template <typename Type>
using ValueOf = typename Type::Value;

template <int W, typename D, typename A, typename F>
void run_unary(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  ValueOf<A> a_buffer[W];
  ValueOf<D> result[W];
  const ValueOf<A>* a = read<W, A>(wave, in, 1, a_buffer);
  for (int lane = 0; lane < W; ++lane) result[lane] = static_cast<ValueOf<D>>(F{}(a[lane]));
  write<W, D>(wave, in, 0, result);
}

template <int W, typename D, typename A, typename B, typename F>
void run_binary(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  ValueOf<A> a_buffer[W];
  ValueOf<B> b_buffer[W];
  ValueOf<D> result[W];
  const ValueOf<A>* a = read<W, A>(wave, in, 1, a_buffer);
  const ValueOf<B>* b = read<W, B>(wave, in, 2, b_buffer);
  for (int lane = 0; lane < W; ++lane)
    result[lane] = static_cast<ValueOf<D>>(F{}(a[lane], b[lane]));
  write<W, D>(wave, in, 0, result);
}

template <int W, typename D, typename A, typename B, typename C, typename F>
void run_ternary(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  ValueOf<A> a_buffer[W];
  ValueOf<B> b_buffer[W];
  ValueOf<C> c_buffer[W];
  ValueOf<D> result[W];
  const ValueOf<A>* a = read<W, A>(wave, in, 1, a_buffer);
  const ValueOf<B>* b = read<W, B>(wave, in, 2, b_buffer);
  const ValueOf<C>* c = read<W, C>(wave, in, 3, c_buffer);
  for (int lane = 0; lane < W; ++lane) {
    result[lane] = static_cast<ValueOf<D>>(F{}(a[lane], b[lane], c[lane]));
  }
  write<W, D>(wave, in, 0, result);
}

// The third source is the old value of the destination, without modifiers.
template <int W, typename D, typename A, typename B, typename F>
void run_accumulate(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  ValueOf<A> a_buffer[W];
  ValueOf<B> b_buffer[W];
  ValueOf<D> result[W];
  const ValueOf<A>* a = read<W, A>(wave, in, 1, a_buffer);
  const ValueOf<B>* b = read<W, B>(wave, in, 2, b_buffer);
  const u32* old = vector_register<W>(wave, in, in.operands[0]);
  for (int lane = 0; lane < W; ++lane) {
    ValueOf<D> c;
    if constexpr (sizeof(c) == 8) {
      c = double_of(combine(old[lane], old[lane + W]));
    } else {
      c = float_of(old[lane]);
    }
    result[lane] = F{}(a[lane], b[lane], c);
  }
  write<W, D>(wave, in, 0, result);
}

template <typename D, typename A, typename F>
Operation unary(std::string_view name, F) {
  return {std::string(name), run_unary<32, D, A, F>, run_unary<64, D, A, F>};
}
template <typename D, typename A, typename B, typename F>
Operation binary(std::string_view name, F) {
  return {std::string(name), run_binary<32, D, A, B, F>, run_binary<64, D, A, B, F>};
}
template <typename D, typename A, typename B, typename C, typename F>
Operation ternary(std::string_view name, F) {
  return {std::string(name), run_ternary<32, D, A, B, C, F>, run_ternary<64, D, A, B, C, F>};
}
template <typename D, typename A, typename B, typename F>
Operation accumulate(std::string_view name, F) {
  return {std::string(name), run_accumulate<32, D, A, B, F>, run_accumulate<64, D, A, B, F>};
}

}  // namespace kiln::emulator

// A row whose handler is the template `function`, with the wave width as its first parameter.
#define KILN_OPERATION(name, function, ...)                                                      \
  ::kiln::emulator::Operation {                                                            \
    name, function<32 __VA_OPT__(, ) __VA_ARGS__>, function<64 __VA_OPT__(, ) __VA_ARGS__> \
  }
