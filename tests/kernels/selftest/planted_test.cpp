// Planted faults, each caught by name: a bound that is too wide, an operation that rounds twice, a
// kernel that a table omits, a dtype that one place lacks.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>

#include "kiln/ops/unary.hpp"
#include "ops/src/own_kernels.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/families/unary_reference.hpp"
#include "tests/kernels/selftest/abi.hpp"
#include "tests/kernels/selftest/fake_device.hpp"

namespace kiln::conformance {
namespace {

using ops::UnaryOp;

Expected reference(UnaryOp op, DType dtype, Real inp) {
  return unary_reference(op, dtype, encode(dtype, inp), encode(dtype, 1));
}

TEST_CASE("a bound of a step beside the half is caught in every unary operation of 16 bits") {
  for (const ops::UnaryOpInfo& op : ops::kUnaryOps) {
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
      INFO(op.root << " of " << name(dtype));
      std::size_t doubtful = 0;  // inputs with two right results, one on each side of a tie
      for (Bits inp = 0; inp < 65536; inp += 7) {
        const Expected expected = unary_reference(op.op, dtype, inp, encode(dtype, 0.3L));
        const Bits example = expected.example();
        if (op.op == UnaryOp::kCopy || is_nan(dtype, example)) continue;
        const std::int64_t position = ordinal(dtype, example);
        const bool above = expected.admits(dtype, from_ordinal(dtype, position + 1));
        const bool below = expected.admits(dtype, from_ordinal(dtype, position - 1));
        const std::int64_t last = max_ordinal(dtype);
        if (std::abs(position) == last) continue;
        CHECK_FALSE((above && below));
        doubtful += above || below ? 1 : 0;
      }
      // 2^-16 of the result is 1/32 of a step of f16, on each side of a tie.
      CHECK(doubtful < 65536 / 7 / 10);
    }
  }
}

TEST_CASE("gelu_bf16 of -3.1875 is not 0, and gelu_f32 has no absolute error in its tail") {
  const Expected narrow = reference(UnaryOp::kGeluTanh, DType::kBF16, -3.1875L);
  CHECK_FALSE(narrow.admits(DType::kBF16, 0));
  CHECK(narrow.admits(DType::kBF16, encode(DType::kBF16, -0.00195229L)));
  const Expected tail = reference(UnaryOp::kGeluTanh, DType::kF32, -5);
  CHECK(tail.admits(DType::kF32, encode(DType::kF32, -2.2917960e-7L)));
  CHECK_FALSE(tail.admits(DType::kF32, encode(DType::kF32, -9.3e-7L)));
  CHECK_FALSE(tail.admits(DType::kF32, 0));
}

TEST_CASE("a bound of a step beside the half is caught in affine, binary and cast of 16 bits") {
  std::size_t kernels = 0;
  for (const ops::OwnKernel& own : ops::kOwnKernels) {
    const bool is_exact = own.module == "affine" || own.module == "binary" || own.module == "cast";
    if (!is_exact || !is_float(own.out) || size_of(own.out) != 2) continue;
    ++kernels;
    INFO(own.name);
    const bool is_tiled = own.root == "cast_tiles";
    const PreparedCase subject =
        build(own.module, std::string(own.name) +
                              (is_tiled ? "/transposed/33x65/own" : "/contiguous/n=1025/own"));
    std::size_t doubtful = 0;
    for (const Expected& expected : subject.placed.back().expected) {
      const Bits example = expected.example();
      if (is_nan(own.out, example)) continue;
      const std::int64_t position = ordinal(own.out, example);
      if (std::abs(position) == max_ordinal(own.out)) continue;
      const bool above = expected.admits(own.out, from_ordinal(own.out, position + 1));
      const bool below = expected.admits(own.out, from_ordinal(own.out, position - 1));
      CHECK_FALSE((above && below));
      doubtful += above || below ? 1 : 0;
    }
    CHECK(doubtful < 1025 / 10);
  }
  CHECK(kernels == 2 + 2 * 6 + 7 + 7 + 8);
}

// Returns the scalar that the launch of a case passes.
Real scalar_of(const PreparedCase& subject, DType dtype, std::size_t argument) {
  const auto launch =
      subject.subject.launch(std::vector<void*>(subject.subject.operands.size(), nullptr));
  REQUIRE(launch);
  return decode(dtype,
                load(dtype, static_cast<const std::byte*>(launch->arguments.at(argument).data())));
}

// Returns the verdict of the suite on a kernel of one input that computes `result`.
Verdict run_map(const PreparedCase& subject, DType dtype, const std::function<Real(Real)>& result) {
  return run_flawed(subject, [&](const Piece& inp, const Piece& out) {
    for (std::size_t i = 0; i < inp.operand.count(); ++i) {
      const Real x = decode(dtype, inp.read(i));
      if (!std::isnan(x)) out.write(i, encode(dtype, result(x)));
    }
  });
}

TEST_CASE("a sum that rounds its product first is caught in affine of every float") {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kF8E4M3}) {
    const std::string kernel =
        "affine_" + (dtype == DType::kF8E4M3 ? std::string("f8_e4m3") : std::string(name(dtype)));
    INFO(kernel);
    // Successive cases use successive scalars. Finds a case whose products must be rounded.
    PreparedCase subject;
    Real mul = 0, add = 0;
    int exponent = 0;
    for (const char* const variant :
         {"n=8193/own", "n=8193/reference", "n=4097/own", "n=4097/reference"}) {
      subject = build("affine", kernel + "/contiguous/" + variant);
      mul = scalar_of(subject, dtype, 5), add = scalar_of(subject, dtype, 6);
      if (std::fabs(std::frexp(mul, &exponent)) > 0.5L) break;
    }
    const Verdict verdict = run_map(
        subject, dtype, [&](Real x) { return decode(dtype, encode(dtype, x * mul)) + add; });
    REQUIRE_FALSE(verdict.complaints.empty());
    CHECK(verdict.complaints[0].rfind("out[", 0) == 0);
  }
}

