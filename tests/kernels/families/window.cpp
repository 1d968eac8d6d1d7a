// im2col1d, im2col, col2im1d, avg_pool2d, max_pool2d: windows over images.
//
// Contract: im2col copies bits, with 0 outside of the image. A sum may be off by one rounding of
// the computing type for each term, in f32 for f16 and bf16; averages round once more. Averages of
// integers are those of the exact sum, truncated; col2im1d keeps the low bits. A maximum ignores
// NaN in f64 and f32, propagates it in f16 and bf16, and is -infinity if all elements are NaN;
// either of two zeros is right.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "kiln/ops/conv.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/images.hpp"

namespace kiln::conformance {
namespace {

using ops::Extents;

// ---- im2col -----------------------------------------------------------------------------------

struct Im2ColCase {
  Extents dims, window;
  std::size_t stride = 1, padding = 0, dilation = 1;
  ImageLayout src = ImageLayout::kDense;
  GridChoice grid = own_grid();
  std::size_t misalignment = 0;

  ops::Im2Col call(DType dtype) const {
    ops::Im2Col made;
    made.dtype = dtype;
    made.src_layout = {dims};
    made.window = window;
    made.stride = stride;
    made.padding = padding;
    made.dilation = dilation;
    made.geometry = grid.geometry;
    return made;
  }
  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/images/" + shape_name(dims) +
                       "/window=" + shape_name(window) + "/stride=" + std::to_string(stride) +
                       "/padding=" + std::to_string(padding) +
                       "/dilation=" + std::to_string(dilation);
    if (src != ImageLayout::kDense) text += "/" + conformance::name(src);
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    return text + "/" + grid.name;
  }
};

Im2ColCase random_im2col_case(bool flat, Draw& draw) {
  const std::size_t rank = flat ? 4 : 3;
  for (;;) {
    Im2ColCase choice{draw.dims(rank, rank, draw.limit() / 4), {}};
    choice.window = flat ? Extents{draw.between(1, 5), draw.between(1, 5)} : Extents{draw.size(40)};
    choice.stride = draw.between(1, 4);
    choice.padding = draw.one_in(2) ? 0 : draw.below(2 * choice.window[0] + 2);
    choice.dilation = draw.one_in(2) ? 1 : draw.between(1, 4);
    choice.src = random_layout(draw);
    choice.grid = draw.grid();
    choice.misalignment = draw.misalignment();
    const auto out = output_dims(choice.call(DType::kF32));
    if (out && product(*out) <= draw.limit()) return choice;
  }
}

std::vector<Im2ColCase> im2col_cases(bool flat, const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_im2col_case(flat, *wanted.draw)};
  const auto images = [flat](std::size_t b, std::size_t c, std::size_t h, std::size_t w) {
    return flat ? Extents{b, c, h, w} : Extents{b, c, w};
  };
  const auto window = [flat](std::size_t h, std::size_t w) {
    return flat ? Extents{h, w} : Extents{w};
  };
  std::vector<Im2ColCase> list = {
      {images(2, 3, 4, 7), window(2, 3)},
      {images(1, 2, 5, 9), window(3, 2), 2, 1, 2, ImageLayout::kChannelsLast},
      {images(2, 1, 3, 5), window(2, 3), 1, 3, 1, ImageLayout::kNarrowed, reference_grid()},
      // Lines of whole chunks.
      {images(2, 4, 4, 16), window(2, 4), 1, 2, 1, ImageLayout::kDense, grid_of(3, 64)},
      {images(2, 4, 4, 16), window(2, 4), 1, 2, 1, ImageLayout::kDense, grid_of(3, 64), 1},
  };
  // Windows of whole chunks, more than there are threads; the number of chunks is not a multiple of
  // the team size.
  list.push_back(
      {images(2, 8, 7, 11), window(3, 3), 1, 1, 1, ImageLayout::kChannelsLast, grid_of(3, 64)});
  list.push_back(
      {images(1, 24, 6, 13), window(2, 3), 2, 3, 2, ImageLayout::kNarrowed, grid_of(5, 96)});
  list.push_back(
      {images(1, 8, 12, 40), window(7, 5), 1, 2, 1, ImageLayout::kDense, grid_of(3, 64)});
  if (wanted.breadth == Breadth::kHandful) return list;
  for (const std::size_t stride : {1, 2, 3}) {
    for (const std::size_t dilation : {1, 2}) {
      for (const std::size_t padding : {0, 2}) {
        list.push_back({images(2, 3, 9, 16), window(3, 4), stride, padding, dilation});
        list.push_back({images(2, 8, 6, 20), window(2, 4), stride, padding, dilation,
                        ImageLayout::kDense, grid_of(2, 32)});
      }
    }
  }
  for (const GridChoice& grid : all_grids()) {
    list.push_back({images(2, 5, 8, 24), window(3, 3), 1, 1, 1, ImageLayout::kDense, grid});
  }
  return list;
}

