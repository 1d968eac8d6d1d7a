// upsample_nearest2d, upsample_bilinear2d, upsample_nearest1d: enlarge or shrink images.
//
// Contract: the nearest element is at the output position times size / output size, computed in f64
// and truncated. Bilinear: positions are computed in f64. Floats are blended in f32, f64 in f64,
// within eight half units of the magnitudes of the four elements. Integers are blended in f64 and
// truncated; an image of equal elements does not change.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "kiln/ops/conv.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/images.hpp"

namespace kiln::conformance {
namespace {

using ops::Extents;

enum class Way { kNearest, kBilinear, kNearest1d };

struct UpsampleCase {
  Extents dims;
  std::size_t height_out, width_out;
  bool align_corners = false;
  double height_factor = 0, width_factor = 0;
  RowKind kind = RowKind::kNormal;
  ImageLayout src = ImageLayout::kDense;
  GridChoice grid = own_grid();
  std::size_t misalignment = 0;

  Extents out() const { return {dims[0], dims[1], height_out, width_out}; }
  // The same case in one dim: each row becomes an image.
  UpsampleCase of_one_dim() const {
    UpsampleCase other = *this;
    other.dims = {dims[0], dims[1] * dims[2], 1, dims[3]};
    other.height_out = 1;
    return other;
  }
  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/images/" + shape_name(dims) +
                       "/to=" + shape_name({height_out, width_out});
    if (align_corners) text += "/corners";
    if (height_factor != 0) text += "/height-factor";
    if (width_factor != 0) text += "/width-factor";
    if (kind != RowKind::kNormal) text += std::string("/") + conformance::name(kind);
    if (src != ImageLayout::kDense) text += "/" + conformance::name(src);
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    return text + "/" + grid.name;
  }
};

UpsampleCase random_upsample_case(Way way, Draw& draw) {
  const Extents dims = draw.dims(4, 4);
  const std::size_t most = draw.limit() / (dims[0] * dims[1]);
  UpsampleCase choice{dims, draw.size(most), 1};
  choice.width_out = draw.size(most / choice.height_out);
  constexpr RowKind kKinds[] = {RowKind::kNormal, RowKind::kBinades, RowKind::kEqual,
                                RowKind::kInfinities, RowKind::kNan};
  choice.kind = draw.one_of(kKinds);
  choice.src = random_layout(draw);
  choice.misalignment = draw.misalignment();
  choice.grid = way == Way::kNearest1d ? draw.own_grid() : draw.grid();
  if (way != Way::kBilinear) return choice;
  choice.align_corners = draw.one_in(3);
  const auto factor = [&](std::size_t size, std::size_t size_out) {
    const double exact = static_cast<double>(size_out) / static_cast<double>(size);
    return draw.one_in(2) ? 0 : exact * draw.uniform(0.9, 1.1);
  };
  choice.height_factor = factor(dims[2], choice.height_out);
  choice.width_factor = factor(dims[3], choice.width_out);
  return choice;
}

std::vector<UpsampleCase> cases_of(bool bilinear, Breadth breadth) {
  constexpr auto kDense = ImageLayout::kDense;
  std::vector<UpsampleCase> list = {
      {{2, 3, 4, 5}, 8, 15},
      {{1, 2, 7, 3},
       4,
       16,
       false,
       0,
       0,
       RowKind::kBinades,
       ImageLayout::kChannelsLast,
       reference_grid()},
      {{1, 2, 5, 9}, 5, 32, false, 0, 0, RowKind::kNormal, ImageLayout::kNarrowed, grid_of(3, 64)},
      {{1, 1, 3, 4}, 7, 32, false, 0, 0, RowKind::kNormal, kDense, grid_of(1, 32), 1},
      // More chunks than threads, so that each thread keeps its chunk of a line; and longer lines.
      {{2, 3, 6, 9}, 11, 32, false, 0, 0, RowKind::kNormal, ImageLayout::kNarrowed, grid_of(1, 32)},
      {{1, 2, 1, 5}, 1, 1024, false, 0, 0, RowKind::kNormal, kDense, grid_of(1, 48)},
      {{1, 1, 1, 1}, 3, 5, false, 0, 0, RowKind::kEqual},
      {{1, 2, 6, 9}, 3, 4},
      {{1, 1, 3, 5}, 7, 11, false, 0, 0, RowKind::kEqual},
  };
  if (bilinear) {
    list.push_back({{1, 2, 4, 6}, 9, 16, true});
    list.push_back({{1, 2, 4, 6}, 1, 16, true});
    list.push_back({{1, 2, 4, 6}, 9, 13, false, 2.25, 0});
    list.push_back({{1, 2, 4, 6}, 9, 13, false, 0, 2.1});
    list.push_back({{1, 1, 4, 6}, 6, 9, false, 1.5, 1.5, RowKind::kWholes});
    // Places on elements, whose neighbours must not count.
    list.push_back({{1, 2, 5, 32}, 5, 32, false, 0, 0, RowKind::kInfinities});
    list.push_back({{1, 2, 5, 7}, 5, 7, false, 0, 0, RowKind::kNan});
    list.push_back({{1, 2, 5, 9}, 9, 17, true, 0, 0, RowKind::kInfinities});
    list.push_back({{1, 2, 5, 16}, 5, 16, false, 1e-30, 1e-30});
  }
  if (breadth == Breadth::kHandful) return list;
  for (const std::size_t height : {1, 3, 6, 7, 12, 13, 24}) {
    for (const std::size_t width : {1, 8, 11, 22, 33, 48}) {
      list.push_back({{2, 2, 6, 11}, height, width});
      if (bilinear) list.push_back({{2, 2, 6, 11}, height, width, true});
    }
  }
  for (const GridChoice& grid : all_grids()) {
    list.push_back({{2, 3, 8, 16}, 16, 32, false, 0, 0, RowKind::kNormal, kDense, grid});
    list.push_back({{2, 3, 8, 16}, 64, 160, false, 0, 0, RowKind::kNormal, kDense, grid});
  }
  // More blocks than are resident on the largest GPU of an architecture, though a device may hold
  // more.
  list.push_back(
      {{1, 1, 525, 512}, 1050, 1024, false, 0, 0, RowKind::kNormal, kDense, reference_grid()});
  return list;
}

std::vector<UpsampleCase> upsample_cases(Way way, const Wanted& wanted) {
  const std::vector<UpsampleCase> list = wanted.draw != nullptr
                                             ? std::vector{random_upsample_case(way, *wanted.draw)}
                                             : cases_of(way == Way::kBilinear, wanted.breadth);
  if (way != Way::kNearest1d) return list;
  std::vector<UpsampleCase> flat;
  std::set<std::string> names;  // without the heights of the output
  for (const UpsampleCase& choice : list) {
    if (choice.grid.geometry == ops::Geometry::kReference) continue;
    if (names.insert(choice.of_one_dim().name("")).second) flat.push_back(choice.of_one_dim());
  }
  return flat;
}

Expected nearest_reference(const Image& src, const UpsampleCase& choice, std::size_t b,
                           std::size_t c, std::size_t y, std::size_t x) {
  const auto place = [](std::size_t i, std::size_t size, std::size_t size_out) {
    const double scale = static_cast<double>(size) / static_cast<double>(size_out);
    const volatile double at = static_cast<double>(i) * scale;
    return std::min(static_cast<std::size_t>(at), size - 1);
  };
  return Expected::exactly(src.bits(b, c, place(y, choice.dims[2], choice.height_out),
                                    place(x, choice.dims[3], choice.width_out)));
}

struct Place {
  std::size_t first, second;
  Real part;
  bool is_doubtful;  // rounding may move it past an element, and it has other neighbours then
};
Place place_of(std::size_t i, std::size_t size, std::size_t size_out, bool align_corners,
               double factor) {
  Real scale = 0;
  if (align_corners) {
    if (size_out > 1) scale = static_cast<Real>(size - 1) / static_cast<Real>(size_out - 1);
  } else {
    scale = factor != 0 ? 1 / static_cast<Real>(factor)
                        : static_cast<Real>(size) / static_cast<Real>(size_out);
  }
  const Real half = align_corners ? 0 : 0.5L;
  const Real at = std::max(Real{0}, scale * (static_cast<Real>(i) + half) - half);
  const bool is_exact = scale == static_cast<Real>(static_cast<double>(scale));
  const bool is_doubtful =
      !is_exact && std::fabs(at - std::round(at)) < 1e-9L && at < static_cast<Real>(size);
  if (at >= static_cast<Real>(size - 1)) return {size - 1, size - 1, 0, is_doubtful};
  const auto first = static_cast<std::size_t>(at);
  return {first, first + 1, at - static_cast<Real>(first), is_doubtful};
}

Expected bilinear_reference(DType dtype, const Image& src, const UpsampleCase& choice,
                            std::size_t b, std::size_t c, std::size_t i, std::size_t j) {
  const Place y =
      place_of(i, choice.dims[2], choice.height_out, choice.align_corners, choice.height_factor);
  const Place x =
      place_of(j, choice.dims[3], choice.width_out, choice.align_corners, choice.width_factor);
  // Without a part, an element does not count, even if it is not finite.
  const auto blend = [](Real first, Real second, Real part) {
    return part == 0 ? first : first * (1 - part) + second * part;
  };
  const auto of_row = [&](std::size_t row) {
    return blend(src.number(b, c, row, x.first), src.number(b, c, row, x.second), x.part);
  };
  const Real value = blend(of_row(y.first), of_row(y.second), y.part);
  const auto begin = [](const Place& place) {
    return place.first - (place.is_doubtful && place.first != 0 ? 1 : 0);
  };
  const auto end = [](const Place& place, std::size_t size) {
    const std::size_t last = place.part == 0 ? place.first : place.second;
    return std::min(last + (place.is_doubtful ? 2 : 1), size);
  };
  Real magnitude = 0;
  for (std::size_t row = begin(y); row < end(y, choice.dims[2]); ++row) {
    for (std::size_t column = begin(x); column < end(x, choice.dims[3]); ++column) {
      magnitude += std::fabs(src.number(b, c, row, column));
    }
  }
  if (!std::isfinite(magnitude) && (x.is_doubtful || y.is_doubtful)) return Expected::anything();
  // Each of the steps to a position rounds it in f64.
  const Real place_error =
      4 * static_cast<Real>(y.first + x.first + 4) * rounding_error(DType::kF64);
  if (!is_float(dtype)) {
    if (choice.kind == RowKind::kEqual) {
      return Expected::exactly(src.bits(b, c, y.first, x.first));
    }
    const Real error = magnitude * (8 * rounding_error(DType::kF64) + place_error);
    const Real low = std::floor(value - error), high = std::floor(value + error);
    return low == high ? Expected::exactly(static_cast<Bits>(low)) : Expected::anything();
  }
  const Real least = unit_in_last_place(compute_dtype(dtype), 0);
  return Expected::within(
      dtype, value, {0, 0, magnitude * (8 * rounding_error(dtype) + place_error) + 8 * least});
}

Case build(std::string name, Way way, DType dtype, const UpsampleCase& choice, const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  auto src = std::make_shared<Image>(dtype, choice.dims, choice.src, choice.kind, random);
  made.operands.push_back(src->operand("src", choice.misalignment));
  const Extents out = choice.out();
  made.operands.push_back(image_output(dtype, out, random, choice.misalignment, [=] {
    std::vector<Expected> expected;
    for (std::size_t b = 0; b < out[0]; ++b)
      for (std::size_t c = 0; c < out[1]; ++c)
        for (std::size_t y = 0; y < out[2]; ++y)
          for (std::size_t x = 0; x < out[3]; ++x)
            expected.push_back(way == Way::kBilinear
                                   ? bilinear_reference(dtype, *src, choice, b, c, y, x)
                                   : nearest_reference(*src, choice, b, c, y, x));
    return expected;
  }));
  made.plan = [=](const std::vector<void*>& addresses) {
    if (way == Way::kNearest1d) {
      const ops::Layout& all = src->layout();
      ops::UpsampleNearest1d call;
      call.dtype = dtype;
      call.src_layout = {{all.dims[0], all.dims[1], all.dims[3]},
                         {all.strides[0], all.strides[1], all.strides[3]}};
      call.length_out = choice.width_out;
      call.src = src->first(addresses[0]);
      call.dst = addresses[1];
      Result<ops::Launch> launch = plan(call, choice.grid.gpu());
      if (launch) choice.grid.apply(*launch);
      return launch;
    }
    const auto planned = [&](auto call) {
      call.dtype = dtype;
      call.src_layout = src->layout();
      call.height_out = choice.height_out;
      call.width_out = choice.width_out;
      call.src = src->first(addresses[0]);
      call.dst = addresses[1];
      call.geometry = choice.grid.geometry;
      if constexpr (std::is_same_v<decltype(call), ops::UpsampleBilinear2d>) {
        call.align_corners = choice.align_corners;
        call.height_factor = choice.height_factor;
        call.width_factor = choice.width_factor;
      }
      Result<ops::Launch> launch = plan(call, choice.grid.gpu());
      if (launch) choice.grid.apply(*launch);
      return launch;
    };
    return way == Way::kBilinear ? planned(ops::UpsampleBilinear2d())
                                 : planned(ops::UpsampleNearest2d());
  };
  return made;
}

}  // namespace

