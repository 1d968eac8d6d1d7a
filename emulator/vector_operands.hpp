// Reads and writes vector operands for all lanes at once, with types, modifiers, parts of
// registers, and access to neighbouring lanes (DPP).
//
// An instruction starts with begin_vector, reads with read<W, Type>, and ends with write<W, Type>.
// read() returns a pointer to the values of the lanes: the register itself if the values need no
// change, otherwise `buffer`. Loops over lanes are kept simple, so that the compiler can vectorise
// them.
#pragma once

#include <cstring>

#include "emulator/scalar_operands.hpp"

namespace kiln::emulator {

// The type of the values in the lanes. 16-bit values are in the low half of a register, or in the
// high half if op_sel says so. F16 is computed as float; HalfBits is a half as raw bits.
struct U32 {
  using Value = u32;
};
struct I32 {
  using Value = i32;
};
struct F32 {
  using Value = float;
};
struct U64 {
  using Value = u64;
};
struct I64 {
  using Value = i64;
};
struct F64 {
  using Value = double;
};
struct F16 {
  using Value = float;
};
struct HalfBits {
  using Value = u32;
};
struct U16 {
  using Value = u32;
};
struct I16 {
  using Value = i32;
};

// The interpretation of a source of 32 bits or fewer.
enum class Reading : u8 { kBits32, kFloat32, kHalf, kBits16 };

// kKeep: a 16-bit result keeps the upper half of its register on gfx9 too. gfx10 and later always
// keep it.
enum class UpperHalf : bool { kByGeneration, kKeep };

template <int W>
u32* vector_register(const Wave& wave, const Instruction& in, const Operand& operand) {
  if (!operand.is_vector()) {
    raise(wave, in, FaultKind::kUnsupported, "an operand that is no vector register");
  }
  return wave.vector + static_cast<std::size_t>(operand.reg) * W;
}

// Sets wave.write_mask: the active lanes without those that DPP excludes.
template <int W>
void mask_dpp_lanes(Wave& wave, const Instruction& in);
template <int W>
void begin_vector(Wave& wave, const Instruction& in) {
  wave.write_mask = read_exec<W>(wave);
  if (in.lanes != LaneMap::kOwn) [[unlikely]]
    mask_dpp_lanes<W>(wave, in);
}

// Stores `source` as the lanes see it through DPP; 0 for a lane that sees no other lane.
template <int W>
void permute_by_dpp(const Wave& wave, const Instruction& in, const u32* source, u32* result);

template <int W>
void read_bits(const Wave& wave, const Instruction& in, int operand, u32* result, Reading reading);
template <int W>
void read_bits64(const Wave& wave, const Instruction& in, int operand, u64* result, bool is_float,
                 Literal literal);

template <int W>
void write_bits(Wave& wave, const Instruction& in, int operand, const u32* values);
template <int W>
void write_bits64(Wave& wave, const Instruction& in, int operand, const u64* values);
template <int W>
void write_bits16(Wave& wave, const Instruction& in, int operand, const u32* values,
                  UpperHalf upper = UpperHalf::kByGeneration);
// Writes the lanes in `mask`, whatever modifiers the instruction has.
template <int W>
void write_lanes(u32* destination, const u32* values, u64 mask);

// Converts a float to half, with the scaling and clamping of the instruction.
u32 finish_half(const Instruction& in, float x);
inline float scale_output(const Instruction& in, float x) {
  return in.output_scale == 1   ? x * 2
         : in.output_scale == 2 ? x * 4
         : in.output_scale == 3 ? x * .5f
                                : x;
}
inline double scale_output(const Instruction& in, double x) {
  return in.output_scale == 0 ? x
                              : x * (in.output_scale == 1   ? 2.
                                     : in.output_scale == 2 ? 4.
                                                            : .5);
}

template <int W, typename Type>
const typename Type::Value* read(const Wave& wave, const Instruction& in, int operand,
                                 typename Type::Value* buffer) {
  using Value = typename Type::Value;
  constexpr bool kIsDword =
      std::is_same_v<Type, U32> || std::is_same_v<Type, I32> || std::is_same_v<Type, F32>;
  if constexpr (kIsDword) {
    const Operand& source = in.operands[static_cast<std::size_t>(operand)];
    if (source.plain) {
      return reinterpret_cast<const Value*>(wave.vector + static_cast<std::size_t>(source.reg) * W);
    }
    read_bits<W>(wave, in, operand, reinterpret_cast<u32*>(buffer),
                 std::is_same_v<Type, F32> ? Reading::kFloat32 : Reading::kBits32);
  } else if constexpr (sizeof(Value) == 8) {
    read_bits64<W>(wave, in, operand, reinterpret_cast<u64*>(buffer), std::is_same_v<Type, F64>,
                   std::is_same_v<Type, I64> ? Literal::kSignExtend : Literal::kZeroExtend);
  } else if constexpr (std::is_same_v<Type, F16>) {
    u32 bits[W];
    read_bits<W>(wave, in, operand, bits, Reading::kHalf);
    for (int lane = 0; lane < W; ++lane) buffer[lane] = half_to_float(bits[lane]);
  } else if constexpr (std::is_same_v<Type, HalfBits>) {
    read_bits<W>(wave, in, operand, buffer, Reading::kHalf);
  } else {
    u32 bits[W];
    read_bits<W>(wave, in, operand, bits, Reading::kBits16);
    for (int lane = 0; lane < W; ++lane) {
      buffer[lane] = std::is_same_v<Type, I16> ? static_cast<Value>(static_cast<i16>(bits[lane]))
                                               : static_cast<Value>(bits[lane]);
    }
  }
  return buffer;
}

template <int W, typename Type>
void write(Wave& wave, const Instruction& in, int operand, typename Type::Value* values) {
  if constexpr (std::is_same_v<Type, F16>) {
    u32 bits[W];
    for (int lane = 0; lane < W; ++lane) bits[lane] = finish_half(in, values[lane]);
    write_bits16<W>(wave, in, operand, bits);
  } else if constexpr (std::is_same_v<Type, HalfBits>) {
    if (in.output_scale != 0 || in.clamp) [[unlikely]] {
      for (int lane = 0; lane < W; ++lane)
        values[lane] = finish_half(in, half_to_float(values[lane]));
    }
    write_bits16<W>(wave, in, operand, values);
  } else if constexpr (std::is_same_v<Type, U16> || std::is_same_v<Type, I16>) {
    write_bits16<W>(wave, in, operand, reinterpret_cast<const u32*>(values));
  } else {
    if constexpr (std::is_floating_point_v<typename Type::Value>) {
      if (in.output_scale != 0 || in.clamp) [[unlikely]] {
        for (int lane = 0; lane < W; ++lane) {
          const auto scaled = scale_output(in, values[lane]);
          values[lane] = in.clamp ? clamp_to_one(scaled) : scaled;
        }
      }
    }
    if constexpr (sizeof(typename Type::Value) == 8) {
      write_bits64<W>(wave, in, operand, reinterpret_cast<const u64*>(values));
    } else {
      write_bits<W>(wave, in, operand, reinterpret_cast<const u32*>(values));
    }
  }
}

}  // namespace kiln::emulator