CaseSpec im2col_case(std::string_view kernel, DType dtype, const Im2ColCase& choice) {
  const std::string name = choice.name(kernel);
  const Extents out = *output_dims(choice.call(dtype));
  return {name, choice.grid.work(product(out)), [=](const Seed& seed) {
            Random random(seed.own);
            Case made;
            made.name = name;
            auto src =
                std::make_shared<Image>(dtype, choice.dims, choice.src, RowKind::kBinades, random);
            made.operands.push_back(src->operand("src", choice.misalignment));
            made.operands.push_back(image_output(dtype, out, random, choice.misalignment, [=] {
              std::vector<Expected> expected;
              const bool flat = choice.window.rank() == 2;
              const std::size_t rows = flat ? choice.dims[2] : 1;
              const std::size_t columns = choice.dims[flat ? 3 : 2];
              const std::size_t rows_out = flat ? out[1] : 1, columns_out = out[flat ? 2 : 1];
              const std::size_t row_taps = flat ? choice.window[0] : 1;
              const std::size_t taps = choice.window[flat ? 1 : 0];
              const std::size_t row_padding = flat ? choice.padding : 0;
              for (std::size_t b = 0; b < choice.dims[0]; ++b)
                for (std::size_t y = 0; y < rows_out; ++y)
                  for (std::size_t x = 0; x < columns_out; ++x)
                    for (std::size_t c = 0; c < choice.dims[1]; ++c)
                      for (std::size_t t = 0; t < row_taps; ++t)
                        for (std::size_t u = 0; u < taps; ++u) {
                          // Numbers below 0 wrap around to outside of the image.
                          const std::size_t row =
                              y * choice.stride + t * choice.dilation - row_padding;
                          const std::size_t column =
                              x * choice.stride + u * choice.dilation - choice.padding;
                          const bool is_in = row < rows && column < columns;
                          expected.push_back(Expected::exactly(!is_in ? 0
                                                               : flat ? src->bits(b, c, row, column)
                                                                      : src->bits(b, c, column)));
                        }
              return expected;
            }));
            made.plan = [=](const std::vector<void*>& addresses) {
              ops::Im2Col call = choice.call(dtype);
              call.src_layout = src->layout();
              call.src = src->first(addresses[0]);
              call.dst = addresses[1];
              Result<ops::Launch> launch = plan(call, choice.grid.gpu());
              if (launch) choice.grid.apply(*launch);
              return launch;
            };
            return made;
          }};
}

// ---- col2im1d ---------------------------------------------------------------------------------

struct Col2ImCase {
  std::size_t images, length, channels, window, stride;
  GridChoice grid = own_grid();

  std::string name(std::string_view kernel) const {
    return std::string(kernel) + "/columns/" + shape_name({images, length, channels, window}) +
           "/stride=" + std::to_string(stride) + "/" + grid.name;
  }
};

Col2ImCase random_col2im_case(Draw& draw) {
  const Extents dims = draw.dims(4, 4);
  Col2ImCase choice{dims[0], dims[1], dims[2], dims[3], draw.one_in(2) ? dims[3] : draw.size(20)};
  choice.grid = draw.grid();
  return choice;
}

