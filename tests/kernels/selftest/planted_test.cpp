// Faults planted on purpose, each caught by name: a bound widened to what it once was, an operation
// that rounds twice, a kernel that a table leaves out, a dtype that one place lacks.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "kiln/ops/unary.hpp"
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
      std::size_t doubtful = 0;  // inputs of which two results are right, one on each side of a tie
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
      // 2^-16 of the result is a thirty-second of f16's step, on either side of a tie.
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

TEST_CASE("a sum that rounds its product first is caught in affine_f16 and affine_bf16") {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const std::string kernel = "affine_" + std::string(name(dtype));
    const PreparedCase subject = build("affine", kernel + "/all-values/own");
    const Verdict verdict = run_flawed(subject, [&](const Piece& inp, const Piece& out) {
      // The case's scalars, the first pair of its list.
      const Real mul = decode(dtype, encode(dtype, 1.7L)), add = decode(dtype, encode(dtype, 0.3L));
      for (std::size_t i = 0; i < inp.operand.count(); ++i) {
        const Real product = decode(dtype, encode(dtype, decode(dtype, inp.read(i)) * mul));
        out.write(i, encode(dtype, product + add));
      }
    });
    INFO(kernel);
    REQUIRE_FALSE(verdict.complaints.empty());
    CHECK(verdict.complaints[0].rfind("out[", 0) == 0);
  }
}

// The kernels that a helper does not launch, or that the suite has no cases for.
std::vector<std::string> left_out(const std::vector<AbiKernel>& kernels) {
  std::vector<std::string> names;
  for (const AbiKernel& kernel : kernels) {
    const std::vector<CaseSpec> cases = cases_of(kernel.module, kernel.name);
    bool known = !cases.empty();
    if (known) {
      const Case subject = cases[0].build({1, 1});
      const auto launch = subject.plan(std::vector<void*>(subject.operands.size(), nullptr));
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
