// Moves, shifts and logic.
#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {
namespace {

int bit(Wide x, Wide place) { return static_cast<int>(x >> static_cast<int>(place) & 1); }

// Returns the distance from the top of the first bit for which `is_it` is true; -1 if there is
// none.
template <typename Predicate>
Wide from_top(Wide x, Predicate is_it) {
  for (int i = 0; i < 32; ++i) {
    if (is_it(bit(x, 31 - i))) return i;
  }
  return -1;
}

// Computes v_perm_b32 byte by byte: the selected bytes of a:b.
Wide permuted(Wide a, Wide b, Wide selectors) {
  const auto byte_of = [&](int i) { return ((a << 32) + b) >> (8 * i) & 255; };
  Wide result = 0;
  for (int i = 3; i >= 0; --i) {
    const int selector = static_cast<int>(selectors >> (8 * i) & 255);
    Wide byte = 255;
    if (selector < 8) byte = byte_of(selector);
    if (selector >= 8 && selector < 12) byte = 255 * (byte_of(2 * (selector - 8) + 1) >> 7);
    if (selector == 12) byte = 0;
    result = result * 256 + byte;
  }
  return result;
}

// Copies between vector registers and accumulators, named as in the text.
Formula copy(std::string name, std::string to, std::string from, u32 to_register,
             u32 from_register) {
  return {name, [=] {
            emulator::Bench bench(64);
            for (u32 lane = 0; lane < 64; ++lane) {
              bench.vector(from_register, lane) = 0x87654321 * (lane + 1);
              bench.vector(to_register, lane) = 7;
            }
            bench.wave().scalar[emulator::kExec] = 0xffff0f0f;
            const bool known = bench.run(name + " " + to + ", " + from);
            for (u32 lane = 0; lane < 64; ++lane) {
              const bool active = lane >= 16 || (0x0f0f >> lane & 1) != 0;
              hold_equal(known ? bench.vector(to_register, lane) : 1,
                         active ? u32{0x87654321} * (lane + 1) : 7, [&] { return name; });
            }
          }};
}

void hold_swap() {
  for (const u32 width : {32u, 64u}) {
    emulator::Bench bench(width);
    for (u32 lane = 0; lane < width; ++lane) {
      bench.vector(1, lane) = lane;
      bench.vector(2, lane) = 1000 + lane;
    }
    bench.wave().scalar[emulator::kExec] = 0xaaaaaaaa;
    bench.wave().scalar[emulator::kExec + 1] = 0xaaaaaaaa;
    const bool known = bench.run("v_swap_b32 v1, v2");
    for (u32 lane = 0; lane < width; ++lane) {
      const bool active = lane % 2 != 0 && known;
      hold_equal(bench.vector(1, lane), active ? 1000 + lane : lane, [] { return "v_swap_b32"; });
      hold_equal(bench.vector(2, lane), active ? lane : 1000 + lane, [] { return "v_swap_b32"; });
    }
  }
}

}  // namespace