std::vector<Col2ImCase> col2im_cases(const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_col2im_case(*wanted.draw)};
  std::vector<Col2ImCase> list = {
      {2, 5, 3, 4, 2},
      {1, 7, 2, 3, 3, reference_grid()},
      {1, 4, 3, 2, 5, grid_of(3, 64)},  // positions that no window covers
      {1, 40, 3, 9, 2},                 // several pieces of a line
      {1, 1, 2, 6, 1},
      // Groups of neighbours, some of which lie beyond the end of a line.
      {2, 11, 8, 8, 4, grid_of(3, 64)},
      {1, 9, 4, 12, 8, grid_of(1, 32)},
      {2, 7, 4, 4, 12, grid_of(1, 32)},
  };
  if (wanted.breadth == Breadth::kHandful) return list;
  for (const std::size_t window : {1, 2, 5, 8}) {
    for (const std::size_t stride : {1, 2, 4, 7}) list.push_back({2, 33, 5, window, stride});
  }
  for (const GridChoice& grid : all_grids()) list.push_back({2, 150, 3, 5, 2, grid});
  return list;
}

CaseSpec col2im_case(std::string_view kernel, DType dtype, const Col2ImCase& choice) {
  const std::string name = choice.name(kernel);
  const std::size_t length = (choice.length - 1) * choice.stride + choice.window;
  const Extents out{choice.images, choice.channels, length};
  return {name, choice.grid.work(product(out)), [=](const Seed& seed) {
            Random random(seed.own);
            Case made;
            made.name = name;
            auto src = std::make_shared<Image>(
                dtype, Extents{choice.images, choice.length, choice.channels, choice.window},
                ImageLayout::kDense, RowKind::kNormal, random);
            made.operands.push_back(src->operand("src"));
            made.operands.push_back(image_output(dtype, out, random, 0, [=] {
              std::vector<WindowSum> sums(product(out));
              for (std::size_t b = 0; b < choice.images; ++b)
                for (std::size_t l = 0; l < choice.length; ++l)
                  for (std::size_t c = 0; c < choice.channels; ++c)
                    for (std::size_t t = 0; t < choice.window; ++t) {
                      WindowSum& sum =
                          sums[(b * choice.channels + c) * length + l * choice.stride + t];
                      if (is_float(dtype)) {
                        sum.add(src->number(b, l, c, t));
                      } else {
                        sum.add(src->bits(b, l, c, t));
                      }
                    }
              std::vector<Expected> expected;
              for (const WindowSum& sum : sums) expected.push_back(sum.expected(dtype));
              return expected;
            }));
            made.plan = [=](const std::vector<void*>& addresses) {
              ops::Col2Im1d call;
              call.dtype = dtype;
              call.batch = choice.images;
              call.length = choice.length;
              call.channels = choice.channels;
              call.window = choice.window;
              call.stride = choice.stride;
              call.src = addresses[0];
              call.dst = addresses[1];
              call.geometry = choice.grid.geometry;
              Result<ops::Launch> launch = plan(call, choice.grid.gpu());
              if (launch) choice.grid.apply(*launch);
              return launch;
            };
            return made;
          }};
}

// ---- pools ------------------------------------------------------------------------------------

struct PoolCase {
  Extents dims;
  std::size_t height, width, stride_height, stride_width;
  RowKind kind = RowKind::kNormal;
  ImageLayout src = ImageLayout::kDense;
  GridChoice grid = own_grid();
  std::size_t misalignment = 0;

  ops::Pool2d call(ops::PoolOp op, DType dtype) const {
    ops::Pool2d made;
    made.op = op;
    made.dtype = dtype;
    made.src_layout = {dims};
    made.height = height;
    made.width = width;
    made.stride_height = stride_height;
    made.stride_width = stride_width;
    made.geometry = grid.geometry;
    return made;
  }
  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/images/" + shape_name(dims) +
                       "/window=" + shape_name({height, width}) +
                       "/stride=" + shape_name({stride_height, stride_width}) + "/" +
                       conformance::name(kind);
    if (src != ImageLayout::kDense) text += "/" + conformance::name(src);
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    return text + "/" + grid.name;
  }
};

