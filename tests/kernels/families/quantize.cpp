// quantize_q8_1: rows of f32 to blocks of Q8_1.
//
// Contract: d, the largest magnitude / 127 in f32, and x / d are correctly rounded, with halves of
// x / d away from zero. So d and the quants are the same everywhere. s is the sum of the values in
// f32, in any order. If d is subnormal in f32, and 0 in f16, the quants are not specified.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "kiln/ops/quantized.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/quantized_blocks.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

struct QuantizeCase {
  std::size_t rows, columns;
  std::size_t padded = 0;
  GridChoice grid = own_grid();
  std::size_t misalignment = 0;
  bool ends_memory = false;
  bool is_published = false;  // 0, 1, 2, ...

  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/" + shape_name({rows, columns});
    if (padded != 0) text += "/padded=" + std::to_string(padded);
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    if (ends_memory) text += "/at-the-end";
    if (is_published) text += "/published";
    return text + "/" + grid.name;
  }
};

// Successive groups of 32 values have successive kinds: the sign of the largest value, halves,
// steps at the limits of f16 or f32, sums that cancel.
float value_of(std::size_t group, std::size_t j, Random& random) {
  const auto normal = static_cast<float>(random.uniform(-3, 3));
  switch (group % 8) {
    case 0: return normal;
    case 1: return j % 3 == 1 ? -0.0f : 0.0f;
    // d is 1: there are halves of both signs.
    case 2: return j == 7 ? -127.0f : static_cast<float>(random.below(250)) / 2 - 62;
    case 3: return normal * 1e-4f;
    case 4: return normal * 3e6f;
    case 5: return normal * 1e-41f;
    case 6: return j % 2 == 0 ? 100.0f + normal : -100.0f;
    default: return j == 31 ? -1e4f : normal;
  }
}

// A sum of 32 values, in any order.
Expected expected_sum(const float* x, Bits sum) {
  Real magnitude = 0, exact = 0;
  for (std::size_t j = 0; j < 32; ++j) {
    exact += static_cast<Real>(x[j]);
    magnitude += std::fabs(static_cast<Real>(x[j]));
  }
  bool is_whole = magnitude < 0x1p24L;
  for (std::size_t j = 0; j < 32; ++j) is_whole = is_whole && std::trunc(x[j]) == x[j];
  if (is_whole) return Expected::within(DType::kF16, decode(DType::kF16, sum));
  return Expected::within(DType::kF16, exact, {0, 0, 31 * rounding_error(DType::kF32) * magnitude});
}

Case build(std::string name, const QuantizeCase& choice, const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const std::size_t padded =
      choice.padded != 0 ? choice.padded : ops::padded_columns(choice.columns);
  auto x = std::make_shared<std::vector<float>>(choice.rows * choice.columns);
  for (std::size_t i = 0; i < x->size(); ++i) {
    const std::size_t r = i / choice.columns, c = i % choice.columns;
    (*x)[i] = choice.is_published ? static_cast<float>(c)
                                  : value_of(c / 32 + 3 * r + choice.rows, c % 32, random);
  }
  std::vector<std::byte> content(x->size() * 4);
  std::memcpy(content.data(), x->data(), content.size());
  made.operands.push_back(input("x", DType::kF32, std::move(content), choice.misalignment));
  made.operands.back().ends_memory = choice.ends_memory;
  // In pieces of two bytes: d, s, and sixteen pairs of quants.
  Operand vy{"vy", DType::kF16, poison(choice.rows * padded / 32 * kActivationBytes, random)};
  vy.expected = [=] {
    std::vector<Expected> expected;
    for (std::size_t r = 0; r < choice.rows; ++r) {
      for (std::size_t first = 0; first < padded; first += 32) {
        float group[32] = {};
        for (std::size_t j = 0; j < 32 && first + j < choice.columns; ++j) {
          group[j] = (*x)[r * choice.columns + first + j];
        }
        const Activation right = quantized(group);
        std::byte block[kActivationBytes];
        store(right, block);
        expected.push_back(Expected::exactly(right.d));
        expected.push_back(expected_sum(group, right.s));
        for (std::size_t at = 4; at < kActivationBytes; at += 2) {
          expected.push_back(right.is_tiny ? Expected::anything()
                                           : Expected::exactly(load(DType::kF16, block + at)));
        }
      }
    }
    return expected;
  };
  made.operands.push_back(std::move(vy));
  made.plan = [=](const std::vector<void*>& addresses) {
    ops::QuantizeQ8_1 call;
    call.rows = choice.rows;
    call.columns = choice.columns;
    call.padded = choice.padded;
    call.x = addresses[0];
    call.out = addresses[1];
    call.geometry = choice.grid.geometry;
    Result<ops::Launch> launch = plan(call);
    if (launch) {
      const std::uint32_t rows = launch->grid.y;
      choice.grid.apply(*launch);
      launch->grid.y = rows;
    }
    return launch;
  };
  return made;
}

QuantizeCase random_quantize_case(Draw& draw) {
  const ops::Extents dims = draw.dims(2, 2);
  QuantizeCase choice{std::min(dims[0], kMaxActivationRows), dims[1]};
  if (draw.one_in(2)) choice.padded = (choice.columns + 31) / 32 * 32 + 32 * draw.below(5);
  if (draw.one_in(3)) choice.grid = reference_grid();
  if (draw.one_in(4)) {
    const auto eights = static_cast<std::uint32_t>(draw.size(128));
    choice.grid = grid_of(static_cast<std::uint32_t>(draw.size(20)), 8 * eights);
  }
  choice.misalignment = draw.misalignment();
  choice.ends_memory = draw.one_in(3);
  return choice;
}

std::vector<QuantizeCase> quantize_cases(const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_quantize_case(*wanted.draw)};
  return {{1, 256, 0, reference_grid(), 0, false, true},
          {3, 512},
          {2, 700, 0, reference_grid(), 0, true},
          {5, 33, 64, own_grid(), 1, true},
          {1, 1, 32, reference_grid()},
          {3, 250, 256, grid_of(1, 64)},
          {2, 150, 160, grid_of(2, 96), 2, true},
          {4097, 1001, 1024, own_grid(), 0, true}};
}

}  // namespace

bool add_quantize_cases(std::string_view kernel, const Wanted& wanted,
                        std::vector<CaseSpec>& cases) {
  if (kernel != "quantize_q8_1") return false;
  for (const QuantizeCase& choice : quantize_cases(wanted)) {
    const std::string name = choice.name(kernel);
    cases.push_back({name, choice.rows * choice.columns,
                     [=](const Seed& seed) { return build(name, choice, seed); }});
  }
  return true;
}

Contracts quantize_contracts() {
  return {{"quantize_q8_1", "d = max abs x / 127, q = round(x / d), s = Σ x, of 32 values", "f32",
           "d and q exact; s a half unit for each term",
           "halves away from zero; all 0: d and q are 0; q of a subnormal d, NaN and infinities: "
           "not said",
           "Kept: rows are padded by zeros; d is stored as f16, and q made with d before."}};
}

}  // namespace kiln::conformance