bool add_upsample_cases(std::string_view kernel, const Wanted& wanted,
                        std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const std::string_view root = parts->root;
  if (!root.starts_with("upsample_")) return false;
  const Way way = root == "upsample_bilinear2d"  ? Way::kBilinear
                  : root == "upsample_nearest2d" ? Way::kNearest
                                                 : Way::kNearest1d;
  const DType dtype = parts->dtype;
  for (const UpsampleCase& choice : upsample_cases(way, wanted)) {
    const std::string name = choice.name(kernel);
    cases.push_back({name, choice.grid.work(product(choice.out())),
                     [=](const Seed& seed) { return build(name, way, dtype, choice, seed); }});
  }
  return true;
}

Contracts upsample_contracts() {
  return {
      {"upsample_nearest2d", "src at (y h_scale, x w_scale), cut off", "", "exact",
       "NaN payloads stay",
       "Kept: the product is one of f64; parameters called w are of dim 2, h of dim 3."},
      {"upsample_nearest1d", "the same of one dim", "", "exact", "NaN payloads stay",
       "A name of our own."},
      {"upsample_bilinear2d",
       "between the four elements around (scale (y + 1/2) - 1/2, ...); with corners aligned around "
       "(scale y, ...)",
       "places in f64; f64 and integers in f64, the others in f32",
       "8 half units of the sum of the four magnitudes", "integers are cut off",
       "Kept: here h is of dim 2, w of dim 3. Mended: four equal integers give themselves; "
       "elements without a part do not count, even if infinite or NaN."},
  };
}

}  // namespace kiln::conformance