PoolCase random_pool_case(Draw& draw) {
  const Extents dims = draw.dims(4, 4);
  PoolCase choice{dims, draw.size(std::min<std::size_t>(dims[2], 9)),
                  draw.size(std::min<std::size_t>(dims[3], 9)), 1, 1};
  choice.stride_height = draw.one_in(2) ? choice.height : draw.between(1, 5);
  choice.stride_width = draw.one_in(2) ? choice.width : draw.between(1, 5);
  choice.kind = static_cast<RowKind>(draw.below(kRowKinds));
  choice.src = random_layout(draw);
  choice.grid = draw.grid();
  choice.misalignment = draw.misalignment();
  return choice;
}

std::vector<PoolCase> pool_cases(const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_pool_case(*wanted.draw)};
  constexpr auto kLast = ImageLayout::kChannelsLast;
  constexpr auto kNarrowed = ImageLayout::kNarrowed;
  constexpr auto kDense = ImageLayout::kDense;
  std::vector<PoolCase> list = {
      {{2, 3, 5, 9}, 2, 3, 1, 2},
      {{1, 2, 7, 5}, 3, 2, 2, 1, RowKind::kBinades, kLast, reference_grid()},
      {{1, 2, 6, 7}, 3, 2, 3, 2, RowKind::kNormal, kNarrowed},
      // Chunks of windows of two elements; the same, misaligned; with an incomplete bottom row and
      // right column.
      {{1, 2, 4, 32}, 2, 2, 2, 2},
      {{1, 2, 5, 16}, 3, 2, 1, 2, RowKind::kNormal, kDense, grid_of(3, 64)},
      {{1, 2, 4, 32}, 2, 2, 2, 2, RowKind::kNormal, kDense, own_grid(), 1},
      {{1, 1, 7, 34}, 2, 2, 2, 2, RowKind::kUniform},
      {{1, 1, 9, 13}, 2, 2, 2, 2, RowKind::kNan},
      {{1, 1, 4, 32}, 2, 2, 2, 2, RowKind::kAllNan},
      {{1, 1, 6, 9}, 2, 2, 1, 1, RowKind::kInfinities},
      {{1, 1, 6, 9}, 2, 2, 1, 1, RowKind::kAllLowest},
  };
  if (wanted.breadth == Breadth::kHandful) return list;
  for (const std::size_t height : {1, 2, 3, 5}) {
    for (const std::size_t width : {1, 2, 4}) {
      list.push_back({{2, 3, 11, 17}, height, width, 1, 1});
      list.push_back({{2, 2, 12, 64}, height, width, height, width});
    }
  }
  for (const GridChoice& grid : all_grids()) {
    list.push_back({{2, 5, 8, 64}, 2, 2, 2, 2, RowKind::kNormal, kDense, grid});
    list.push_back({{2, 5, 8, 33}, 3, 3, 2, 1, RowKind::kNormal, kDense, grid});
  }
  return list;
}

Expected pool_reference(ops::PoolOp op, DType dtype, const std::vector<Bits>& window) {
  const auto count = static_cast<Real>(window.size());
  if (op == ops::PoolOp::kAverage) {
    WindowSum sum;
    for (const Bits bits : window) is_float(dtype) ? sum.add(decode(dtype, bits)) : sum.add(bits);
    if (!is_float(dtype)) return Expected::exactly(sum.whole() / window.size());
    if (!std::isfinite(sum.value())) return Expected::within(dtype, sum.value());
    const Real least = unit_in_last_place(compute_dtype(dtype), 0);
    return Expected::within(dtype, sum.value() / count,
                            {0.5L, 0, sum.error(dtype) / count + 2 * least});
  }
  if (!is_float(dtype)) {
    Bits largest = 0;
    for (const Bits bits : window) largest = std::max(largest, bits);
    return Expected::exactly(largest);
  }
  Real largest = -std::numeric_limits<Real>::infinity();
  bool has_nan = false;
  for (const Bits bits : window) {
    const Real value = decode(dtype, bits);
    has_nan = has_nan || std::isnan(value);
    if (value > largest) largest = value;
  }
  const bool keeps_nan = dtype == DType::kF16 || dtype == DType::kBF16;
  return Expected::within(dtype,
                          has_nan && keeps_nan ? std::numeric_limits<Real>::quiet_NaN() : largest);
}

