// Launches that only programs without the helpers make: grids so large that 32 bits cannot count
// their threads, and views without elements. On the device of KILN_TEST_DRIVER
// (tests/runtime/subject.hpp).
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kiln/ops.hpp"
#include "kiln/ops/kernels.hpp"
#include "ops_subject.hpp"

namespace kiln::ops {
namespace {

using Bytes = std::vector<std::byte>;

struct Subject : OpsSubject {
  // A buffer of small numbers.
  Buffer numbers(DType dtype, std::size_t count) const {
    Bytes bytes(count * size_of(dtype));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = Scalar::from(dtype, static_cast<double>(i * 7 % 5)).bits;
      std::memcpy(&bytes[i * size_of(dtype)], &bits, size_of(dtype));
    }
    return *device.upload(bytes);
  }

  Bytes result(const Launch& launch, const Buffer& out) const {
    if (const auto done = device.fill(out.data(), 0, out.size()); !done) FAIL(done.error().text());
    if (const auto done = launcher.run(launch); !done) FAIL(done.error().text());
    if (const auto done = device.synchronize(); !done) FAIL(done.error().text());
    return *device.download<std::byte>(out);
  }

  // Compares a launch in its own grid with the same in `blocks` blocks of `block` threads.
  template <class Call>
  void check(const Call& call, const Buffer& out, std::uint32_t blocks, Dim3 block) const {
    const Result<Launch> planned = plan(call, Gpu::of(device.info()));
    if (!planned) FAIL(planned.error().text());
    Launch launch = *planned;
    INFO(std::string_view(launch.kernel) << ", " << blocks << " blocks");
    const Bytes expected = result(launch, out);
    launch.grid.x = blocks;
    launch.block = block;
    CHECK(result(launch, out) == expected);
  }
};

// Blocks of 1024 threads whose threads, and of 256 whose threads, 32 bits do not count.
constexpr std::uint32_t kBlocksOf1024 = (1u << 22) + 3, kBlocksOf256 = 1u << 24;

TEST_CASE("Sums by ids add each element once in a grid of 2^32 threads") {
  const Subject subject;
  constexpr std::size_t kCount = 6, kColumns = 50;
  const Buffer ids = subject.numbers(DType::kU32, kCount * kColumns);
  const Buffer order = *subject.device.upload(std::vector<std::uint32_t>{0, 5, 3, 1, 4, 2});
  const Buffer inp = subject.numbers(DType::kF32, kCount * kColumns);
  const Buffer out = subject.numbers(DType::kF32, 5 * kColumns);
  IndexAdd call;
  call.dims = {kCount, kColumns};
  call.size = 5;
  call.ids = ids.data(), call.inp = inp.data(), call.out = out.data(), call.sorted = order.data();
  for (const SumOrder each : {SumOrder::kAny, SumOrder::kSorted}) {
    call.order = each;
    subject.check(call, out, kBlocksOf1024, {1024});
  }
  Scatter scatter;
  scatter.op = ScatterOp::kAdd;
  scatter.order = SumOrder::kAny;
  scatter.dims = {kCount, kColumns};
  scatter.size = 5;
  scatter.ids = ids.data(), scatter.inp = inp.data(), scatter.out = out.data();
  subject.check(scatter, out, kBlocksOf1024, {1024});
}

TEST_CASE("Convolutions end in a grid of 2^32 threads") {
  const Subject subject;
  const Buffer src = subject.numbers(DType::kF32, 40), out = subject.numbers(DType::kF32, 200);
  Convolution call;
  call.src_layout = {{1, 1, 40}};
  call.kernel_layout = {{1, 1, 3}};
  call.tiles = ConvolutionTiles::kNone;
  call.src = src.data(), call.kernel = src.data(), call.dst = out.data();
  subject.check(call, out, kBlocksOf256, {256});
  Col2Im1d terms;
  terms.batch = terms.channels = 1, terms.length = 4, terms.window = 3, terms.stride = 2;
  terms.src = src.data(), terms.dst = out.data();
  subject.check(terms, out, kBlocksOf256, {256});
}

TEST_CASE("Products of quantized weights end in a grid whose rows 32 bits do not count") {
  const Subject subject;
  if (!subject.is_gpu()) SKIP("takes a minute on a processor");
  constexpr std::size_t kRows = 70, kColumns = 32;
  const Buffer weights = subject.numbers(DType::kU8, kRows * 18);
  const Buffer x = subject.numbers(DType::kF32, 32), blocks = subject.numbers(DType::kU8, 36 * 16);
  const Buffer out = subject.numbers(DType::kF32, kRows);
  QuantizeQ8_1 quantize;
  quantize.columns = quantize.padded = kColumns;
  quantize.x = x.data(), quantize.out = blocks.data();
  subject.check(quantize, blocks, 1u << 25, {1024});
  MulMat product;
  product.rows = kRows, product.columns = product.padded = kColumns;
  product.weights = weights.data(), product.activations = blocks.data(), product.dst = out.data();
  subject.check(product, out, 1u << 26, {32, 4});
}

// Launches a kernel over a view without elements, with this layout block.
void launch_without_elements(const char* module, const char* kernel, Dim3 grid, Dim3 block,
                             const std::vector<std::uint64_t>& layout,
                             const std::vector<std::uint64_t>& sizes) {
  const Subject subject;
  const Buffer data = subject.numbers(DType::kF32, 1);
  const Buffer block_of_layout = *subject.device.upload(layout);
  void* const info = block_of_layout.data();
  void* const elements = data.data();
  std::vector<const void*> arguments;
  for (const std::uint64_t& size : sizes) arguments.push_back(&size);
  arguments.insert(arguments.end(), {&info, &elements, &elements});
  const auto function = subject.device.function(kernel, *catalog().find(module));
  if (!function) FAIL(function.error().text());
  LaunchConfig config;
  config.grid = grid, config.block = block;
  const auto done = function->launch_raw(config, arguments.data(), arguments.size());
  if (!done) FAIL(done.error().text());
  if (const auto ended = subject.device.synchronize(); !ended) FAIL(ended.error().text());
}

TEST_CASE("A function of a view without elements ends at once in any grid") {
  // numel, num_dims
  launch_without_elements("unary", "uneg_f32", {4000}, {1024}, {0, 5000, 6000, 1}, {0, 2});
}

TEST_CASE("A reduction of no row ends at once") {
  // src_numel, el_to_sum_per_block, num_dims
  launch_without_elements("reduce", "fast_sum_f32", {1}, {4}, {2, 0, 4, 9, 9, 2}, {0, 4, 3});
}

}  // namespace
}  // namespace kiln::ops
