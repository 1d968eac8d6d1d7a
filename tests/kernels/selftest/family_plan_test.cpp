// The launches of cast, binary, where, the reductions, the norms and rope.
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "kiln/ops/binary.hpp"
#include "kiln/ops/cast.hpp"
#include "kiln/ops/norm.hpp"
#include "kiln/ops/reduce.hpp"
#include "kiln/ops/rope.hpp"
#include "kiln/ops/ternary.hpp"
#include "kiln/ops/unary.hpp"

namespace kiln::ops {
namespace {

std::string message(const Result<Launch>& launch) {
  return launch ? "no error" : launch.error().message;
}

template <typename T>
T argument(const Launch& launch, std::size_t i) {
  T value{};
  REQUIRE(launch.arguments.at(i).size() == sizeof value);
  std::memcpy(&value, launch.arguments[i].data(), sizeof value);
  return value;
}

TEST_CASE("plan of a cast names both types, and refuses a pair without a kernel") {
  Cast call;
  call.layout = {{4, 256}};
  call.to = DType::kF8E4M3;
  const auto launch = plan(call);
  REQUIRE(launch);
  CHECK(to_string(*launch) == "cast.cast_f32_f8_e4m3<<<8, 128>>>");
  CHECK(launch->layout.empty());
  call.from = DType::kI64;
  call.to = DType::kF16;
  CHECK(message(plan(call)) == "no kernel casts 'i64' to 'f16'");
  std::size_t pairs = 0;
  for (const DTypeInfo& from : kDTypes) {
    for (const DTypeInfo& to : kDTypes) pairs += has_cast(from.dtype, to.dtype) ? 1 : 0;
  }
  CHECK(pairs == 58);
}

TEST_CASE("large views of what networks cast go tile by tile") {
  const auto kernel = [](DType from, DType to, Layout layout, Geometry geometry = Geometry::kOwn) {
    Cast call;
    call.from = from;
    call.to = to;
    call.layout = std::move(layout);
    call.geometry = geometry;
    call.out = &call;
    const auto launch = plan(call, {"sm_90", 132});
    REQUIRE(launch);
    return to_string(*launch).substr(5);
  };
  const DType half = DType::kF16, single = DType::kF32;
  // A tile has 64 elements along the lines of the input, and 32 lines.
  CHECK(kernel(half, single, {{4096, 1024}, {1, 4096}}) == "cast_tiles_f16_f32<<<2048, 256>>>");
  CHECK(kernel(half, single, {{4096, 1024}, {1025, 1}}) == "cast_tiles_f16_f32<<<2048, 256>>>");
  CHECK(kernel(half, single, {{4096, 1023}, {0, 1}}) == "cast_tiles_f16_f32<<<2048, 256>>>");
  // The other dims are those of the grid.
  CHECK(kernel(half, single, {{8, 512, 12, 63}, {387072, 63, 32256, 1}}) ==
        "cast_tiles_f16_f32<<<16x8x12, 256>>>");
  // Rows of whole chunks: a thread for each, unless elements are read again.
  CHECK(kernel(half, single, {{4096, 1024}, {2048, 1}}) == "cast_f16_f32<<<8192, 128>>>");
  CHECK(kernel(half, single, {{8, 512, 12, 64}, {393216, 64, 32768, 1}}) ==
        "cast_f16_f32<<<6144, 128>>>");
  CHECK(kernel(single, half, {{8192, 1024}, {2048, 1}}) == "cast_f32_f16<<<16384, 128>>>");
  CHECK(kernel(single, half, {{8192, 1024}, {0, 1}}) == "cast_f32_f16<<<1056, 256>>>");
  // Element by element: few elements, tiles that are mostly empty, steps in all dims, other pairs
  // of types, the reference geometry.
  CHECK(kernel(half, single, {{128, 32}, {1, 128}}) == "cast_f16_f32<<<32, 128>>>");
  CHECK(kernel(half, single, {{1 << 20, 3}, {1, 1 << 20}}).substr(0, 13) == "cast_f16_f32<");
  CHECK(kernel(half, single, {{1024, 1024}, {4096, 2}}).substr(0, 13) == "cast_f16_f32<");
  CHECK(kernel(DType::kF64, half, {{4096, 1024}, {1, 4096}}).substr(0, 13) == "cast_f64_f16<");
  CHECK(kernel(half, single, {{4096, 1024}, {1, 4096}}, Geometry::kReference) ==
        "cast_f16_f32<<<4096, 1024>>>");
}

TEST_CASE("copies of large views that are a transpose or a slice go by their kernels") {
  alignas(16) char memory[64];
  const auto kernel = [&](DType dtype, Layout layout, Geometry geometry = Geometry::kOwn,
                          Rearranged rearranged = Rearranged::kBySize,
                          std::size_t misalignment = 0) {
    Unary call;
    call.dtype = dtype;
    call.layout = std::move(layout);
    call.inp = memory + misalignment;
    call.out = memory + 32;
    call.geometry = geometry;
    call.rearranged = rearranged;
    const auto launch = plan(call, {"sm_90", 132});
    REQUIRE(launch);
    const std::string text = launch->kernel.text();
    return text.substr(0, text.find('<'));
  };
  const DType single = DType::kF32, byte = DType::kU8;
  CHECK(kernel(single, {{512, 512}, {1, 512}}) == "transpose_f32");
  CHECK(kernel(single, {{8, 512, 64}, {32768, 1, 512}}) == "transpose_f32");
  CHECK(kernel(byte, {{50257, 8}, {1, 50257}}) == "transpose_u8");  // no tiles
  CHECK(kernel(single, {{4, 3, 1 << 16}, {3 << 16, 1, 3}}) == "transpose_f32");
  // Some columns; heads of 64; a repeated row.
  CHECK(kernel(single, {{1024, 2048}, {4096, 1}}) == "slice_f32");
  CHECK(kernel(single, {{12, 4096, 64}, {64, 768, 1}}) == "slice_f32");
  CHECK(kernel(single, {{8, 12, 512, 64}, {393216, 64, 768, 1}}) == "slice_f32");
  CHECK(kernel(single, {{1024, 2048}, {0, 1}}) == "slice_f32");
  // Fewer of them; places that are not whole chunks; misaligned ones.
  CHECK(kernel(single, {{512, 640}, {1280, 1}}) == "ucopy_f32");
  CHECK(kernel(single, {{12, 512, 64}, {64, 768, 1}}) == "ucopy_f32");
  CHECK(kernel(single, {{1024, 2050}, {4096, 1}}) == "ucopy_f32");
  CHECK(kernel(single, {{1024, 2048}, {4096, 1}}, Geometry::kOwn, Rearranged::kBySize, 8) ==
        "ucopy_f32");
  // Few elements, lines that are not whole accesses, dims in another order.
  CHECK(kernel(single, {{128, 100}, {1, 128}}) == "ucopy_f32");
  CHECK(kernel(single, {{299, 1283}, {1, 299}}) == "ucopy_f32");
  CHECK(kernel(single, {{128, 100}, {200, 1}}) == "ucopy_f32");
  CHECK(kernel(single, {{512, 512}, {1024, 1}}) == "ucopy_f32");
  CHECK(kernel(single, {{128, 4097}, {8194, 1}}) == "ucopy_f32");
  CHECK(kernel(byte, {{128, 4097}, {8194, 1}}) == "ucopy_u8");
  CHECK(kernel(single, {{4099, 4097}, {8194, 1}}) == "ucopy_f32");
  CHECK(kernel(single, {{512, 512}, {1024, 2}}) == "ucopy_f32");
  CHECK(kernel(single, {{512, 512}, {1, 512}}, Geometry::kOwn, Rearranged::kNever) == "ucopy_f32");
  CHECK(kernel(single, {{512, 512}, {1, 512}}, Geometry::kReference) == "ucopy_f32");
  // A copy in place would read what it has written.
  Unary in_place;
  in_place.dtype = single;
  in_place.layout = {{512, 512}, {1, 512}};
  in_place.inp = in_place.out = memory;
  CHECK_FALSE(plan(in_place, {"sm_90", 132}));
}

TEST_CASE("a slice copies what the view has") {
  const Layout views[] = {
      {{300, 1000}, {2000, 1}},                  // columns
      {{3, 41, 50, 56}, {114800, 56, 2296, 1}},  // heads
      {{700, 412}, {0, 1}},                      // a repeated row
      {{5, 70, 920}, {72000, 1000, 1}},          // gaps between rows and between planes
      {{77, 66, 60}, {8000, 120, 1}},            // every second element
  };
  const std::size_t sizes[] = {1, 2, 4, 8};
  const DType dtypes[] = {DType::kU8, DType::kBF16, DType::kF32, DType::kF64};
  for (const Layout& view : views) {
    for (std::size_t t = 0; t < 4; ++t) {
      alignas(16) static char memory[32];
      Unary call;
      call.dtype = dtypes[t];
      call.layout = view;
      call.inp = memory;
      call.out = memory + 16;
      call.rearranged = Rearranged::kAlways;
      const auto launch = plan(call, {"sm_90", 132});
      REQUIRE(launch);
      INFO(to_string(view) << " of " << sizes[t] << " bytes: " << to_string(*launch));
      REQUIRE(launch->kernel.text().substr(0, 6) == "slice_");
      const auto argument = [&](std::size_t i) {
        std::size_t value = 0;
        std::memcpy(&value, launch->arguments[i].data(), sizeof value);
        return value;
      };
      const std::size_t left = argument(0), size = argument(1), right = argument(2),
                        start = argument(3), step = argument(4), count = argument(5),
                        pitch = argument(6), arrays = launch->grid.y;
      const std::size_t elements = *element_count(view);
      REQUIRE(elements == arrays * left * count * right);
      const Extents strides = strides_of(view);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < elements; ++i) {
        std::size_t rest = i, at = 0;
        for (std::size_t dim = view.dims.rank(); dim-- > 0; rest /= view.dims[dim]) {
          at += rest % view.dims[dim] * strides[dim];
        }
        const std::size_t r = i % right, j = i / right % count;
        const std::size_t l = i / right / count % left, a = i / right / count / left;
        const std::size_t from = a * pitch + (l * size + start + j * step) * right + r;
        wrong += from != at;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("large turned views of a where go tile by tile, others do not") {
  alignas(16) static char memory[16];
  const auto kernel = [](DType dtype, Layout condition, Layout value) {
    Where call;
    call.dtype = dtype;
    call.condition_layout = std::move(condition);
    call.true_layout = call.false_layout = std::move(value);
    call.condition = call.on_true = call.on_false = memory;
    const auto launch = plan(call, {"sm_90", 132});
    REQUIRE(launch);
    return to_string(*launch).substr(8);
  };
  const Layout turned = {{4096, 1023}, {1, 4096}}, plain = {{4096, 1023}};
  const Layout rows = {{4096, 1024}, {2048, 1}}, repeated = {{4096, 1024}, {0, 1}};
  CHECK(kernel(DType::kBF16, turned, turned) == "where_tiles_u8_f16<<<4096, 256>>>");
  CHECK(kernel(DType::kF8E4M3, plain, turned) == "where_tiles_u8_u8<<<4096, 256>>>");
  CHECK(kernel(DType::kF32, plain, plain).substr(0, 13) == "where_u8_f32<");
  CHECK(kernel(DType::kF32, repeated, rows).substr(0, 13) == "where_u8_f32<");
  CHECK(kernel(DType::kF32, plain, {{4096, 1023}, {2047, 1}}) == "where_u8_f32<<<4092, 256>>>");
  CHECK(kernel(DType::kF32, {{128, 32}, {1, 128}}, {{128, 32}}) == "where_u8_f32<<<32, 128>>>");
}

TEST_CASE("plan of a binary operation passes both layouts unless both are contiguous") {
  Binary call;
  call.op = BinaryOp::kLess;
  call.dtype = DType::kBF16;
  call.lhs_layout = call.rhs_layout = {{3, 2}};
  const auto contiguous = plan(call);
  REQUIRE(contiguous);
  CHECK(contiguous->kernel == "lt_bf16");
  CHECK(contiguous->layout.empty());
  call.rhs_layout.strides = {0, 1};
  const auto broadcast = plan(call);
  REQUIRE(broadcast);
  CHECK(broadcast->layout == std::vector<std::size_t>{3, 2, 2, 1, 0, 1});
  CHECK(broadcast->layout_argument == 2);
  call.rhs_layout = {{2, 3}};
  CHECK(message(plan(call)) == "'rhs' has shape [2, 3], 'lhs' [3, 2]");
  call.dtype = DType::kI16;
  CHECK(message(plan(call)) == "no kernel of 'lt' takes 'i16'");
}

TEST_CASE("plan of a where passes layouts as the reference does, and knows f8's own conditions") {
  Where call;
  call.condition_layout = call.true_layout = call.false_layout = {{5}};
  const auto launch = plan(call);
  REQUIRE(launch);
  CHECK(launch->kernel == "where_u8_f32");
  CHECK(launch->layout.empty());
  call.geometry = Geometry::kReference;
  REQUIRE(plan(call));
  CHECK(plan(call)->layout == std::vector<std::size_t>{5, 1, 1, 1});
  call.condition_dtype = DType::kI16;
  CHECK(message(plan(call)) == "no kernel of 'where' takes 'f32' on a condition of 'i16'");
  call.dtype = DType::kF8E4M3;
  REQUIRE(plan(call));
  CHECK(plan(call)->kernel == "where_i16_fp8_e4m3");
}

TEST_CASE("plan of a reduction moves the reduced dims to the end and takes a block a result") {
  Reduce call;
  call.op = ReduceOp::kMax;
  call.layout = {{4, 33, 6}};
  call.over = {1};
  // Few elements: one thread for each.
  REQUIRE(plan(call));
  CHECK(to_string(*plan(call)) == "reduce.fast_max_f32<<<24, 64>>>");
  call.geometry = Geometry::kReference;
  const auto launch = plan(call);
  REQUIRE(launch);
  CHECK(to_string(*launch) == "reduce.fast_max_f32<<<24, 64>>>");
  CHECK(launch->layout == std::vector<std::size_t>{4, 6, 33, 198, 1, 6});
  CHECK(launch->layout_argument == 3);
  CHECK(argument<std::size_t>(*launch, 0) == 792);
  CHECK(argument<std::size_t>(*launch, 1) == 33);
  call.over = {2, 0};
  CHECK(plan(call)->layout == std::vector<std::size_t>{33, 6, 4, 6, 1, 198});
  CHECK(plan(call)->block.x == 32);
  call.over = {};
  CHECK(message(plan(call)) == "no dim is reduced");
  call.over = {3};
  CHECK(message(plan(call)) == "dim 3 is reduced of shape [4, 33, 6], which has 3 dims");
  call.over = {1, 1};
  CHECK(message(plan(call)) == "dim 1 is reduced twice");
  call.op = ReduceOp::kArgMin;
  call.over = {0, 1};
  CHECK(message(plan(call)) == "'fast_argmin' is over [0, 1], and an index is along one dim");
}

TEST_CASE(
    "plan of a sum into an output gives sizes and strides of the summed dims, outermost first") {
  SumInto call;
  call.layout = {{4, 33, 6}};
  call.over = {2, 0};
  const auto launch = plan(call);
  REQUIRE(launch);
  CHECK(launch->kernel == "sum_f32");
  CHECK(launch->layout == std::vector<std::size_t>{4, 33, 6, 198, 6, 1, 4, 6, 198, 1});
  CHECK(argument<std::size_t>(*launch, 2) == 2);
}

TEST_CASE("plan of the row operations launches as their kernels need") {
  Softmax softmax;
  softmax.rows = 7;
  softmax.columns = 100;
  REQUIRE(plan(softmax));
  CHECK(to_string(*plan(softmax)) == "reduce.softmax_f32<<<7, 1x32>>>");
  // As many rows as there are threads along x.
  softmax.rows = 4096;
  CHECK(to_string(*plan(softmax)) == "reduce.softmax_f32<<<1024, 4x32>>>");
  // If the last block has fewer rows, the columns argument says so.
  softmax.rows = 4099;
  CHECK(to_string(*plan(softmax)) == "reduce.softmax_f32<<<1025, 4x32>>>");
  CHECK(argument<std::int32_t>(*plan(softmax), 2) == ~(100 | 1 << 20));
  softmax.rows = 7;
  softmax.geometry = Geometry::kReference;
  const auto launch = plan(softmax);
  REQUIRE(launch);
  CHECK(to_string(*launch) == "reduce.softmax_f32<<<7, 1x32>>>");
  // Several blocks share a long row, in two steps.
  softmax.geometry = Geometry::kOwn;
  softmax.rows = 1;
  softmax.columns = 128256;
  const auto steps = plan(softmax);
  REQUIRE(steps);
  CHECK(to_string(*steps) == "reduce.softmax_long_f32<<<126, 256>>>");
  CHECK(steps->steps == 2);
  // As many blocks as are resident at once, four pieces a thread.
  softmax.rows = 48;
  CHECK(to_string(*plan(softmax)) == "reduce.softmax_long_f32<<<1056, 256>>>");
  softmax.rows = 3000;
  CHECK(to_string(*plan(softmax)) == "reduce.softmax_long_f32<<<6000, 256>>>");
  // Whole rows fit in the cache.
  softmax.columns = 32000;
  CHECK(plan(softmax)->kernel == "softmax_f32");
  softmax.rows = 1;
  softmax.columns = 8192;
  CHECK(to_string(*plan(softmax)) == "reduce.softmax_f32<<<1, 1x512>>>");
  RmsNorm norm;
  norm.dtype = DType::kF16;
  norm.rows = 7;
  norm.geometry = Geometry::kReference;
  norm.columns = 1023;
  REQUIRE(plan(norm));
  CHECK(plan(norm)->block.x == 32);
  CHECK(argument<std::int32_t>(*plan(norm), 4) == 32);
  norm.columns = 1024;
  CHECK(plan(norm)->block.x == 1024);
  CHECK(argument<std::int32_t>(*plan(norm), 4) == 1024);
  CHECK(argument<float>(*plan(norm), 5) == 1e-5f);
  norm.geometry = Geometry::kOwn;
  // A thread for each 16 bytes, or for two or four such pieces if there are more of them than
  // threads. Short rows share a block.
  CHECK(to_string(*plan(norm)) == "reduce.rmsnorm_f16<<<7, 128>>>");
  norm.rows = 6000;
  CHECK(to_string(*plan(norm)) == "reduce.rmsnorm_f16<<<6000, 64>>>");
  norm.columns = 768;
  CHECK(to_string(*plan(norm)) == "reduce.rmsnorm_f16<<<750, 32x8>>>");
  norm.columns = 128;
  CHECK(to_string(*plan(norm)) == "reduce.rmsnorm_f16<<<375, 16x16>>>");
  CHECK(argument<std::int32_t>(*plan(norm), 4) == 16);
  norm.rows = 65536;
  CHECK(to_string(*plan(norm)) == "reduce.rmsnorm_f16<<<2048, 8x32>>>");
  norm.columns = std::size_t{1} << 31;
  CHECK(message(plan(norm)) == "2147483648 columns are more than the kernel counts");
  LayerNorm layer;
  layer.rows = 1;
  CHECK(message(plan(layer)) == "shape [1, 0] has no elements: dim 1 is 0");
  // Several blocks share a long row, in two steps. An argument tells the kernel which norm it is.
  layer.columns = 128256;
  REQUIRE(plan(layer));
  CHECK(to_string(*plan(layer)) == "reduce.norm_long_f32<<<334, 256>>>");
  CHECK(plan(layer)->steps == 2);
  CHECK(argument<std::uint32_t>(*plan(layer), 8) == 1);
  norm.rows = 1;
  norm.columns = 128256;
  CHECK(to_string(*plan(norm)) == "reduce.norm_long_f16<<<334, 256>>>");
  CHECK(argument<std::uint32_t>(*plan(norm), 8) == 0);
  layer.dtype = DType::kU8;
  CHECK(message(plan(layer)) == "no kernel of 'layernorm' takes 'u8'");
}

TEST_CASE("plan of a rope counts pairs, and a batch's stride where tables are per batch") {
  Rope call;
  call.batches = 2, call.heads = 3, call.tokens = 5, call.head_size = 8;
  const auto launch = plan(call);
  REQUIRE(launch);
  CHECK(launch->kernel == "rope_f32");
  CHECK(argument<std::uint32_t>(*launch, 4) == 6);
  CHECK(argument<std::uint32_t>(*launch, 5) == 40);
  CHECK(argument<std::uint32_t>(*launch, 6) == 8);
  CHECK(argument<std::uint32_t>(*launch, 7) == 0);
  call.tables = RopeTables::kPerBatch;
  call.kind = RopeKind::kHalvesTokensFirst;
  REQUIRE(plan(call));
  CHECK(plan(call)->kernel == "rope_thd_f32");
  CHECK(argument<std::uint32_t>(*plan(call), 5) == 5);
  CHECK(argument<std::uint32_t>(*plan(call), 8) == 120);
  call.head_size = 7;
  CHECK(message(plan(call)) == "heads of 7 elements are no pairs");
}

}  // namespace
}  // namespace kiln::ops
