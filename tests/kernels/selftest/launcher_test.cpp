// Launcher over a fake driver: its checks, its arguments, and its cache.
#include "kiln/ops/launcher.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "kernels/tuning/workspace.hpp"
#include "kiln/ops/affine.hpp"
#include "kiln/ops/binary.hpp"
#include "kiln/ops/cast.hpp"
#include "kiln/ops/conv.hpp"
#include "kiln/ops/fill.hpp"
#include "kiln/ops/indexing.hpp"
#include "kiln/ops/kernels.hpp"
#include "kiln/ops/norm.hpp"
#include "kiln/ops/quantized.hpp"
#include "kiln/ops/quantized_matmul.hpp"
#include "kiln/ops/reduce.hpp"
#include "kiln/ops/rope.hpp"
#include "kiln/ops/sort.hpp"
#include "kiln/ops/ternary.hpp"
#include "kiln/ops/unary.hpp"
#include "ops/src/layout_store.hpp"
#include "ops/src/own_kernels.hpp"
#include "subject.hpp"
#include "test_modules.hpp"

namespace {
std::atomic<std::size_t> allocation_count = 0;
}

void* operator new(std::size_t bytes) {
  ++allocation_count;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace kiln::ops {
namespace {

constexpr const ModuleEntry* kModules[] = {&testing::kArithmetic};
constexpr Catalog kCatalog{"test", "", {}, {}, {kModules}};

}  // namespace

// Replaces the catalog of kiln's own kernels and their constants.
const Catalog& catalog() { return kCatalog; }
Kernel<> own_kernel(std::size_t) { return {testing::kScaleAdd.module, testing::kScaleAdd.index}; }

namespace {

using testing::fake_cuda;

struct Bench {
  Runtime runtime = *Runtime::open(testing::fake_cuda_options());
  Device device = *runtime.default_device();
  Launcher launcher{device};
  Buffer out = *device.allocate(64);

  // scale_add with the two floats in the layout block: out = block * scale + shift.
  Launch over_layout(float first, float second) const {
    Launch launch;
    launch.module = "arithmetic";
    launch.kernel = "scale_add";
    launch.arguments = {Argument::of(std::uint64_t{2}), Argument::null(), Argument::of(out.data()),
                        Argument::of(10.0f), Argument::of(1.0f)};
    const float floats[] = {first, second};
    launch.layout.resize(1);
    std::memcpy(launch.layout.data(), floats, sizeof floats);
    launch.layout_argument = 1;
    launch.block.x = 32;
    return launch;
  }
  std::vector<float> result() const { return *device.download<float>(out); }
};

TEST_CASE("Launcher puts the layout block into device memory and passes its address") {
  const Bench bench;
  const Launch launch = bench.over_layout(3, 5);
  REQUIRE(bench.launcher.run(launch));
  CHECK(bench.result()[0] == 31);
  CHECK(bench.result()[1] == 51);
}

TEST_CASE("Launcher keeps one layout block for each content") {
  const Bench bench;
  REQUIRE(bench.launcher.run(bench.over_layout(3, 5)));
  const std::size_t allocations = fake_cuda().live().allocations;
  REQUIRE(bench.launcher.run(bench.over_layout(3, 5)));
  CHECK(fake_cuda().live().allocations == allocations);
  REQUIRE(bench.launcher.run(bench.over_layout(4, 5)));
  CHECK(fake_cuda().live().allocations == allocations + 1);
  CHECK(bench.result()[0] == 41);
  REQUIRE(bench.launcher.run(bench.over_layout(3, 5)));
  CHECK(fake_cuda().live().allocations == allocations + 1);
  CHECK(bench.result()[0] == 31);
}

TEST_CASE("Launcher takes a kernel by its constant, whatever it is called") {
  const Bench bench;
  Launch launch = bench.over_layout(3, 5);
  launch.kernel = "no such name";
  launch.own_kernel = 0;
  REQUIRE(bench.launcher.run(launch));
  CHECK(bench.result()[1] == 51);
}

TEST_CASE("Launcher remembers a bounded number of shapes, and those that were prepared") {
  const Bench bench;
  const std::size_t before = fake_cuda().live().allocations;
  const Launch prepared = bench.over_layout(0.5f, 5);
  REQUIRE(bench.launcher.prepare(prepared));
  const std::size_t most = before + 1 + LayoutStore::kMaxShapes;
  for (std::size_t i = 0; i < 3 * LayoutStore::kMaxShapes; ++i) {
    REQUIRE(bench.launcher.run(bench.over_layout(static_cast<float>(i), 5)));
    REQUIRE(fake_cuda().live().allocations <= most);
  }
  CHECK(bench.result()[0] == 10 * static_cast<float>(3 * LayoutStore::kMaxShapes - 1) + 1);
  const std::size_t now = fake_cuda().live().allocations;
  REQUIRE(bench.launcher.run(
      bench.over_layout(static_cast<float>(3 * LayoutStore::kMaxShapes - 2), 5)));
  REQUIRE(bench.launcher.run(prepared));
  CHECK(bench.result()[0] == 6);
  CHECK(fake_cuda().live().allocations == now);
}

// scale_add with the first two floats of the workspace, which are its counters: out = 0 * 10 + 1.
Launch over_workspace(const Bench& bench, std::size_t bytes) {
  Launch launch = bench.over_layout(3, 5);
  launch.layout.clear();
  launch.workspace_argument = 1;
  launch.workspace_bytes = bytes;
  return launch;
}

TEST_CASE("Launcher gives launches that need it a workspace, which begins with zeros") {
  const Bench bench;
  const std::size_t before = fake_cuda().live().allocations;
  REQUIRE(bench.launcher.run(over_workspace(bench, 100)));
  CHECK(bench.result()[0] == 1);
  CHECK(fake_cuda().live().allocations == before + 1);
  REQUIRE(bench.launcher.run(over_workspace(bench, tuning::kWorkspaceCounters)));
  CHECK(fake_cuda().live().allocations == before + 1);
  // The workspace grows. The old memory remains valid for launches that have its address.
  REQUIRE(bench.launcher.run(over_workspace(bench, tuning::kWorkspaceCounters + 1)));
  CHECK(fake_cuda().live().allocations == before + 2);
  CHECK(bench.result()[1] == 1);
  REQUIRE(bench.launcher.run(over_workspace(bench, 100)));
  CHECK(fake_cuda().live().allocations == before + 2);
}

TEST_CASE("Launcher passes parts of the workspace to launches in turn") {
  const Bench bench;
  Launch launch = over_workspace(bench, tuning::kWorkspaceCounters + 8);
  launch.workspace_argument = Launch::kNoArgument;
  launch.workspace_parts = {{1, 256}};  // among the zeros
  Launch other = bench.over_layout(3, 5);
  REQUIRE(bench.launcher.prepare(LaunchSequence{{other, launch}}));
  REQUIRE(bench.launcher.run(LaunchSequence{{other, launch}}));
  CHECK(bench.result()[0] == 1);
  REQUIRE(bench.launcher.run(LaunchSequence{{launch, other}}));
  CHECK(bench.result()[0] == 31);
}

TEST_CASE("Launcher refuses what has no place among the arguments") {
  const Bench bench;
  const Launch good = over_workspace(bench, 100);
  const auto refused = [&](const Launch& launch) {
    const Result<void> ran = bench.launcher.run(launch);
    return !ran && ran.error().code == ErrorCode::kInvalidInput && !bench.launcher.prepare(launch);
  };
  Launch launch = good;
  launch.layout.push_back(4);  // without an argument for it
  launch.layout_argument = Launch::kNoArgument;
  CHECK(refused(launch));
  launch = good;
  launch.workspace_argument = 5;
  CHECK(refused(launch));
  launch = good;
  launch.workspace_parts = {{5, 0}};
  CHECK(refused(launch));
  launch = good;
  launch.step_argument = 5;
  CHECK(refused(launch));
  CHECK(bench.launcher.run(good));
}

TEST_CASE("Launcher prepares the workspace of a launch") {
  const Bench bench;
  const Launch launch = over_workspace(bench, 1 << 20);
  REQUIRE(bench.launcher.prepare(launch));
  const std::size_t prepared = fake_cuda().live().allocations;
  const int copies = fake_cuda().calls("cuMemcpyHtoD_v2");
  REQUIRE(bench.launcher.run(launch));
  CHECK(fake_cuda().live().allocations == prepared);
  CHECK(fake_cuda().calls("cuMemcpyHtoD_v2") == copies);
}

TEST_CASE("Launcher runs a kernel step by step, and tells it the number of each") {
  const Bench bench;
  Launch launch = over_workspace(bench, 100);
  launch.arguments[4] = Argument::of(7.0f);
  launch.steps = 3;
  launch.step_argument = 4;
  const int before = fake_cuda().calls("cuLaunchKernel");
  REQUIRE(bench.launcher.run(launch));
  CHECK(fake_cuda().calls("cuLaunchKernel") == before + 3);
  const float shift = bench.result()[0];  // the bits of the last step
  std::uint32_t step = 0;
  std::memcpy(&step, &shift, sizeof step);
  CHECK(step == 2);
}

// Compares the allocations of a launch through the Launcher with those of the same launch of the
// Function itself.
TEST_CASE("Launcher allocates nothing for a shape that it has seen") {
  const Bench bench;
  const Launch launch = bench.over_layout(3, 5);
  REQUIRE(bench.launcher.run(launch));
  const Function function = *bench.device.get_or_load_func("scale_add", testing::kArithmetic);
  const Buffer block = *bench.device.upload(std::vector<float>{3, 5});
  const auto direct = [&] {
    return function.launch({launch.grid, launch.block}, std::uint64_t{2}, block.data(),
                           bench.out.data(), 10.0f, 1.0f);
  };
  REQUIRE(direct());
  const auto allocations = [](auto run) {
    const std::size_t before = allocation_count;
    REQUIRE(run());
    return allocation_count - before;
  };
  const std::size_t of_function = allocations(direct);
  CHECK(allocations([&] { return bench.launcher.run(launch); }) == of_function);
  Launch by_constant = launch;
  by_constant.own_kernel = 0;
  CHECK(allocations([&] { return bench.launcher.run(by_constant); }) == of_function);
}

TEST_CASE("plan allocates nothing") {
  const Layout view{{3, 4, 5, 6}, {1, 3, 12, 60}};
  Unary unary;
  unary.op = UnaryOp::kPower;
  unary.layout = view;
  Affine affine;
  affine.layout = {{1024}};
  Cast cast;
  cast.layout = view;
  cast.to = DType::kBF16;
  Binary binary;
  binary.lhs_layout = binary.rhs_layout = view;
  Where where;
  where.condition_layout = where.true_layout = where.false_layout = view;
  Reduce reduce;
  reduce.layout = view;
  reduce.over = {1, 3};
  Softmax softmax;
  softmax.rows = softmax.columns = 7;
  RmsNorm rms_norm;
  rms_norm.rows = rms_norm.columns = 7;
  LayerNorm layer_norm;
  layer_norm.rows = layer_norm.columns = 7;
  Rope rope;
  SumInto sum;
  sum.layout = view;
  sum.over = {0, 2};
  Reduce whole;
  whole.layout = {{1 << 20}};
  whole.over = {0};
  IndexSelect select;
  select.dims = {5, 7};
  select.ids_layout = {{3}};
  Gather gather;
  gather.dims = {5, 7};
  gather.count = 3;
  IndexAdd add;
  add.dims = {5, 7};
  add.size = 3;
  Scatter scatter;
  scatter.dims = {5, 7};
  scatter.size = 3;
  ArgSort sort;
  sort.rows = sort.columns = 300;
  const Layout image{{2, 3, 8, 9}}, channels_last{{2, 3, 8, 9}, {216, 1, 27, 3}};
  Convolution convolution;
  convolution.src_layout = channels_last;
  convolution.kernel_layout = {{4, 3, 3, 3}};
  Convolution transposed = convolution;
  transposed.kind = ConvolutionKind::kTransposed;
  transposed.kernel_layout = {{3, 4, 3, 3}};
  Im2Col columns;
  columns.src_layout = channels_last;
  columns.window = {3, 3};
  Col2Im1d to_image;
  to_image.batch = to_image.length = to_image.channels = to_image.window = 3;
  Pool2d pool;
  pool.src_layout = image;
  pool.height = pool.width = 2;
  UpsampleNearest2d nearest;
  nearest.src_layout = image;
  nearest.height_out = nearest.width_out = 20;
  UpsampleBilinear2d bilinear;
  bilinear.src_layout = image;
  bilinear.height_out = bilinear.width_out = 20;
  QuantizeQ8_1 quantize;
  quantize.columns = 4096;
  DequantizeBlocks dequantize;
  dequantize.count = 4096;
  GetRows get_rows;
  get_rows.count = 3;
  get_rows.columns = 4096;
  GetFloatRows get_float_rows;
  get_float_rows.count = 3;
  get_float_rows.columns = 4096;
  DequantizeMulMatVec f32_vector;
  f32_vector.format = BlockFormat::kQ5_K;
  f32_vector.rows = f32_vector.columns = 4096;
  MulMatVec vectors;
  vectors.rows = vectors.columns = 4096;
  vectors.vectors = 8;
  MulMat matrix;
  matrix.rows = matrix.columns = matrix.vectors = 4096;
  IndexedMoe moe;
  moe.rows = moe.columns = 4096;
  const std::size_t before = allocation_count;
  const bool planned = plan(unary) && plan(affine) && plan(Fill{{}, 100, nullptr}) && plan(cast) &&
                       plan(binary) && plan(where) && plan(reduce) && plan(softmax) &&
                       plan(rms_norm) && plan(layer_norm) && plan(rope) && plan(sum) &&
                       plan(select) && plan(gather) && plan(add) && plan(scatter) && plan(sort) &&
                       plan(convolution) && plan(transposed) && plan(columns) && plan(to_image) &&
                       plan(pool) && plan(nearest) && plan(bilinear) && plan(quantize) &&
                       plan(dequantize) && plan(whole) && plan(get_rows) && plan(get_float_rows) &&
                       plan(f32_vector) && plan(vectors) && plan(matrix) && plan(moe);
  CHECK(allocation_count == before);
  CHECK(planned);

  QuantizedMatmul product;
  product.format = BlockFormat::kQ4_K;
  product.rows = product.columns = 4096;
  for (const std::size_t count : {1, 8, 100}) {
    product.vectors = count;
    const std::size_t sequence = allocation_count;
    REQUIRE(plan(product));
    CHECK(allocation_count == sequence + 1);  // the list of launches
  }
}

TEST_CASE("Launcher prepares a launch, which then asks nothing but the launch of the driver") {
  const Bench bench;
  const Launch launch = bench.over_layout(3, 5);
  REQUIRE(bench.launcher.prepare(launch));
  CHECK(fake_cuda().calls("cuLaunchKernel") == 0);
  const std::vector<std::string> allowed = {"cuCtxGetCurrent", "cuCtxSetCurrent", "cuLaunchKernel"};
  int before = fake_cuda().all_calls();
  for (const std::string& call : allowed) before -= fake_cuda().calls(call);
  REQUIRE(bench.launcher.run(launch));
  int after = fake_cuda().all_calls();
  for (const std::string& call : allowed) after -= fake_cuda().calls(call);
  CHECK(after == before);
  CHECK(bench.result()[1] == 51);
}

TEST_CASE("Launcher refuses arguments that are not the kernel's") {
  const Bench bench;
  Launch launch = bench.over_layout(3, 5);
  launch.arguments[3] = Argument::of(10.0);  // a double
  const auto refused = bench.launcher.run(launch);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kInvalidInput);
  CHECK(refused.error().message ==
        "the arguments of 'arithmetic.scale_add<<<1, 32>>>' are not those of the kernel");
  CHECK(refused.error().notes.at(0).text == "given: 8, 8, 8, 8, 4 bytes");
  CHECK(refused.error().notes.at(1).text == "taken: 8, 8, 8, 4, 4 bytes");
  launch.arguments.pop_back();
  CHECK_FALSE(bench.launcher.run(launch));
}

TEST_CASE("Launcher puts nothing on an empty stream, and launches nothing once it was moved") {
  Bench bench;
  const Launch launch = bench.over_layout(3, 5);
  const int before = fake_cuda().calls("cuLaunchKernel");
  const Launcher of_nothing(bench.device, Stream());
  const Result<void> refused = of_nothing.run(launch);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "an empty stream: make it by Device::create_stream()");
  const Launcher moved = std::move(bench.launcher);
  Fill fill;
  fill.count = 8;
  const LaunchSequence sequence{{launch}};
  for (const Result<void>& done :
       {bench.launcher.run(launch), bench.launcher.prepare(launch), bench.launcher.launch(fill),
        bench.launcher.prepare(fill), bench.launcher.run(sequence),
        bench.launcher.prepare(sequence),
        bench.launcher.with_memory(8, [](void*) { return Result<void>(); })}) {
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::kInvalidInput);
    CHECK(done.error().message == "a launch by a Launcher that was moved from");
  }
  CHECK(fake_cuda().calls("cuLaunchKernel") == before);
  CHECK(moved.run(launch));
}

TEST_CASE("Launcher says what this build does not have") {
  const Bench bench;
  Launch launch = bench.over_layout(3, 5);
  launch.module = "sorting";
  const auto no_module = bench.launcher.run(launch);
  REQUIRE_FALSE(no_module);
  CHECK(no_module.error().code == ErrorCode::kNotFound);
  CHECK(no_module.error().message == "this build has no module 'sorting'");
  launch.module = "arithmetic";
  launch.kernel = "scale_ad";
  const auto no_kernel = bench.launcher.run(launch);
  REQUIRE_FALSE(no_kernel);
  CHECK(no_kernel.error().code == ErrorCode::kNotFound);
}

TEST_CASE("Launcher passes on what the driver refuses") {
  const Bench bench;
  REQUIRE(bench.launcher.run(bench.over_layout(3, 5)));
  fake_cuda().fail("cuMemAllocFromPoolAsync", 1, fake::kOutOfMemory);
  const auto refused = bench.launcher.run(bench.over_layout(6, 5));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kDriver);
  // The failure is not cached: the next launch of the same shape works.
  CHECK(bench.launcher.run(bench.over_layout(6, 5)));
  CHECK(bench.result()[0] == 61);
}

}  // namespace
}  // namespace kiln::ops
