// Products of matrices: the lane and register of each element, and the terms of each sum. The
// elements are small integers, so that every sum is exact in any order.
#include <array>

#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"
#include "tests/emulator/formulas/spaces.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

// The element type of the factors.
enum class Element : u8 { kHalf, kBfloat, kFloat, kI8, kU8, kI4, kU4 };
int bits_of(Element type) {
  if (type == Element::kFloat) return 32;
  if (type == Element::kI8 || type == Element::kU8) return 8;
  return type == Element::kI4 || type == Element::kU4 ? 4 : 16;
}
u64 encoded(Element type, int x) {
  if (type == Element::kFloat) return round_to(x, kSingle);
  if (type == Element::kHalf) return round_to(x, kHalf);
  if (type == Element::kBfloat) return round_to(x, kBfloat);
  return low_bits(x, bits_of(type));
}

// Returns an element of a factor or of the addend that fits into the type.
int element(Element type, int row, int column, int seed) {
  u64 state = static_cast<u64>(row * 1000 + column * 10 + seed);
  const u64 random = next_random(state) >> 20;
  switch (type) {
    case Element::kU8: return static_cast<int>(random % 256);
    case Element::kI8: return static_cast<int>(random % 256) - 128;
    case Element::kU4: return static_cast<int>(random % 16);
    case Element::kI4: return static_cast<int>(random % 16) - 8;
    default: return static_cast<int>(random % 17) - 8;
  }
}

struct Product {
  std::string name;
  int size;   // rows and columns of the result
  int depth;  // of the sum
  Element first, second;
  bool is_integer;
  std::string modifiers = {};
};

// The layout of the elements. For a factor: the lane and the position of element (i, k), where i is
// the row of the first factor or the column of the second.
struct Layout {
  u32 width;
  int lanes_of_depth;  // groups of lanes that hold different k; 1: all lanes hold every k
  int group;           // number of consecutive k in a lane
  int result_registers;
  int (*result_row)(int reg, int lane, int size);
};

constexpr u32 kFirst = 0, kSecond = 16, kAddend = 32;

// Stores the elements of a factor in registers from `first` on.
void put_factor(Bench& bench, const Product& product, const Layout& layout, u32 first,
                bool transposed) {
  const Element type = transposed ? product.second : product.first;
  const int bits = bits_of(type);
  for (u32 lane = 0; lane < layout.width; ++lane) {
    const int i = static_cast<int>(lane) % product.size;
    const int begin =
        layout.lanes_of_depth == 1 ? 0 : static_cast<int>(lane) / product.size * layout.group;
    for (int part = 0; part < layout.group; ++part) {
      const int k = begin + part;
      const int x = transposed ? element(type, k, i, 2) : element(type, i, k, 1);
      const u32 reg = first + static_cast<u32>(part * bits / 32);
      const int shift = part * bits % 32;
      const u64 kept = shift == 0 ? 0 : bench.vector(reg, lane);
      bench.vector(reg, lane) = static_cast<u32>(kept | encoded(type, x) << shift);
    }
  }
}

int exact_sum(const Product& product, int row, int column) {
  int total = element(Element::kI8, row, column, 3);
  for (int k = 0; k < product.depth; ++k)
    total += element(product.first, row, k, 1) * element(product.second, k, column, 2);
  return total;
}

void hold_product(const Product& product, const Layout& layout) {
  Bench bench(layout.width);
  // Matrix instructions ignore EXEC, but compilers set it anyway.
  put_factor(bench, product, layout, kFirst, false);
  put_factor(bench, product, layout, kSecond, true);
  const auto encoded_result = [&](int x) {
    return product.is_integer ? low_bits(x, 32) : round_to(x, kSingle);
  };
  for (u32 lane = 0; lane < layout.width; ++lane) {
    for (int reg = 0; reg < layout.result_registers; ++reg) {
      const int row = layout.result_row(reg, static_cast<int>(lane), product.size);
      const int column = static_cast<int>(lane) % product.size;
      bench.vector(kAddend + static_cast<u32>(reg), lane) =
          static_cast<u32>(encoded_result(element(Element::kI8, row, column, 3)));
    }
  }
  const auto factor = [&](u32 first, Element type) {
    return registers(first, static_cast<u32>(layout.group * bits_of(type) + 31) / 32);
  };
  const std::string addend = registers(kAddend, static_cast<u32>(layout.result_registers));
  const std::string text = product.name + " " + addend + ", " + factor(kFirst, product.first) +
                           ", " + factor(kSecond, product.second) + ", " + addend +
                           product.modifiers;
  const bool known = bench.run(text);
  for (u32 lane = 0; lane < layout.width; ++lane) {
    for (int reg = 0; reg < layout.result_registers; ++reg) {
      const int row = layout.result_row(reg, static_cast<int>(lane), product.size);
      const u64 expected =
          encoded_result(exact_sum(product, row, static_cast<int>(lane) % product.size));
      const auto what = [&] {
        return text + ", register " + std::to_string(reg) + ", lane " + std::to_string(lane);
      };
      if (!hold_equal(known ? bench.vector(kAddend + static_cast<u32>(reg), lane) : ~expected,
                      expected, what))
        return;
    }
  }
}

