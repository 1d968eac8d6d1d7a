// conv1d, conv2d, conv_transpose1d, conv_transpose2d: direct convolutions of images.
//
// Contract: taps outside of the image add nothing, whatever their weight. A float sum may be off by
// one rounding of the computing type for each term; f16 and bf16 are computed in f32. Integers keep
// the low bits of the exact sum. conv_tiles64, conv_tiles16, conv_patches64 and conv_patches16
// compute all four convolutions as products of matrices, conv_channels the plain ones. There, matrix units may truncate instead of
// rounding, and a weight that is not finite gives NaN for taps outside of the image.
#include <memory>

#include "kiln/ops/conv.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/images.hpp"

namespace kiln::conformance {
namespace {

using ops::ConvolutionKind;
using ops::ConvolutionTiles;

constexpr auto kPlain = ConvolutionKind::kPlain, kTransposed = ConvolutionKind::kTransposed;
constexpr auto kDense = ImageLayout::kDense;
constexpr auto kLast = ImageLayout::kChannelsLast;
constexpr auto kNarrowed = ImageLayout::kNarrowed;

struct ConvolutionCase {
  std::size_t images, channels, channels_out;
  ops::Extents size, window;  // one dim, or height and width
  std::size_t stride = 1, padding = 0, dilation = 1, out_padding = 0;
  ImageLayout src = ImageLayout::kDense, kernel = ImageLayout::kDense;
  GridChoice grid = own_grid();
  RowKind kind = RowKind::kNormal;
  std::size_t misalignment = 0;
  ConvolutionTiles tiles = ConvolutionTiles::kNone;

