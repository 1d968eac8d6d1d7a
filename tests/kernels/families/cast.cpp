// cast_<From>_<To>, cast_tiles_<From>_<To>: out[i] = To(inp[idx(i)]).
//
// Contract: conversions between integers keep the low bits. A conversion to a float rounds once.
// Floats convert to integers by truncation, and NaN becomes 0; u32, i32 and i64 saturate, and u8 is
// the low byte of the u32 result. Conversions to f8 go through f32 and saturate; f64 may convert
// directly.
#include "kiln/ops/cast.hpp"

#include <cmath>
#include <limits>
#include <memory>

#include "tests/kernels/elementwise.hpp"
#include "tests/kernels/families/cast_reference.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/memo.hpp"

namespace kiln::conformance {
namespace {

bool is_signed(DType dtype) { return ops::info(dtype).kind == ops::NumberKind::kSigned; }

// Returns the value of an integer.
Real integer_value(DType dtype, Bits bits) {
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size_of(dtype));
  if (!is_signed(dtype)) return static_cast<Real>(bits);
  return static_cast<Real>(static_cast<std::int64_t>(bits << unused) >> unused);
}

Bits low_bits(DType dtype, Bits bits) {
  return size_of(dtype) == 8 ? bits : bits & ((Bits{1} << (8 * size_of(dtype))) - 1);
}

Bits float_to_integer(DType to, Real value) {
  if (std::isnan(value)) return 0;
  if (to == DType::kU8) return low_bits(to, float_to_integer(DType::kU32, value));
  const int bits = 8 * static_cast<int>(size_of(to)) - (is_signed(to) ? 1 : 0);
  const Real above = std::ldexp(1.0L, bits), below = is_signed(to) ? -above : 0;
  const Real whole = std::trunc(value);
  if (whole >= above) return is_signed(to) ? (Bits{1} << bits) - 1 : low_bits(to, ~Bits{0});
  if (whole <= below) return is_signed(to) ? low_bits(to, ~Bits{0} << bits) : 0;
  return low_bits(to, static_cast<Bits>(static_cast<std::int64_t>(whole)));
}

Expected to_float(DType to, Real value) {
  // f8 through f32, with or without the rounding to f32.
  const Bound bound{to == DType::kF8E4M3 ? 0.5L : 0};
  return Expected::within(to, value, bound, ZeroSign::kAsExpected);
}

ElementwiseKernel cast_kernel(std::string_view name, DType from, DType to, ops::Tiles tiles) {
  ElementwiseKernel subject;
  subject.name = name;
  subject.inputs = {from};
  subject.output = to;
  subject.plan = [=](const std::vector<View>& inputs, void* out, ops::Geometry geometry,
                     const ops::Gpu& gpu) {
    ops::Cast call;
    call.from = from;
    call.to = to;
    call.layout = inputs[0].layout;
    call.inp = inputs[0].data;
    call.out = out;
    call.geometry = geometry;
    call.tiles = tiles;
    return plan(call, gpu);
  };
  auto memo = std::make_shared<Memo>(from, [=](Bits inp) { return cast_reference(from, to, inp); });
  subject.reference = [memo](const Bits* inputs) { return (*memo)(inputs[0]); };
  return subject;
}

}  // namespace

Expected cast_reference(DType from, DType to, Bits inp) {
  if (is_float(from)) {
    const Real value = decode(from, inp);
    return is_float(to) ? to_float(to, value) : Expected::exactly(float_to_integer(to, value));
  }
  if (is_float(to)) return to_float(to, integer_value(from, inp));
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size_of(from));
  const Bits wide =
      is_signed(from) ? static_cast<Bits>(static_cast<std::int64_t>(inp << unused) >> unused) : inp;
  return Expected::exactly(low_bits(to, wide));
}

bool add_cast_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> target = split_dtype(kernel);
  if (!target) return false;
  const std::optional<RootAndDType> source = split_dtype(target->root);
  if (!source) return false;
  const bool tiled = source->root == "cast_tiles";
  if (!tiled && source->root != "cast") return false;
  const ElementwiseKernel subject = cast_kernel(kernel, source->dtype, target->dtype,
                                                tiled ? ops::Tiles::kAlways : ops::Tiles::kNever);
  if (tiled) {
    add_chosen_cases(subject, wanted, cases);
  } else {
    add_elementwise_cases(subject, wanted, cases);
  }
  return true;
}

Contracts cast_contracts() {
  return {{"cast", "x as the other type", "exact, then rounded once; to f8 by way of f32",
           "exact; to f8 0.5 of f32", "NaN to integers: 0; infinities saturate, or wrap as u8",
           "Integers keep their low bits. Floats to integers are cut off toward zero: u32, i32 and "
           "i64 saturate. Kept: to u8 by way of u32, of which the low byte stays (300 gives 44, -1 "
           "gives 0). Mended: u8 and f64 to bf16 round once on every architecture."},
          {"cast_tiles", "as cast", "as cast", "as cast", "as cast",
           "A name of our own, for large views of what networks cast: tile by tile through shared "
           "memory."}};
}

}  // namespace kiln::conformance