// v_mfma, in waves of 64 lanes: a lane holds a row (or column) of `size`, and groups of lanes hold
// the depth. Four consecutive rows of the result are in four registers; the next rows are in the
// next group of lanes.
int mfma_row(int reg, int lane, int size) {
  return reg / 4 * 4 * (64 / size) + lane / size * 4 + reg % 4;
}
Formula mfma(const std::string& name, int size, int depth, Element type, bool is_integer = false) {
  return {name, [=] {
            const int groups = 64 / size;
            hold_product({name, size, depth, type, type, is_integer},
                         {64, groups, depth / groups, size * size / 64, mfma_row});
          }};
}

// v_wmma, in waves of 32 lanes: each half holds the whole factor, and the rows of the result
// alternate between the halves.
int wmma_row(int reg, int lane, int) { return reg * 2 + lane / 16; }
constexpr Layout kWmma = {32, 1, 16, 8, wmma_row};
void hold_wmma(const Product& product) { hold_product(product, kWmma); }
Formula wmma(const std::string& name, Element type) {
  return {name, [=] { hold_wmma({name, 16, 16, type, type, false}); }};
}
// Bits of neg_lo say whether the factors are signed.
Formula wmma_integers(const std::string& name, Element is_unsigned, Element is_signed) {
  return {name, [=] {
            hold_wmma({name, 16, 16, is_unsigned, is_unsigned, true});
            hold_wmma({name, 16, 16, is_signed, is_unsigned, true, " neg_lo:[1,0,0]"});
            hold_wmma({name, 16, 16, is_unsigned, is_signed, true, " neg_lo:[0,1,0]"});
            hold_wmma({name, 16, 16, is_signed, is_signed, true, " neg_lo:[1,1,0]"});
          }};
}

// 16-bit results: op_sel[2] selects the half of the registers for the results and the addend.
Formula wmma_of_16_bits(const std::string& name, Element type) {
  return {
      name, [=] {
        const Product product{name, 16, 16, type, type, false};
        const Format format = type == Element::kHalf ? kHalf : kBfloat;
        for (const u32 upper : {0u, 1u}) {
          Bench bench(kWmma.width);
          put_factor(bench, product, kWmma, kFirst, false);
          put_factor(bench, product, kWmma, kSecond, true);
          const auto each = [&](auto function) {
            for (u32 lane = 0; lane < kWmma.width; ++lane) {
              for (int reg = 0; reg < kWmma.result_registers; ++reg)
                function(bench.vector(kAddend + static_cast<u32>(reg), lane),
                         wmma_row(reg, static_cast<int>(lane), 16), static_cast<int>(lane) % 16);
            }
          };
          each([&](u32& word, int row, int column) {
            const u64 x = round_to(element(Element::kI8, row, column, 3), format);
            word = static_cast<u32>(upper != 0 ? x << 16 | 0x1234 : x | 0xabcd0000);
          });
          const std::string addend = registers(kAddend, static_cast<u32>(kWmma.result_registers));
          const std::string text = name + " " + addend + ", v[0:7], v[16:23], " + addend +
                                   (upper != 0 ? " op_sel:[0,0,1]" : "");
          const bool known = bench.run(text);
          each([&](u32& word, int row, int column) {
            const u64 x = round_to(exact_sum(product, row, column), format);
            const u64 expected = upper != 0 ? x << 16 | 0x1234 : x | 0xabcd0000;
            hold_equal(known ? word : ~expected, expected, [&] { return text; });
          });
        }
      }};
}

}  // namespace

Formulas matrix_formulas() {
  return {
      wmma("v_wmma_f32_16x16x16_f16", Element::kHalf),
      wmma("v_wmma_f32_16x16x16_bf16", Element::kBfloat),
      wmma_of_16_bits("v_wmma_f16_16x16x16_f16", Element::kHalf),
      wmma_of_16_bits("v_wmma_bf16_16x16x16_bf16", Element::kBfloat),
      wmma_integers("v_wmma_i32_16x16x16_iu8", Element::kU8, Element::kI8),
      wmma_integers("v_wmma_i32_16x16x16_iu4", Element::kU4, Element::kI4),
      mfma("v_mfma_f32_32x32x8f16", 32, 8, Element::kHalf),
      mfma("v_mfma_f32_16x16x16f16", 16, 16, Element::kHalf),
      mfma("v_mfma_f32_32x32x8bf16_1k", 32, 8, Element::kBfloat),
      mfma("v_mfma_f32_16x16x16bf16_1k", 16, 16, Element::kBfloat),
      mfma("v_mfma_f32_32x32x4bf16", 32, 4, Element::kBfloat),
      mfma("v_mfma_f32_16x16x8bf16", 16, 8, Element::kBfloat),
      mfma("v_mfma_f32_32x32x2f32", 32, 2, Element::kFloat),
      mfma("v_mfma_f32_16x16x4f32", 16, 4, Element::kFloat),
      mfma("v_mfma_i32_32x32x8i8", 32, 8, Element::kI8, true),
      mfma("v_mfma_i32_16x16x16i8", 16, 16, Element::kI8, true),
  };
}

}  // namespace kiln::formulas