  ops::Extents src_dims() const {
    return size.rank() == 1 ? ops::Extents{images, channels, size[0]}
                            : ops::Extents{images, channels, size[0], size[1]};
  }
  ops::Extents kernel_dims(ConvolutionKind of) const {
    const bool transposed = of == ConvolutionKind::kTransposed;
    const std::size_t first = transposed ? channels : channels_out;
    const std::size_t second = transposed ? channels_out : channels;
    return size.rank() == 1 ? ops::Extents{first, second, window[0]}
                            : ops::Extents{first, second, window[0], window[1]};
  }
  ops::Convolution call(ConvolutionKind of, DType dtype) const {
    ops::Convolution made;
    made.kind = of;
    made.dtype = dtype;
    made.src_layout = {src_dims()};
    made.kernel_layout = {kernel_dims(of)};
    made.stride = stride;
    made.padding = padding;
    made.dilation = dilation;
    made.out_padding = of == ConvolutionKind::kTransposed ? out_padding : 0;
    made.geometry = grid.geometry;
    made.tiles = tiles;
    return made;
  }
  std::string name(std::string_view kernel_name) const {
    std::string text = std::string(kernel_name) + "/images/" + shape_name(src_dims()) +
                       "/to=" + std::to_string(channels_out) + "/window=" + shape_name(window) +
                       "/stride=" + std::to_string(stride) + "/padding=" + std::to_string(padding) +
                       "/dilation=" + std::to_string(dilation);
    if (out_padding != 0) text += "/out-padding=" + std::to_string(out_padding);
    if (src != ImageLayout::kDense) text += "/src=" + conformance::name(src);
    if (kernel != ImageLayout::kDense) text += "/kernel=" + conformance::name(kernel);
    if (kind != RowKind::kNormal) text += std::string("/") + conformance::name(kind);
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    if (tiles == ConvolutionTiles::kFewChannelsApart) text += "/apart";
    return text + "/" + grid.name;
  }
};

bool is_by_patches(ConvolutionTiles tiles) {
  return tiles == ConvolutionTiles::kPatchesManyChannels ||
         tiles == ConvolutionTiles::kPatchesFewChannels;
}

// Draws a convolution whose windows fit, and that patches take if they are wanted, with few enough
// terms for the reference.
ConvolutionCase random_convolution(ConvolutionKind of, std::size_t dims, ConvolutionTiles tiles,
                                   Draw& draw) {
  const bool is_tiled = tiles != ConvolutionTiles::kNone;
  const std::size_t most_taps = is_tiled ? 31 : 100;
  for (;;) {
    const ops::Extents src = draw.dims(dims + 2, dims + 2, draw.limit() / 4);
    ConvolutionCase choice{
        src[0], src[1], draw.size(150), {src.begin() + 2, dims}, {src.begin() + 2, dims}};
    std::size_t terms = choice.channels;
    for (std::size_t d = 0; d < dims; ++d) {
      choice.window[d] = draw.one_in(6) ? draw.size(most_taps) : draw.between(1, 5);
      terms *= choice.window[d];
    }
    const bool has_stride = !is_by_patches(tiles) || of == ConvolutionKind::kTransposed;
    choice.stride = !has_stride || draw.one_in(2) ? 1 : draw.between(1, 5);
    choice.padding = draw.one_in(2) ? 0 : draw.below(2 * choice.window[0] + 2);
    choice.dilation = draw.one_in(2) ? 1 : draw.between(1, 4);
    if (of == ConvolutionKind::kTransposed) choice.out_padding = draw.below(choice.stride);
    choice.src = random_layout(draw);
    choice.kernel = random_layout(draw);
    choice.misalignment = draw.misalignment();
    choice.tiles = tiles;
    if (!is_tiled) {
      choice.grid = draw.grid();
      if (draw.one_in(6)) choice.kind = draw.one_in(2) ? RowKind::kNan : RowKind::kInfinity;
    }
    const Result<ops::Extents> out = output_dims(choice.call(of, DType::kF32));
    if (!out || product(*out) > draw.max_terms() / terms) continue;
    if (tiles == ConvolutionTiles::kNone || plan(choice.call(of, DType::kF16))) return choice;
  }
}

std::vector<ConvolutionCase> cases_of_dims(std::size_t dims, Breadth breadth) {
  const bool flat = dims == 2;
  const auto sizes = [flat](std::size_t height, std::size_t width) {
    return flat ? ops::Extents{height, width} : ops::Extents{width};
  };
  std::vector<ConvolutionCase> list = {
      // Height and width differ, also those of the window.
      {2, 3, 5, sizes(4, 9), sizes(2, 3)},
      {1, 2, 4, sizes(5, 7), sizes(3, 2), 2, 1, 1, 1, kLast, kNarrowed, reference_grid()},
      {2, 1, 1, sizes(6, 11), sizes(2, 3), 1, 2, 3, 0, kNarrowed, kDense, own_grid()},
      {1, 3, 2, sizes(3, 5), sizes(2, 4), 3, 2, 2, 2, kDense, kLast, grid_of(3, 64)},
      // A stride larger than the window; infinite weights over the padding.
      {1, 2, 3, sizes(4, 5), sizes(1, 2), 4, 0, 1, 3},
      {1, 2, 2, sizes(3, 4), sizes(3, 3), 1, 1, 1, 0, kDense, kDense, own_grid(),
       RowKind::kInfinity},
      {1, 2, 2, sizes(3, 4), sizes(2, 2), 2, 0, 1, 0, kDense, kDense, own_grid(), RowKind::kNan, 1},
      // Sums that exceed a byte, and more taps than the number of weights that are kept at once.
      {1, 64, 9, sizes(3, 4), sizes(3, 3), 1, 1},
  };
  if (breadth == Breadth::kHandful) return list;
  for (const std::size_t stride : {1, 2, 3}) {
    for (const std::size_t dilation : {1, 2, 3}) {
      for (const std::size_t padding : {0, 1, 2}) {
        list.push_back({2, 3, 6, sizes(9, 12), sizes(3, 4), stride, padding, dilation, stride - 1});
      }
    }
  }
  for (const GridChoice& grid : all_grids()) {
    if (grid.blocks == 0) continue;
    list.push_back({2, 4, 7, sizes(5, 13), sizes(3, 3), 1, 1, 1, 0, kDense, kDense, grid});
    list.push_back({2, 4, 7, sizes(5, 13), sizes(3, 3), 2, 1, 1, 1, kDense, kDense, grid});
  }
  list.push_back({1, 1, 1, sizes(1, 1), sizes(1, 1)});
  list.push_back(
      {3, 5, 8, sizes(17, 33), sizes(5, 3), 1, 2, 1, 0, kDense, kDense, reference_grid()});
  list.push_back({1, 300, 5, sizes(4, 6), sizes(3, 3), 1, 1});
  list.push_back({1, 1, 2, sizes(2, 600), sizes(1, 530), 1, 5});
  list.push_back({1, 3, 70, sizes(2, 3), sizes(2, 2), 1, 1});
  return list;
}

struct TiledCase {
  ConvolutionKind kind;
  ConvolutionCase choice;
};

// Channels, outputs and summed elements end inside of tiles and steps, and span several of them.
// These cases suit tiles and patches.
std::vector<TiledCase> cases_of_both() {
  return {
      {kPlain, {2, 3, 70, {5, 9}, {2, 3}, 1, 1}},
      {kPlain, {1, 33, 5, {7, 11}, {1, 1}}},
      {kPlain, {1, 1, 1, {1, 1}, {1, 1}}},
      {kPlain, {1, 1, 2, {40}, {31}, 1, 15}},
      {kPlain, {1, 2, 2, {3, 4}, {2, 2}, 1, 0, 1, 0, kDense, kDense, own_grid(), RowKind::kNan, 1}},
      {kTransposed, {2, 5, 18, {5, 6}, {4, 4}, 2, 1, 1, 1, kNarrowed, kDense}},
      {kTransposed, {1, 2, 3, {4, 5}, {1, 2}, 4, 0, 1, 3, kDense, kNarrowed}},
      {kTransposed, {2, 9, 66, {21}, {5}, 2, 1, 3, 1}},
  };
}

std::vector<TiledCase> cases_of_tiles() {
  return {
      {kPlain, {3, 5, 17, {9, 14}, {3, 2}, 2, 2, 2, 0, kLast, kNarrowed}},
      {kPlain, {1, 40, 18, {3, 4}, {3, 3}, 1, 1}},
      {kPlain, {2, 7, 20, {75}, {5}, 3, 4, 2, 0, kNarrowed, kLast}},
      {kTransposed, {1, 3, 4, {4, 7}, {3, 2}, 1, 1, 2, 0, kLast, kDense}},
  };
}

// Four tiles of a block, some of them beyond the last output; and blocks that compute several
// tiles.
std::vector<TiledCase> cases_of_tiles_apart() {
  return {
      {kPlain, {2, 3, 20, {5, 15}, {2, 3}, 1, 1}},
      {kTransposed, {1, 20, 5, {9, 8}, {3, 4}, 2, 1}},
      {kPlain, {1, 5, 3, {400}, {3}, 1, 1, 1, 0, kDense, kDense, grid_of(2, 128)}},
  };
}

// Also taps in several groups, tiles of each width and several of them, and classes without taps.
std::vector<TiledCase> cases_of_patches() {
  return {
      {kPlain, {2, 16, 17, {19, 34}, {3, 3}, 1, 1, 1, 0, kLast, kNarrowed}},
      {kPlain, {1, 18, 18, {9, 40}, {2, 2}, 1, 2, 1, 0, kNarrowed, kLast}},
      {kPlain, {1, 4, 3, {3, 70}, {3, 2}, 1, 1}},
      {kPlain, {1, 2, 3, {2, 252}, {1, 3}}},
      {kPlain, {1, 5, 4, {6, 7}, {5, 4}, 1, 2}},
      {kPlain, {2, 17, 4, {8, 21}, {3, 3}, 1, 1, 2}},
      {kPlain, {1, 33, 130, {6, 7}, {5, 4}, 1, 2}},
      {kPlain, {1, 17, 3, {2, 3}, {5, 5}, 1, 6}},
      {kPlain, {1, 17, 3, {4, 5}, {1, 1}, 1, 0, 1u << 28}},
      {kPlain, {2, 7, 20, {300}, {5}, 1, 4, 2, 0, kNarrowed, kLast}},
      {kPlain,
       {1, 18, 2, {5, 6}, {2, 2}, 1, 0, 1, 0, kDense, kDense, own_grid(), RowKind::kInfinity}},
      {kTransposed, {1, 19, 4, {4, 7}, {3, 2}, 1, 1, 2, 0, kLast, kDense}},
      {kTransposed, {1, 17, 4, {6, 8}, {5, 4}, 1, 2}},
      {kTransposed, {2, 18, 18, {16, 17}, {4, 3}, 2, 1}},
      {kTransposed, {1, 18, 4, {5, 6}, {7, 7}, 2, 3, 1, 1}},
  };
}

// The ways of a kernel, by its root. None: the kernel works on no tiles.
std::vector<ConvolutionTiles> ways_of(std::string_view root) {
  if (root == "conv_tiles64") return {ConvolutionTiles::kManyChannels};
  if (root == "conv_tiles16") {
    return {ConvolutionTiles::kFewChannels, ConvolutionTiles::kFewChannelsApart};
  }
  if (root == "conv_patches64") return {ConvolutionTiles::kPatchesManyChannels};
  if (root == "conv_patches16") return {ConvolutionTiles::kPatchesFewChannels};
  if (root == "conv_channels") return {ConvolutionTiles::kChannelsLast};
  return {};
}

// Channels that end inside of a step and of several; tiles of either shape, which end inside of an
// image or span several; strides, and outputs that are stored one by one or in eights.
std::vector<TiledCase> cases_of_channels() {
  // One and many multiprocessors: the terms of a tile are shared by two and by four blocks.
  const auto planned_for = [](std::uint32_t multiprocessors) {
    GridChoice grid = own_grid();
    grid.multiprocessors = multiprocessors;
    grid.name += "/multiprocessors=" + std::to_string(multiprocessors);
    return grid;
  };
  return {
      {kPlain, {3, 5, 17, {9, 14}, {3, 2}, 2, 2, 2, 0, kLast, kNarrowed}},
      {kPlain, {2, 40, 66, {7, 8}, {3, 3}, 1, 1}},
      {kPlain, {5, 33, 130, {4, 9}, {2, 2}, 1, 0, 1, 0, kNarrowed, kLast}},
      {kPlain, {2, 7, 20, {300}, {5}, 3, 4, 2, 0, kNarrowed, kLast}},
      {kPlain, {1, 70, 9, {257}, {3}, 1, 1}},
      // Lines and weights of whole chunks.
      {kPlain, {2, 64, 66, {5, 8}, {3, 3}, 1, 1}},
      {kPlain, {1, 64, 9, {7, 24}, {3, 3}, 2, 0, 2}},
      {kPlain, {2, 128, 5, {24}, {3}, 2, 2}},
      {kPlain, {1, 64, 130, {3, 16}, {1, 1}}},
      // Images and weights that are read as they are.
      {kPlain, {3, 64, 70, {5, 8}, {1, 1}}},
      {kPlain, {2, 192, 5, {72}, {1}, 1, 0, 1, 0, kDense, kDense, planned_for(132)}},
      {kPlain,
       {1, 128, 2, {2, 4}, {1, 1}, 1, 0, 1, 0, kDense, kDense, own_grid(), RowKind::kNormal, 1}},
      {kPlain, {1, 130, 65, {2, 4}, {2, 3}, 1, 1, 1, 0, kDense, kDense, planned_for(1)}},
      {kPlain,
       {1,
        130,
        131,
        {3, 41},
        {2, 3},
        1,
        1,
        1,
        0,
        kDense,
        kDense,
        planned_for(132),
        RowKind::kNormal,
        1}},
      {kPlain,
       {1, 18, 2, {5, 6}, {2, 2}, 1, 0, 1, 0, kDense, kDense, own_grid(), RowKind::kInfinity}},
  };
}

std::vector<TiledCase> listed_cases(const std::vector<ConvolutionTiles>& ways) {
  std::vector<TiledCase> list;
  const auto append = [&](const std::vector<TiledCase>& cases, ConvolutionTiles tiles) {
    for (TiledCase each : cases) {
      each.choice.tiles = tiles;
      list.push_back(each);
    }
  };
  if (ways.front() == ConvolutionTiles::kChannelsLast) {
    append(cases_of_channels(), ways.front());
    return list;
  }
  append(cases_of_both(), ways.front());
  append(is_by_patches(ways.front()) ? cases_of_patches() : cases_of_tiles(), ways.front());
  if (ways.back() == ConvolutionTiles::kFewChannelsApart) {
    append(cases_of_tiles_apart(), ways.back());
  }
  return list;
}

TiledCase random_tiled_case(const std::vector<ConvolutionTiles>& ways, Draw& draw) {
  const ConvolutionTiles tiles = ways[draw.below(ways.size())];
  const bool is_plain = tiles == ConvolutionTiles::kChannelsLast || draw.one_in(2);
  const auto of = is_plain ? ConvolutionKind::kPlain : ConvolutionKind::kTransposed;
  return {of, random_convolution(of, draw.between(1, 2), tiles, draw)};
}

// Computes the reference: each element of the image times each weight, added to the output that the
// definition names.
std::vector<Expected> reference(ConvolutionKind of, DType dtype, const ConvolutionCase& choice,
                                const ops::Extents& out, const Image& src, const Image& kernel) {
  const bool flat = choice.size.rank() == 2;
  const std::size_t rows = flat ? choice.size[0] : 1, columns = choice.size[flat ? 1 : 0];
  const std::size_t row_taps = flat ? choice.window[0] : 1, taps = choice.window[flat ? 1 : 0];
  const std::size_t rows_out = flat ? out[2] : 1, columns_out = out[flat ? 3 : 2];
  const bool transposed = of == ConvolutionKind::kTransposed;
  std::vector<WindowSum> sums(product(out));
  // Finds the output that an element and a tap contribute to. Returns false if it is outside of the
  // output or between two outputs.
  const auto place = [&](std::size_t at, std::size_t tap, bool padded, std::size_t size,
                         std::size_t& to) {
    const std::size_t padding = padded ? choice.padding : 0;
    const std::size_t reach = tap * choice.dilation;
    if (transposed) {
      const std::size_t whole = at * choice.stride + reach;
      if (whole < padding) return false;
      to = whole - padding;
    } else {
      if (at + padding < reach || (at + padding - reach) % choice.stride != 0) return false;
      to = (at + padding - reach) / choice.stride;
    }
    return to < size;
  };
  const auto element = [&](std::size_t b, std::size_t c, std::size_t y, std::size_t x, auto read) {
    return flat ? read(src, b, c, y, x) : read(src, b, c, x);
  };
  for (std::size_t b = 0; b < choice.images; ++b) {
    for (std::size_t o = 0; o < choice.channels_out; ++o) {
      for (std::size_t c = 0; c < choice.channels; ++c) {
        const std::size_t first = transposed ? c : o, second = transposed ? o : c;
        for (std::size_t y = 0; y < rows; ++y) {
          for (std::size_t t = 0; t < row_taps; ++t) {
            std::size_t row = 0, column = 0;
            if (!place(y, t, flat, rows_out, row)) continue;
            for (std::size_t x = 0; x < columns; ++x) {
              for (std::size_t u = 0; u < taps; ++u) {
                if (!place(x, u, true, columns_out, column)) continue;
                WindowSum& sum =
                    sums[((b * choice.channels_out + o) * rows_out + row) * columns_out + column];
                if (is_float(dtype)) {
                  const auto number = [](const Image& image, auto... i) {
                    return image.number(i...);
                  };
                  const Real weight =
                      flat ? kernel.number(first, second, t, u) : kernel.number(first, second, u);
                  sum.add(element(b, c, y, x, number) * weight);
                } else {
                  const auto bits = [](const Image& image, auto... i) { return image.bits(i...); };
                  const Bits weight =
                      flat ? kernel.bits(first, second, t, u) : kernel.bits(first, second, u);
                  sum.add(Bits{element(b, c, y, x, bits) * weight});
                }
              }
            }
          }
        }
      }
    }
  }
  std::vector<Expected> expected;
  const Real times = choice.tiles != ConvolutionTiles::kNone && dtype != DType::kF32 ? 2 : 1;
  for (const WindowSum& sum : sums) expected.push_back(sum.expected(dtype, times));
  return expected;
}

Case build(std::string name, ConvolutionKind of, DType dtype, const ConvolutionCase& choice,
           const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  auto src =
      std::make_shared<Image>(dtype, choice.src_dims(), choice.src, RowKind::kNormal, random);
  auto kernel =
      std::make_shared<Image>(dtype, choice.kernel_dims(of), choice.kernel, choice.kind, random);
  made.operands.push_back(src->operand("src", choice.misalignment));
  made.operands.push_back(kernel->operand("kernel", choice.misalignment));
  const ops::Extents out = *output_dims(choice.call(of, dtype));
  made.operands.push_back(image_output(dtype, out, random, choice.misalignment, [=] {
    return reference(of, dtype, choice, out, *src, *kernel);
  }));
  const auto plan_on = [=](const std::vector<void*>& addresses, const ops::Gpu& gpu) {
    ops::Convolution call = choice.call(of, dtype);
    call.src_layout = src->layout();
    call.kernel_layout = kernel->layout();
    call.src = src->first(addresses[0]);
    call.kernel = kernel->first(addresses[1]);
    call.dst = addresses[2];
    Result<ops::Launch> launch = plan(call, choice.grid.gpu(gpu));
    if (launch) choice.grid.apply(*launch);
    return launch;
  };
  if (choice.tiles == ConvolutionTiles::kChannelsLast) {
    made.plan_for = plan_on;
  } else {
    made.plan = [=](const std::vector<void*>& addresses) { return plan_on(addresses, {}); };
  }
  return made;
}

void add_tiled_cases(std::string_view kernel, DType dtype,
                     const std::vector<ConvolutionTiles>& ways, const Wanted& wanted,
                     std::vector<CaseSpec>& cases) {
  const std::vector<TiledCase> list = wanted.draw != nullptr
                                          ? std::vector{random_tiled_case(ways, *wanted.draw)}
                                          : listed_cases(ways);
  for (const TiledCase& each : list) {
    const ConvolutionCase choice = each.choice;
    const ConvolutionKind of = each.kind;
    const std::string name = choice.name(
        std::string(kernel) + (of == ConvolutionKind::kPlain ? "/plain" : "/transposed"));
    const std::size_t work = product(*output_dims(choice.call(of, dtype)));
    cases.push_back({name, choice.grid.work(work),
                     [=](const Seed& seed) { return build(name, of, dtype, choice, seed); }});
  }
}

}  // namespace

bool add_convolution_cases(std::string_view kernel, const Wanted& wanted,
                           std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const std::string_view root = parts->root;
  if (const std::vector<ConvolutionTiles> ways = ways_of(root); !ways.empty()) {
    add_tiled_cases(kernel, parts->dtype, ways, wanted, cases);
    return true;
  }
  const bool transposed = root == "conv_transpose1d" || root == "conv_transpose2d";
  if (!transposed && root != "conv1d" && root != "conv2d") return false;
  const std::size_t dims = root.substr(root.size() - 2) == "1d" ? 1 : 2;
  const ConvolutionKind of = transposed ? ConvolutionKind::kTransposed : ConvolutionKind::kPlain;
  const DType dtype = parts->dtype;
  const std::vector<ConvolutionCase> list =
      wanted.draw != nullptr
          ? std::vector{random_convolution(of, dims, ConvolutionTiles::kNone, *wanted.draw)}
          : cases_of_dims(dims, wanted.breadth);
  for (const ConvolutionCase& choice : list) {
    const Result<ops::Extents> out = output_dims(choice.call(of, dtype));
    if (!out) continue;  // windows that do not fit
    const std::string name = choice.name(kernel);
    const std::size_t work = product(*out) + product(choice.kernel_dims(of));
    cases.push_back({name, choice.grid.work(work),
                     [=](const Seed& seed) { return build(name, of, dtype, choice, seed); }});
  }
  return true;
}

Contracts convolution_contracts() {
  const std::string bound = "a half unit of Σ abs x k for each term";
  const std::string tiled = "f32 as conv2d; f16, bf16: a unit of Σ abs x k for each term";
  const std::string not_finite =
      "a weight that is not finite gives NaN where its tap lies beyond the image";
  const std::string integers = "integers keep the low bits of the exact sum";
  return {
      {"conv1d", "Σ src[b, c, y stride + t dilation - padding] kernel[o, c, t]", kFloatsIn, bound,
       integers,
       "Mended: dilation above 1. Kept: parameter num_dims is the output's length; integers wrap."},
      {"conv2d", "the same of two dims", kFloatsIn, bound, integers, "As conv1d."},
      {"conv_transpose1d", "Σ src[b, c, p] kernel[c, o, t], p stride + t dilation - padding = y",
       kFloatsIn, bound, integers, "Kept: out_padding is read by the host alone."},
      {"conv_transpose2d", "the same of two dims", kFloatsIn, bound, integers,
       "As conv_transpose1d."},
      {"conv_tiles64", "each of the four, by tiles of 64 output channels", "f32", tiled, not_finite,
       "A name of our own. Windows of up to 31 taps a dim."},
      {"conv_tiles16", "the same by tiles of 16 output channels", "f32", tiled, not_finite,
       "As conv_tiles64."},
      {"conv_patches64", "the same by patches of the image, 64 output channels at a time", "f32",
       tiled, not_finite, "As conv_tiles64, of a stride of 1, and any stride of the transposes."},
      {"conv_patches16", "the same, 16 output channels at a time", "f32", tiled, not_finite,
       "As conv_patches64."},
  };
}

Contracts channel_convolution_contracts() {
  return {{"conv_channels", "plain conv1d and conv2d over copies whose channels lie side by side",
           "f32", "a unit of Σ abs x k for each term",
           "a weight that is not finite gives NaN where its tap lies beyond the image",
           "A name of our own. Windows of up to 31 taps a dim."}};
}

}  // namespace kiln::conformance