CaseSpec pool_case(std::string_view kernel, ops::PoolOp op, DType dtype, const PoolCase& choice) {
  const std::string name = choice.name(kernel);
  const Extents out = *output_dims(choice.call(op, dtype));
  return {name, choice.grid.work(product(choice.dims)), [=](const Seed& seed) {
            Random random(seed.own);
            Case made;
            made.name = name;
            auto src = std::make_shared<Image>(dtype, choice.dims, choice.src, choice.kind, random);
            made.operands.push_back(src->operand("src", choice.misalignment));
            made.operands.push_back(image_output(dtype, out, random, choice.misalignment, [=] {
              std::vector<Expected> expected;
              for (std::size_t b = 0; b < out[0]; ++b)
                for (std::size_t c = 0; c < out[1]; ++c)
                  for (std::size_t y = 0; y < out[2]; ++y)
                    for (std::size_t x = 0; x < out[3]; ++x) {
                      std::vector<Bits> window;
                      for (std::size_t i = 0; i < choice.height; ++i)
                        for (std::size_t j = 0; j < choice.width; ++j)
                          window.push_back(src->bits(b, c, y * choice.stride_height + i,
                                                     x * choice.stride_width + j));
                      expected.push_back(pool_reference(op, dtype, window));
                    }
              return expected;
            }));
            made.plan = [=](const std::vector<void*>& addresses) {
              ops::Pool2d call = choice.call(op, dtype);
              call.src_layout = src->layout();
              call.src = src->first(addresses[0]);
              call.dst = addresses[1];
              Result<ops::Launch> launch = plan(call, choice.grid.gpu());
              if (launch) choice.grid.apply(*launch);
              return launch;
            };
            return made;
          }};
}

}  // namespace

bool add_window_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const DType dtype = parts->dtype;
  const std::string_view root = parts->root;
  if (root == "im2col" || root == "im2col1d") {
    for (const Im2ColCase& choice : im2col_cases(root == "im2col", wanted)) {
      cases.push_back(im2col_case(kernel, dtype, choice));
    }
  } else if (root == "col2im1d") {
    for (const Col2ImCase& choice : col2im_cases(wanted)) {
      cases.push_back(col2im_case(kernel, dtype, choice));
    }
  } else if (root == "avg_pool2d" || root == "max_pool2d") {
    const auto op = root == "avg_pool2d" ? ops::PoolOp::kAverage : ops::PoolOp::kMaximum;
    for (const PoolCase& choice : pool_cases(wanted)) {
      cases.push_back(pool_case(kernel, op, dtype, choice));
    }
  } else {
    return false;
  }
  return true;
}

Contracts window_contracts() {
  return {
      {"im2col1d", "src[b, c, y stride + t dilation - padding] at (b, y, c, t)", "", "exact",
       "0 beyond the image", "Kept: parameter dst_numel counts windows of one channel."},
      {"im2col", "the same of two dims, at (b, y, x, c, t, u)", "", "exact", "0 beyond the image",
       ""},
      {"col2im1d", "Σ src[b, l, c, t] over l stride + t = x", kFloatsIn,
       "a half unit of Σ abs x for each term", "integers keep the low bits of the exact sum", ""},
      {"avg_pool2d", "Σ x / count over a window", kFloatsIn,
       "0.5, and a half unit of Σ abs x / count for each term", "",
       "Mended: sums of u8 and u32 are exact, and the quotient is cut off; the original wraps, and "
       "multiplies by an f32. Kept: parameters called w are of dim 2, h of dim 3."},
      {"max_pool2d", "max x over a window", "", "exact",
       "f64 f32 ignore a NaN, f16 bf16 keep it; of nothing but NaN -infinity",
       "Kept: the rule for NaN by type; parameters called w are of dim 2, h of dim 3."},
  };
}

}  // namespace kiln::conformance