// clang-format off
Formulas bit_formulas() {
  using U16 = U<16>;
  using U32 = U<32>;
  using U64 = U<64>;
  return {
      vector<Raw<32>, Raw<32>>("v_mov_b32", [](u64 a) { return a; }, {.has_modifiers = false}),
      vector<U64, U64>("v_mov_b64", [](Wide a) { return a; }),
      vector<U16, U16>("v_mov_b16", [](Wide a) { return a; }),
      vector<U32, U32>("v_not_b32", [](Wide a) { return 0xffffffff - a; }),
      vector<U16, U16>("v_not_b16", [](Wide a) { return 0xffff - a; }),
      vector<U32, U32>("v_bfrev_b32", [](Wide a) { Wide r = 0; for (int i = 0; i < 32; ++i) r = 2 * r + bit(a, i); return r; }),
      vector<U32, U32>("v_clz_i32_u32", [](Wide a) { return from_top(a, [](int x) { return x == 1; }); }),
      vector<U32, U32>("v_cls_i32", [](Wide a) { return from_top(a, [a](int x) { return x != bit(a, 31); }); }),
      vector<U32, U32>("v_ctz_i32_b32", [](Wide a) { for (int i = 0; i < 32; ++i) { if (bit(a, i) == 1) return i; } return -1; }),

      vector<U32, U32, U32>("v_and_b32", [](Wide a, Wide b) { return a + b - (a | b); }),
      vector<U32, U32, U32>("v_or_b32", [](Wide a, Wide b) { return a + b - (a & b); }),
      vector<U32, U32, U32>("v_xor_b32", [](Wide a, Wide b) { return a + b - 2 * (a & b); }),
      vector<U32, U32, U32>("v_xnor_b32", [](Wide a, Wide b) { return 0xffffffff - (a + b - 2 * (a & b)); }),
      vector<U16, U16, U16>("v_and_b16", [](Wide a, Wide b) { return a + b - (a | b); }),
      vector<U16, U16, U16>("v_or_b16", [](Wide a, Wide b) { return a + b - (a & b); }),
      vector<U16, U16, U16>("v_xor_b16", [](Wide a, Wide b) { return a + b - 2 * (a & b); }),

      vector<U32, U32, U32>("v_lshlrev_b32", [](Wide n, Wide x) { return x * (Wide{1} << (n % 32)); }),
      vector<U32, U32, U32>("v_lshrrev_b32", [](Wide n, Wide x) { return x / (Wide{1} << (n % 32)); }),
      vector<U32, U32, I<32>>("v_ashrrev_i32", [](Wide n, Wide x) { return x >> (n % 32); }),
      vector<U16, U16, U16>("v_lshlrev_b16", [](Wide n, Wide x) { return x * (Wide{1} << (n % 16)); }),
      vector<U16, U16, U16>("v_lshrrev_b16", [](Wide n, Wide x) { return x / (Wide{1} << (n % 16)); }),
      vector<U16, U16, I<16>>("v_ashrrev_i16", [](Wide n, Wide x) { return x >> (n % 16); }),
      vector<U64, U32, U64>("v_lshlrev_b64", [](Wide n, Wide x) { return static_cast<Wide>(static_cast<UnsignedWide>(x) << (n % 64)); }),
      vector<U64, U32, U64>("v_lshrrev_b64", [](Wide n, Wide x) { return x / (Wide{1} << (n % 64)); }),
      vector<U64, U32, I<64>>("v_ashrrev_i64", [](Wide n, Wide x) { return x >> (n % 64); }),

      vector<U32, U32, U32, U32>("v_lshl_add_u32", [](Wide a, Wide b, Wide c) { return (a << (b % 32)) + c; }),
      vector<U64, U64, U32, U64>("v_lshl_add_u64", [](Wide a, Wide b, Wide c) { return a * (Wide{1} << b) + c; }, {.values = {{}, {0, 1, 2, 3, 4}}}),
      vector<U32, U32, U32, U32>("v_add_lshl_u32", [](Wide a, Wide b, Wide c) { return (a + b) << (c % 32); }),
      vector<U32, U32, U32, U32>("v_lshl_or_b32", [](Wide a, Wide b, Wide c) { return (a << (b % 32)) | c; }),
      vector<U32, U32, U32, U32>("v_and_or_b32", [](Wide a, Wide b, Wide c) { return ~(~(a & b) & ~c); }),
      vector<U32, U32, U32, U32>("v_or3_b32", [](Wide a, Wide b, Wide c) { return ~(~a & ~b & ~c); }),
      vector<U32, U32, U32, U32>("v_xor3_b32", [](Wide a, Wide b, Wide c) { Wide r = 0; for (int i = 31; i >= 0; --i) r = 2 * r + (bit(a, i) + bit(b, i) + bit(c, i)) % 2; return r; }),
      vector<U32, U32, U32, U32>("v_xad_u32", [](Wide a, Wide b, Wide c) { return a + b - 2 * (a & b) + c; }),
      vector<U32, U32, U32, U32>("v_add3_u32", [](Wide a, Wide b, Wide c) { return a + b + c; }),

      vector<U32, U32, U32, U32>("v_bfe_u32", [](Wide x, Wide from, Wide n) { return (x >> (from % 32)) % (Wide{1} << (n % 32)); }),
      vector<U32, I<32>, U32, U32>("v_bfe_i32", [](Wide x, Wide from, Wide n) { const int size = static_cast<int>(n % 32); return size == 0 ? 0 : sign_extended(static_cast<u64>(x >> (from % 32)), size); }),
      vector<U32, U32, U32, U32>("v_bfi_b32", [](Wide mask, Wide a, Wide b) { Wide r = 0; for (int i = 31; i >= 0; --i) r = 2 * r + (bit(mask, i) == 1 ? bit(a, i) : bit(b, i)); return r; }),
      vector<U32, U32, U32>("v_bfm_b32", [](Wide size, Wide from) { return ((Wide{1} << (size % 32)) - 1) << (from % 32); }),
      vector<U32, U32, U32, U32>("v_alignbit_b32", [](Wide a, Wide b, Wide c) { return ((a << 32) + b) >> (c % 32); }),
      vector<U32, U32, U32, U32>("v_alignbyte_b32", [](Wide a, Wide b, Wide c) { return ((a << 32) + b) >> (8 * (c % 4)); }),
      vector<U32, U32, U32, U32>("v_perm_b32", permuted, {.values = {{}, {}, {0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f, 0x10ff070c, 0x0b0a0908, 0x07060504}}}),
      vector<U32, U32, U32>("v_bcnt_u32_b32", [](Wide a, Wide b) { for (int i = 0; i < 32; ++i) b += bit(a, i); return b; }),
      vector<U32, Raw<16>, Raw<16>>("v_pack_b32_f16", [](u64 a, u64 b) { return static_cast<Wide>(b * 65536 + a); }),

      copy("v_accvgpr_read_b32", "v3", "a5", 3, 256 + 5),
      copy("v_accvgpr_write_b32", "a3", "v5", 256 + 3, 5),
      copy("v_accvgpr_mov_b32", "a3", "a5", 256 + 3, 256 + 5),
      {"v_swap_b32", hold_swap},
  };
}
// clang-format on

}  // namespace kiln::formulas