TEST_CASE(
    "the original's steps, each rounded to f16 or bf16, are caught in silu, gelu and gelu_erf") {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const auto rounded = [dtype](Real x) { return decode(dtype, encode(dtype, x)); };
    const std::pair<const char*, std::function<Real(Real)>> steps[] = {
        {"usilu", [&](Real x) { return x / rounded(1 + rounded(std::exp(-x))); }},
        {"ugelu",
         [&](Real x) {
           const Real cube = rounded(rounded(rounded(x * x) * x) * rounded(0.044715L));
           const Real angle = rounded(rounded(x + cube) * rounded(std::sqrt(2 / std::acos(-1.0L))));
           return rounded(0.5L * x) * rounded(1 + rounded(std::tanh(angle)));
         }},
        {"ugelu_erf", [&](Real x) { return x * rounded(std::erfc(-x / std::sqrt(2.0L)) / 2); }},
    };
    for (const auto& [root, result] : steps) {
      const std::string kernel = std::string(root) + "_" + std::string(name(dtype));
      INFO(kernel);
      const Verdict verdict = run_map(build("unary", kernel + "/all-values/own"), dtype, result);
      REQUIRE_FALSE(verdict.complaints.empty());
      CHECK(verdict.complaints[0].rfind("out[", 0) == 0);
    }
  }
}

// Returns the kernels that no helper launches, or that the suite has no cases for.
std::vector<std::string> left_out(const std::vector<AbiKernel>& kernels) {
  std::vector<std::string> names;
  for (const AbiKernel& kernel : kernels) {
    const std::vector<CaseSpec> cases = cases_of(kernel.module, kernel.name);
    bool known = !cases.empty();
    if (known) {
      const Case subject = cases[0].build({1, 1});
      const auto launch = subject.launch(std::vector<void*>(subject.operands.size(), nullptr));
      known = launch && launch->kernel == kernel.name;
    }
    if (!known) names.push_back(kernel.name);
  }
  return names;
}

TEST_CASE("a kernel that a table leaves out, and a dtype that one place lacks, are named") {
  std::vector<AbiKernel> kernels = abi_kernels();
  CHECK(left_out(kernels) == std::vector<std::string>{});
  const std::vector<AbiKernel> planted = {
      {"unary", "usoftsign_f32", {}},   {"unary", "ugelu_i16", {}},
      {"cast", "cast_i64_f16", {}},     {"binary", "badd_i16", {}},
      {"reduce", "softmax_u8", {}},     {"reduce", "fast_sum_i32", {}},
      {"ternary", "where_i16_f32", {}},
  };
  kernels.insert(kernels.begin() + 17, planted.begin(), planted.end());
  std::vector<std::string> names;
  for (const AbiKernel& each : planted) names.push_back(each.name);
  CHECK(left_out(kernels) == names);
}

}  // namespace
}  // namespace kiln::conformance
