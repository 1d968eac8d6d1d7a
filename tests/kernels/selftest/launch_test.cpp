#include <array>
#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "kiln/ops/affine.hpp"
#include "kiln/ops/binary.hpp"
#include "kiln/ops/cast.hpp"
#include "kiln/ops/fill.hpp"
#include "kiln/ops/ternary.hpp"
#include "kiln/ops/unary.hpp"
#include "ops/src/own_kernels.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/selftest/abi.hpp"

namespace kiln::ops {
namespace {

Unary gelu(Layout layout) {
  Unary call;
  call.op = UnaryOp::kGeluTanh;
  call.dtype = DType::kF32;
  call.layout = layout;
  return call;
}

std::string message(const Result<Launch>& launch) {
  return launch ? "no error" : launch.error().message;
}

TEST_CASE("plan names the kernel and passes no layout when the input is contiguous") {
  const auto launch = plan(gelu({{4, 256}}));
  REQUIRE(launch);
  CHECK(launch->module == "unary");
  CHECK(launch->kernel == "ugelu_f32");
  CHECK(launch->layout.empty());
  REQUIRE(launch->arguments.size() == 5);
  std::size_t count = 0;
  std::memcpy(&count, launch->arguments[0].data(), sizeof count);
  CHECK(count == 1024);
}

TEST_CASE("plan passes dims then strides when the input is strided") {
  const auto launch = plan(gelu({{3, 2}, {1, 3}}));
  REQUIRE(launch);
  REQUIRE(launch->layout.size() >= 4);  // a table may follow
  CHECK(LayoutBlock(launch->layout.begin(), launch->layout.begin() + 4) == LayoutBlock{3, 2, 1, 3});
  CHECK(launch->layout_argument == 2);
  // Dims of size 1 do not matter: their strides are never used.
  const auto padded = plan(gelu({{1, 4, 1}, {77, 1, 5}}));
  REQUIRE(padded);
  CHECK(padded->layout.empty());
}

TEST_CASE("plan covers every element under both geometries") {
  for (const std::size_t count : {1, 7, 1023, 1024, 1025, 100003}) {
    for (const DType dtype : {DType::kF8E4M3, DType::kF16, DType::kF32, DType::kF64}) {
      Unary call = gelu({{count}});
      call.dtype = dtype;
      call.geometry = Geometry::kReference;
      const auto reference = plan(call);
      REQUIRE(reference);
      CHECK(reference->block.x == 1024);
      CHECK(reference->grid.x == (count + 1023) / 1024);
      call.geometry = Geometry::kOwn;
      const auto own = plan(call);
      REQUIRE(own);
      CHECK(own->grid.x >= 1);
      CHECK(own->block.x <= 1024);
    }
  }
}

// Returns launches of up to 2^22 elements of four bytes, contiguous or not.
std::vector<Launch> maps_of(const Gpu& gpu, Layout layout) {
  Affine affine;
  affine.layout = layout;
  Cast cast;
  cast.layout = layout;
  cast.to = DType::kBF16;
  Binary binary;
  binary.op = BinaryOp::kLess;
  binary.lhs_layout = binary.rhs_layout = layout;
  Where where;
  where.condition_layout = where.true_layout = where.false_layout = layout;
  return {*plan(gelu(layout), gpu), *plan(affine, gpu), *plan(cast, gpu), *plan(binary, gpu),
          *plan(where, gpu)};
}

TEST_CASE("plan spreads every elementwise kernel as kernels/tuning says for the device") {
  constexpr Gpu kLarge{"sm_90", 132}, kSmall{"sm_86", 20};
  const Layout contiguous{{4096, 4096}}, transposed{{2048, 2048}, {1, 2048}};
  for (const Layout& layout : {contiguous, transposed}) {
    const std::vector<Launch> large = maps_of(kLarge, layout), small = maps_of(kSmall, layout);
    for (std::size_t i = 0; i < large.size(); ++i) {
      INFO(to_string(large[i]));
      const auto threads = [](const Launch& launch) {
        return launch.grid.x * launch.grid.y * launch.block.x;
      };
      // Functions of one operand take groups of a transposed view, in larger blocks. Others take
      // units of a table: casts and `where` elements, four each; `lt` groups of four, one each.
      const bool is_view = layout.strides.rank() != 0, has_table = is_view && i >= 2;
      const std::uint32_t block = !is_view ? 128 : i < 2 ? 512 : 256;
      CHECK(large[i].block.x == block);  // the reference block has 1024
      CHECK(small[i].block.x == block);
      CHECK(threads(large[i]) == (has_table ? 1u << 20 : threads(large[0])));
      const std::uint32_t of_small = i == 3 ? 1u << 20 : 1u << 18;  // elements: at most 1024 blocks
      CHECK(threads(small[i]) == (has_table ? of_small : threads(small[0])));
    }
  }
  CHECK(maps_of(kLarge, transposed)[2].grid.x != maps_of(kSmall, transposed)[2].grid.x);
}

TEST_CASE("plan gives aligned medium arrays a thread for each chunk") {
  constexpr Gpu kGpu{"sm_90", 132};
  const auto grid_of = [&](UnaryOp op, DType dtype, std::size_t count, const void* out = nullptr) {
    Unary call;
    call.op = op;
    call.dtype = dtype;
    call.layout = {{count}};
    call.out = const_cast<void*>(out);
    const Launch launch = plan(call, kGpu).value();
    return std::to_string(launch.grid.x) + "x" + std::to_string(launch.block.x);
  };
  constexpr std::size_t kMega = std::size_t{1} << 20;
  CHECK(grid_of(UnaryOp::kNegate, DType::kF16, kMega) == "1024x128");
  CHECK(grid_of(UnaryOp::kGeluTanh, DType::kF32, kMega) == "2048x128");
  CHECK(grid_of(UnaryOp::kNegate, DType::kF16, 4 * kMega) == "2048x256");
  CHECK(grid_of(UnaryOp::kCopy, DType::kF16, kMega) == "256x512");
  // Elements behind the last chunk: brief functions take them, others lack the code.
  CHECK(grid_of(UnaryOp::kNegate, DType::kF16, kMega + 1) == "1024x128");
  CHECK(grid_of(UnaryOp::kGeluTanh, DType::kF16, kMega + 1) == "1025x128");
  // The device holds a thread for each element, or a table of results takes longer than a chunk.
  CHECK(grid_of(UnaryOp::kNegate, DType::kF16, 1 << 18) == "256x1024");
  CHECK(grid_of(UnaryOp::kGeluTanh, DType::kF8E4M3, 8 * kMega) == "2048x128");
  CHECK(grid_of(UnaryOp::kNegate, DType::kF8E4M3, 8 * kMega) == "2048x256");
  // A misaligned array has no chunks.
  alignas(16) const std::array<float, 4> memory{};
  CHECK(grid_of(UnaryOp::kNegate, DType::kF32, 2 * kMega, memory.data() + 1) == "2048x128");
}

TEST_CASE("plan gives large contiguous arrays a thread for every two chunks") {
  constexpr Gpu kGpu{"sm_90", 132};
  for (const std::size_t count : {std::size_t{1} << 26, (std::size_t{1} << 26) + 12345}) {
    const std::vector<Launch> maps = maps_of(kGpu, {{count}});
    for (std::size_t i = 0; i < maps.size(); ++i) {
      INFO(to_string(maps[i]));
      const std::size_t threads = std::size_t{maps[i].grid.x} * maps[i].grid.y * maps[i].block.x;
      CHECK(threads >= count / 4 / 2);
      CHECK(threads < count / 4 / 2 + 512 * 128);  // at most a row of blocks more
      // Kernels of one operand let blocks beyond a row exit at once.
      CHECK((maps[i].grid.y == 1) == (i >= 2));
      if (i < 2) CHECK(maps[i].grid.x <= 512);
    }
  }
  // Those of AMD and of the host keep as many threads as the device holds.
  for (const Launch& launch : maps_of({"gfx1100", 48}, {{std::size_t{1} << 26}})) {
    CHECK(launch.grid.y == 1);
    CHECK(launch.grid.x * launch.block.x <= 48 * 2048);
  }
}

TEST_CASE("plan names the shape that it refuses") {
  CHECK(message(plan(gelu({{2, 0, 4}}))) == "shape [2, 0, 4] has no elements: dim 1 is 0");
  CHECK(message(plan(gelu({{2, 3}, {1}}))) ==
        "shape [2, 3] with strides [1] has 2 dims but 1 strides");
  CHECK(message(plan(gelu({{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}}))) ==
        "shape [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ...] has 17 dims, more than the 16 "
        "that a launch takes");
  CHECK(message(plan(gelu({{std::size_t{1} << 40, std::size_t{1} << 40}}))) ==
        "shape [1099511627776, 1099511627776] is too large: no device holds more than 2^48 "
        "elements");
  CHECK(message(plan(gelu({{4}, {std::numeric_limits<std::size_t>::max() / 2}}))) ==
        "shape [4] with strides [9223372036854775807] is too large: no device holds elements more "
        "than 2^48 apart");
  Unary large = gelu({{std::size_t{1} << 33}});
  CHECK(plan(large));
  large.geometry = Geometry::kReference;
  CHECK(message(plan(large)) ==
        "8589934592 elements are more than the reference geometry can count");
  // An empty dim is reported as such even if the product of the others would overflow.
  CHECK(message(plan(gelu({{0, std::size_t{1} << 40, std::size_t{1} << 40}}))) ==
        "shape [0, 1099511627776, 1099511627776] has no elements: dim 0 is 0");
}

TEST_CASE("plan names the dtype that no kernel takes") {
  Unary call = gelu({{8}});
  call.dtype = DType::kU8;
  const auto refused = plan(call);
  CHECK(message(refused) == "no kernel of 'ugelu' takes 'u8'");
  CHECK(refused.error().notes.at(0).text.rfind("it takes f16 bf16", 0) == 0);
  Affine affine;
  affine.layout = {{8}};
  affine.mul = Scalar::from(DType::kF16, 1);
  CHECK(message(plan(affine)) == "'mul' is of 'f16', the elements are of 'f32'");
  Fill fill;
  fill.value = Scalar::from(DType::kI16, 1);
  fill.count = 3;
  CHECK(message(plan(fill)) == "no kernel of 'fill' takes 'i16'");
}

TEST_CASE("plan refuses rows that overlap or are too many for copy2d") {
  Copy2d call;
  call.rows = 3, call.columns = 8, call.inp_stride = 8, call.out_stride = 7;
  CHECK(message(plan(call)) == "rows of 8 elements would overlap: they lie 7 apart in 'out'");
  call.rows = call.columns = call.inp_stride = call.out_stride = 65536;
  CHECK(message(plan(call)) == "shape [65536, 65536] has more elements than copy2d can count");
}

// The arguments of the helpers must agree with kernels/abi.json, for every kernel and every case.
TEST_CASE("plan gives every declared kernel arguments of the declared sizes") {
  using namespace conformance;
  for (const AbiKernel& kernel : abi_kernels()) {
    std::size_t cases = 0;
    for (const CaseSpec& spec : cases_of(kernel.module, kernel.name)) {
      if (++cases > 3) break;
      const Case subject = spec.build({1, 1});
      const auto launch = subject.launch(std::vector<void*>(subject.operands.size(), nullptr));
      INFO(spec.name);
      REQUIRE(launch);
      CHECK(launch->kernel == kernel.name);
      CHECK(launch->module == kernel.module);
      // By its constant, not by its name.
      const OwnKernel* const own = find_own_kernel(kernel.module, kernel.name);
      REQUIRE(own != nullptr);
      CHECK(launch->own_kernel == own - kOwnKernels);
      REQUIRE(launch->arguments.size() == kernel.parameter_sizes.size());
      for (std::size_t i = 0; i < kernel.parameter_sizes.size(); ++i) {
        CHECK(launch->arguments[i].size() == kernel.parameter_sizes[i]);
      }
    }
    INFO(kernel.name);
    CHECK(cases > 3);
  }
}

}  // namespace
}  // namespace kiln::ops
