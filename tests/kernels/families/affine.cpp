// affine_<T>: out[i] = inp[idx(i)] * mul + add.
//
// Contract: integers wrap. f32, f64: one rounding (fused). f16, bf16: rounded once, or the product
// and the sum each, in the type itself or in f32. f8: in f32, then saturated. No error beyond that.
#include "kiln/ops/affine.hpp"

#include <cmath>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/map_cases.hpp"

namespace kiln::conformance {
namespace {

struct Scalars {
  double mul, add;
};

// Each case takes one pair, by turns.
constexpr Scalars kFloatScalars[] = {{1.7, 0.3}, {-2.5, 100}, {1, -0.0}, {0, 1}, {1e-3, -7}};
constexpr Scalars kSignedScalars[] = {{3, 7}, {-5, 1}, {0, -9}, {32767, 32767}};
constexpr Scalars kUnsignedScalars[] = {{3, 7}, {201, 255}, {0, 9}, {1, 0}};

Bits integer_reference(DType dtype, Bits inp, Bits mul, Bits add) {
  const std::size_t width = 8 * size_of(dtype);
  const Bits mask = width == 64 ? ~Bits{0} : (Bits{1} << width) - 1;
  return (inp * mul + add) & mask;  // the low bits of a product do not depend on the signs
}

Expected float_reference(DType dtype, Bits inp, Bits mul, Bits add) {
  constexpr Bound kNoError{};
  const Real x = decode(dtype, inp), m = decode(dtype, mul), a = decode(dtype, add);
  switch (dtype) {
    case DType::kF64:
      return Expected::within(
          dtype, {std::fma(static_cast<double>(x), static_cast<double>(m), static_cast<double>(a))},
          kNoError);
    case DType::kF32:
      return Expected::within(
          dtype, {std::fma(static_cast<float>(x), static_cast<float>(m), static_cast<float>(a))},
          kNoError);
    default: {
      const float in_f32 =
          std::fma(static_cast<float>(x), static_cast<float>(m), static_cast<float>(a));
      if (!has_own_arithmetic(dtype)) return Expected::within(dtype, {in_f32}, kNoError);
      // The product of two such values is exact in a double.
      const double product = static_cast<double>(x * m);
      const Real once = add_to_odd(product, static_cast<double>(a));
      const Real twice = decode(dtype, encode(dtype, product)) + a;
      return Expected::within(dtype, {once, twice, in_f32}, kNoError);
    }
  }
}

// A scalar as bits, by this suite's own conversion.
Bits scalar_bits(DType dtype, double value) {
  if (is_float(dtype)) return encode(dtype, value);
  return static_cast<Bits>(static_cast<std::int64_t>(value));
}

}  // namespace

bool add_affine_cases(std::string_view kernel, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts || parts->root != "affine") return false;
  const DType dtype = parts->dtype;
  std::size_t turn = 0;
  for (const MapVariant& variant : map_variants(size_of(dtype))) {
    const auto pick = [&](const auto& list) { return list[turn++ % std::size(list)]; };
    const Scalars scalars = is_float(dtype) ? pick(kFloatScalars)
                            : ops::info(dtype).kind == ops::NumberKind::kSigned
                                ? pick(kSignedScalars)
                                : pick(kUnsignedScalars);
    const std::string name = std::string(kernel) + "/" + variant.name;
    cases.push_back({name, variant.grid.work(count_of(variant.view.layout)), [=](const Seed& seed) {
                       const Bits mul = scalar_bits(dtype, scalars.mul);
                       const Bits add = scalar_bits(dtype, scalars.add);
                       MapKernel map;
                       map.inp_dtype = map.out_dtype = dtype;
                       map.plan = [=](const ops::Layout& layout, const void* inp, void* out,
                                      ops::Geometry geometry) {
                         ops::Affine call;
                         call.dtype = dtype;
                         call.layout = layout;
                         call.inp = inp;
                         call.out = out;
                         call.mul = ops::Scalar::of_bits(dtype, mul);
                         call.add = ops::Scalar::of_bits(dtype, add);
                         call.geometry = geometry;
                         return plan(call);
                       };
                       map.reference = [=](Bits inp) {
                         return is_float(dtype)
                                    ? float_reference(dtype, inp, mul, add)
                                    : Expected::exactly(integer_reference(dtype, inp, mul, add));
                       };
                       return map_case(name, variant, map, seed);
                     }});
  }
  return true;
}

}  // namespace kiln::conformance
