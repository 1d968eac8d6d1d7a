// affine_<T>: out[i] = inp[idx(i)] * mul + add.
//
// Contract: integers wrap. Floats are computed in f64 or f32 with one rounding (fused) and then
// rounded to the element type; f8 saturates. A zero has the sign of the fused result.
#include "kiln/ops/affine.hpp"

#include <cmath>

#include "tests/kernels/elementwise.hpp"
#include "tests/kernels/families/family.hpp"

namespace kiln::conformance {
namespace {

struct Scalars {
  double mul, add;
};

// Successive cases use successive pairs.
constexpr Scalars kFloatScalars[] = {{1.7, 0.3}, {-2.5, 100}, {1, -0.0}, {0, 1}, {1e-3, -7}};
constexpr Scalars kSignedScalars[] = {{3, 7}, {-5, 1}, {0, -9}, {32767, 32767}};
constexpr Scalars kUnsignedScalars[] = {{3, 7}, {201, 255}, {0, 9}, {1, 0}};

Bits integer_reference(DType dtype, Bits inp, Bits mul, Bits add) {
  const std::size_t width = 8 * size_of(dtype);
  const Bits mask = width == 64 ? ~Bits{0} : (Bits{1} << width) - 1;
  return (inp * mul + add) & mask;  // the low bits of a product do not depend on the signs
}

Expected float_reference(DType dtype, Bits inp, Bits mul, Bits add) {
  const Real x = decode(dtype, inp), m = decode(dtype, mul), a = decode(dtype, add);
  // A Real has too few additional bits for f64: the result would be rounded twice.
  if (dtype == DType::kF64) {
    const double fused =
        std::fma(static_cast<double>(x), static_cast<double>(m), static_cast<double>(a));
    return Expected::within(dtype, fused, {}, ZeroSign::kAsExpected);
  }
  if (dtype == DType::kF32) {
    const float fused =
        std::fma(static_cast<float>(x), static_cast<float>(m), static_cast<float>(a));
    return Expected::within(dtype, fused, {}, ZeroSign::kAsExpected);
  }
  return Expected::within(dtype, std::fma(x, m, a), {0.5L}, ZeroSign::kAsExpected);
}

// Returns a scalar as bits, with this suite's own conversion.
Bits scalar_bits(DType dtype, double value) {
  if (is_float(dtype)) return encode(dtype, value);
  return static_cast<Bits>(static_cast<std::int64_t>(value));
}

}  // namespace

bool add_affine_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts || parts->root != "affine") return false;
  const DType dtype = parts->dtype;
  ElementwiseKernel subject;
  subject.name = kernel;
  subject.inputs = {dtype};
  subject.output = dtype;
  subject.in_place = true;
  subject.takes_rows_of_blocks = true;
  std::size_t turn = wanted.draw != nullptr ? wanted.draw->below(std::size(kFloatScalars)) : 0;
  for (const Variant& variant : variants_of(subject, wanted)) {
    const auto pick = [&](const auto& list) { return list[turn++ % std::size(list)]; };
    const Scalars scalars = is_float(dtype) ? pick(kFloatScalars)
                            : ops::info(dtype).kind == ops::NumberKind::kSigned
                                ? pick(kSignedScalars)
                                : pick(kUnsignedScalars);
    const Bits mul = scalar_bits(dtype, scalars.mul);
    const Bits add = scalar_bits(dtype, scalars.add);
    subject.plan = [=](const std::vector<View>& inputs, void* out, ops::Geometry geometry,
                       const ops::Gpu& gpu) {
      ops::Affine call;
      call.dtype = dtype;
      call.layout = inputs[0].layout;
      call.inp = inputs[0].data;
      call.out = out;
      call.mul = ops::Scalar::of_bits(dtype, mul);
      call.add = ops::Scalar::of_bits(dtype, add);
      call.geometry = geometry;
      return plan(call, gpu);
    };
    subject.reference = [=](const Bits* inputs) {
      return is_float(dtype) ? float_reference(dtype, inputs[0], mul, add)
                             : Expected::exactly(integer_reference(dtype, inputs[0], mul, add));
    };
    cases.push_back(elementwise_case(subject, variant));
  }
  return true;
}

Contracts affine_contracts() {
  return {
      {"affine", "x mul + add", "f64 in f64, other floats in f32; integers in their own type",
       "0.5", "integers wrap; the sign of a zero is that of the fused result",
       "One rounding (fused). Mended: f16 and bf16, which the original may round once or twice."}};
}

}  // namespace kiln::conformance
