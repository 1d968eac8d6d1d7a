// The references of quantized kernels: hand-written blocks, published products, the bound for 8-bit
// activations, and faults that must be caught.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>

#include "tests/kernels/quantized_blocks.hpp"
#include "tests/kernels/selftest/fake_device.hpp"

namespace kiln::conformance {
namespace {

void put_half(std::byte* block, std::size_t at, Real value) {
  store(DType::kF16, encode(DType::kF16, value), block + at);
}
void put(std::byte* block, std::size_t at, unsigned byte) {
  block[at] = static_cast<std::byte>(byte);
}

struct Written {
  BlockFormat format;
  std::vector<std::byte> block;
  explicit Written(BlockFormat of) : format(of), block(ops::info(of).bytes) {}
  Real operator()(std::size_t j) const { return value_at(format, block.data(), j).value(); }
};

TEST_CASE("blocks of 32 values, written out") {
  Written q4_0(BlockFormat::kQ4_0);
  put_half(q4_0.block.data(), 0, 0.5L);
  put(q4_0.block.data(), 2 + 3, 0xf1);
  CHECK(q4_0(0) == -4);
  CHECK(q4_0(3) == -3.5L);
  CHECK(q4_0(16 + 3) == 3.5L);

  Written q4_1(BlockFormat::kQ4_1);
  put_half(q4_1.block.data(), 0, 0.5L);
  put_half(q4_1.block.data(), 2, -2);
  put(q4_1.block.data(), 4 + 15, 0x9f);
  CHECK(q4_1(0) == -2);
  CHECK(q4_1(15) == 5.5L);
  CHECK(q4_1(31) == 2.5L);

  Written q5_0(BlockFormat::kQ5_0);
  put_half(q5_0.block.data(), 0, -1);
  put(q5_0.block.data(), 2 + 1, 0x01);  // bit 8
  put(q5_0.block.data(), 2 + 3, 0x80);  // bit 31
  put(q5_0.block.data(), 6 + 8, 0x05);
  put(q5_0.block.data(), 6 + 15, 0x70);
  CHECK(q5_0(0) == 16);
  CHECK(q5_0(8) == -5);
  CHECK(q5_0(31) == -7);

  Written q5_1(BlockFormat::kQ5_1);
  put_half(q5_1.block.data(), 0, 2);
  put_half(q5_1.block.data(), 2, 1);
  put(q5_1.block.data(), 4 + 2, 0x02);  // bit 17
  put(q5_1.block.data(), 8 + 1, 0x30);
  CHECK(q5_1(1) == 1);
  CHECK(q5_1(17) == 39);

  Written q8_0(BlockFormat::kQ8_0);
  put_half(q8_0.block.data(), 0, 0.25L);
  put(q8_0.block.data(), 2 + 31, 0x80);
  CHECK(q8_0(31) == -32);
}

TEST_CASE("blocks of numbers of a table, written out") {
  Written iq4_nl(BlockFormat::kIQ4_NL);
  put_half(iq4_nl.block.data(), 0, 0.5L);
  put(iq4_nl.block.data(), 2 + 3, 0xf1);
  CHECK(iq4_nl(0) == -63.5L);
  CHECK(iq4_nl(3) == -52);
  CHECK(iq4_nl(16 + 3) == 56.5L);

  Written mxfp4(BlockFormat::kMXFP4);
  put(mxfp4.block.data(), 0, 130);
  put(mxfp4.block.data(), 1 + 15, 0xd7);
  CHECK(mxfp4(0) == 0);
  CHECK(mxfp4(15) == 4 * 12);  // 2^3 times 6
  CHECK(mxfp4(31) == 4 * -6);
  put(mxfp4.block.data(), 0, 0);
  CHECK(mxfp4(15) == std::ldexp(12.0L, -128));
}

TEST_CASE("blocks of 256 values, written out") {
  Written q2_k(BlockFormat::kQ2_K);
  put(q2_k.block.data(), 13, 0x53);            // of values 208 to 223
  put(q2_k.block.data(), 16 + 32 + 17, 0x20);  // r = 17 + 64 of the second half
  put_half(q2_k.block.data(), 80, 0.5L);
  put_half(q2_k.block.data(), 82, 2);
  CHECK(q2_k(128 + 17 + 64) == 0.5L * 3 * 2 - 2 * 5);
  CHECK(q2_k(128 + 17) == 0);

  Written q3_k(BlockFormat::kQ3_K);
  put_half(q3_k.block.data(), 108, 1);
  put(q3_k.block.data(), 96 + 3, 0x50);        // number 11: lower four bits 5
  put(q3_k.block.data(), 96 + 8 + 3, 0x30);    // upper two bits 3: 53
  put(q3_k.block.data(), 32 + 32 + 20, 0x0c);  // value 128 + 32 + 20 = 180, of number 11
  CHECK(q3_k(180) == (53 - 32) * (3 - 4));
  put(q3_k.block.data(), 20, 0x20);  // the third bit of its quant, 180 / 32 = 5
  CHECK(q3_k(180) == (53 - 32) * 3);
  CHECK(q3_k(0) == -32 * -4);

  for (const BlockFormat format : {BlockFormat::kQ4_K, BlockFormat::kQ5_K}) {
    Written block(format);
    const std::size_t qs = format == BlockFormat::kQ5_K ? 48 : 16;
    put_half(block.block.data(), 0, 0.5L);
    put_half(block.block.data(), 2, 0.25L);
    put(block.block.data(), 4 + 1, 0x80 | 40);   // scale 1, upper bits of scale 5
    put(block.block.data(), 4 + 5, 0xc0 | 11);   // minimum 1, upper bits of minimum 5
    put(block.block.data(), 4 + 9, 0x27);        // lower bits of minimum 5 and scale 5
    put(block.block.data(), qs + 7, 0xd0);       // values 7 and 39
    put(block.block.data(), qs + 64 + 7, 0x90);  // values 135 and 167
    CHECK(block(39) == 0.5L * 40 * 13 - 0.25L * 11);
    CHECK(block(167) == 0.5L * (7 | 2 << 4) * 9 - 0.25L * (2 | 3 << 4));
    if (format == BlockFormat::kQ4_K) continue;
    put(block.block.data(), 16 + 7, 0x22);  // fifth bits of values 39 and 167
    CHECK(block(39) == 0.5L * 40 * 29 - 0.25L * 11);
    CHECK(block(167) == 0.5L * (7 | 2 << 4) * 25 - 0.25L * (2 | 3 << 4));
  }

  Written q6_k(BlockFormat::kQ6_K);
  put_half(q6_k.block.data(), 208, 0.5L);
  put(q6_k.block.data(), 192 + 14, 0xfd);      // -3, of values 224 to 239
  put(q6_k.block.data(), 64 + 40, 0xb0);       // values 128 + 40 and 128 + 104 = 232
  put(q6_k.block.data(), 128 + 32 + 8, 0x80);  // the upper bits of r = 8 + 96 = 104
  CHECK(q6_k(232) == 0.5L * -3 * ((11 | 2 << 4) - 32));

  Written q8_k(BlockFormat::kQ8_K);
  const float d = 1e-30f;
  std::memcpy(q8_k.block.data(), &d, sizeof d);
  put(q8_k.block.data(), 4 + 255, 0xff);
  CHECK(q8_k(255) == -static_cast<Real>(d));
}

// A row and the vector that it is multiplied by.
struct Pair {
  QuantizedRow row;
  std::vector<float> x;
  std::vector<std::byte> activations;
};
Pair random_pair(BlockFormat format, std::size_t columns, Random& random) {
  Pair made;
  const std::vector<std::byte> blocks =
      random_blocks(format, BlockKind::kUsual, columns / ops::info(format).values, random);
  made.row = row_of_blocks(format, blocks.data(), columns);
  made.activations.resize(columns / 32 * kActivationBytes);
  for (std::size_t j = 0; j < columns; ++j) {
    made.x.push_back(static_cast<float>(random.uniform(-1, 2)));
  }
  for (std::size_t first = 0; first < columns; first += 32) {
    store(quantized(&made.x[first]), &made.activations[first / 32 * kActivationBytes]);
  }
  return made;
}

TEST_CASE("a product with 8-bit activations lies within its format's bound of the one without") {
  Random random(31);
  for (const ops::BlockFormatInfo& format : ops::kBlockFormats) {
    INFO(format.name);
    Real worst = 0;
    for (int round = 0; round < 20; ++round) {
      const Pair pair = random_pair(format.format, format.values, random);
      const Real with = product(format.format, pair.row, pair.activations.data()).value;
      const Real without = product(pair.row, pair.x.data()).value;
      worst = std::max(worst, std::fabs(with - without) /
                                  eight_bit_error(format.format, pair.row, pair.x.data()));
    }
    CHECK(worst < 1);
    CHECK(worst > 0.002L);  // so the bound is not too loose
  }
}

// ---- faults -----------------------------------------------------------------------------------

// True if the suite rejects a result whose last element is `value`.
bool is_caught(const std::string& kernel, const std::string& rest, Real value) {
  const PreparedCase subject = build("quantized", kernel + rest);
  return !run_flawed(subject, [&](const Piece&, const Piece& out) {
            out.write_number(out.count() - 1, value);
          }).complaints.empty();
}

// The same, with a last result that `compute` computes from the operands of the case.
template <typename Compute>
bool is_caught_with(const std::string& name, Compute compute) {
  const PreparedCase subject = build("quantized", name);
  const auto content = [&](std::size_t i) { return subject.subject.operands[i].content.data(); };
  return is_caught(name.substr(0, name.find('/')), name.substr(name.find('/')),
                   compute(content(0), content(1)));
}

TEST_CASE("suite catches a zero point that is taken times the quants, and not times their sum") {
  const auto product_of = [](bool by_sum) {
    return [=](const std::byte* weights, const std::byte* activations) {
      // The last of three rows of 288.
      const QuantizedRow row = row_of_blocks(BlockFormat::kQ4_0, weights + 2 * 9 * 18, 288);
      Real value = product(BlockFormat::kQ4_0, row, activations).value;
      for (std::size_t first = 0; first < row.size() && !by_sum; first += 32) {
        const Activation x = load_activation(activations + first / 32 * kActivationBytes);
        for (const int quant : x.quants) value -= row[first].scale * 8 * x.step() * quant;
        value += row[first].scale * 8 * x.sum();
      }
      return value;
    };
  };
  CHECK_FALSE(is_caught_with("mul_mat_vec_q4_0_q8_1_cuda1/3x288/own", product_of(true)));
  CHECK(is_caught_with("mul_mat_vec_q4_0_q8_1_cuda1/3x288/own", product_of(false)));
}

TEST_CASE("suite catches experts that lie apart as if blocks had 256 values") {
  const auto product_of = [](std::size_t expert_bytes) {
    return [=](const std::byte* weights, const std::byte* activations) {
      // The expert of the last task is number 2, and its activation is the second.
      const std::byte* const rows = weights + 2 * expert_bytes;
      const QuantizedRow row = row_of_blocks(BlockFormat::kQ8_0, rows + 4 * 3 * 34, 96);
      return product(BlockFormat::kQ8_0, row, activations + 16 * kActivationBytes).value;
    };
  };
  const std::string name = "indexed_moe_forward_q8_0_q8_1/5x96/tasks=2x2/own";
  CHECK_FALSE(is_caught_with(name, product_of(5 * 3 * 34)));
  CHECK(is_caught_with(name, product_of(0)));
}

TEST_CASE("suite catches a second row that is written where there is none") {
  const PreparedCase subject =
      build("quantized", "mul_mat_vec_q6_K_q8_1_cuda2/5x256/dst-stride=7/special/reference");
  CHECK(run_flawed(subject, nullptr).complaints.empty());
  CHECK_FALSE(run_flawed(subject, [](const Piece&, const Piece& out) {
                out.write_number(5, 1);
              }).complaints.empty());
}

TEST_CASE("suite catches a quant one off, a step of the rounded d, and a product a 2000th off") {
  const PreparedCase quantize = build("quantized", "quantize_q8_1/3x512/own");
  for (const std::size_t at : {2u, 17u, 18u}) {  // quants, the next block's d
    CHECK_FALSE(run_flawed(quantize, [&](const Piece&, const Piece& out) {
                  out.write(at, out.read(at) ^ 1);
                }).complaints.empty());
  }
  const PreparedCase product = build("quantized", "mul_mat_q5_K/17x256/vectors=33/own");
  CHECK_FALSE(run_flawed(product, [&](const Piece&, const Piece& out) {
                out.write_number(20, static_cast<Real>(out.number(20)) * (1 + 5e-4L));
              }).complaints.empty());
}

}  // namespace
}  // namespace kiln::conformance
