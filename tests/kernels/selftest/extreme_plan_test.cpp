// Plans of extreme sizes. Whatever the sizes of a call, its plan is an error that says why, or a
// launch that the device takes.
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "kiln/ops/affine.hpp"
#include "kiln/ops/binary.hpp"
#include "kiln/ops/cast.hpp"
#include "kiln/ops/conv.hpp"
#include "kiln/ops/fill.hpp"
#include "kiln/ops/indexing.hpp"
#include "kiln/ops/norm.hpp"
#include "kiln/ops/quantized_matmul.hpp"
#include "kiln/ops/reduce.hpp"
#include "kiln/ops/rope.hpp"
#include "kiln/ops/sort.hpp"
#include "kiln/ops/ternary.hpp"
#include "kiln/ops/unary.hpp"
#include "ops/src/gemm.hpp"

namespace kiln::ops {
namespace {

constexpr std::size_t kLargest = SIZE_MAX;
constexpr std::size_t two_to_the(unsigned exponent) { return std::size_t{1} << exponent; }

constexpr Gpu kGpus[] = {
    {},
    {"sm_75", 72, 64 * 1024},
    {"sm_80", 108, 163 * 1024},
    {"sm_86", 1, 99 * 1024},
    {"sm_90", 0, 227 * 1024},
    {"sm_120", 188, 99 * 1024},
    {"gfx90a", 104, 64 * 1024},
    {"gfx1100", 48, 64 * 1024},
    {"host", 2, 1024 * 1024},
    {"gfx906", 0, 64 * 1024},  // has no tuned numbers
};

// Returns what is wrong with a launch, or nothing.
std::string fault_of(const Launch& launch, const Gpu& gpu) {
  const auto is_within = [](const Dim3& dims, std::uint32_t most_x, std::uint32_t most_y) {
    return dims.x >= 1 && dims.y >= 1 && dims.z >= 1 && dims.x <= most_x && dims.y <= most_y &&
           dims.z <= most_y;
  };
  if (!is_within(launch.grid, INT32_MAX, 65535)) return "the grid";
  if (!is_within(launch.block, 1024, 1024) || launch.block.count() > 1024) return "the block";
  if (launch.shared_bytes > gpu.max_shared_bytes) return "the shared memory";
  if (launch.workspace_bytes > two_to_the(56)) return "the workspace";
  if (launch.steps == 0 || launch.steps > INT32_MAX) return "the steps";
  return "";
}
std::string fault_of(const LaunchSequence& sequence, const Gpu& gpu) {
  if (sequence.launches.empty()) return "the number of launches";
  for (const Launch& launch : sequence.launches) {
    std::string fault = fault_of(launch, gpu);
    if (!fault.empty()) return fault + " of " + to_string(launch);
  }
  return "";
}

// Makes calls: most of a few small sizes and one or more extreme ones.
class Random {
 public:
  std::size_t below(std::size_t end) { return engine_() % end; }
  bool coin() { return below(2) == 0; }
  template <typename T, std::size_t N>
  T one_of(const T (&values)[N]) {
    return values[below(N)];
  }

  void next_call() { extreme_percent_ = one_of({0u, 5u, 25u, 100u}); }

  std::size_t size() {
    if (below(100) >= extreme_percent_) {
      return coin() ? 1 + below(40) : two_to_the(static_cast<unsigned>(below(14)));
    }
    const std::size_t power = two_to_the(static_cast<unsigned>(below(64)));
    switch (below(6)) {
      case 0: return power;
      case 1: return power - 1;
      case 2: return power + 1;
      case 3: return 0 - power;
      case 4: return 0;
      default: return engine_() >> below(64);
    }
  }
  // A size of whole blocks of a format.
  std::size_t columns() { return below(10) == 0 ? size() : 256 * size(); }

  Extents extents(std::size_t rank) {
    std::size_t values[20];
    for (std::size_t i = 0; i < rank; ++i) values[i] = size();
    return {values, rank};
  }
  Layout layout(std::size_t rank) {
    Layout layout{extents(rank)};
    if (coin()) return layout;
    layout.strides = extents(rank);
    return layout;
  }
  Layout any_layout() { return layout(below(100) == 0 ? below(20) : below(5)); }
  // The same dims with other strides.
  Layout like(const Layout& other) {
    if (coin()) return {other.dims};
    return {other.dims, extents(other.dims.rank())};
  }

  DType dtype() { return kDTypes[below(std::size(kDTypes))].dtype; }
  DType float_dtype() { return one_of({DType::kF16, DType::kBF16, DType::kF32, DType::kF64}); }
  DType small_float() { return one_of({DType::kF16, DType::kBF16, DType::kF32}); }
  DType id_dtype() { return one_of({DType::kU8, DType::kU32, DType::kI64}); }
  BlockFormat format() { return kBlockFormats[below(std::size(kBlockFormats))].format; }
  Geometry geometry() { return coin() ? Geometry::kOwn : Geometry::kReference; }
  Tiles tiles() { return one_of({Tiles::kBySize, Tiles::kNever, Tiles::kAlways}); }
  std::uint32_t parts() { return coin() ? 0 : static_cast<std::uint32_t>(size()); }
  // Plans only look at the bits of an address.
  void* address() {
    return coin() ? nullptr : reinterpret_cast<void*>(static_cast<std::uintptr_t>(below(64) * 4));
  }

 private:
  std::mt19937_64 engine_{1};
  unsigned extreme_percent_ = 100;
};

template <typename Make>
void check_plans(std::string_view name, Make make) {
  constexpr int kCalls = 3000;
  constexpr auto kMostTime = std::chrono::seconds(10);
  Random random;
  int planned = 0, refused = 0;
  for (int i = 0; i < kCalls; ++i) {
    random.next_call();
    const auto call = make(random);
    for (const Gpu& gpu : kGpus) {
      const auto start = std::chrono::steady_clock::now();
      const auto launch = plan(call, gpu);
      if (std::chrono::steady_clock::now() - start > kMostTime) FAIL(name << ": takes too long");
      if (!launch) {
        ++refused;
        if (launch.error().code != ErrorCode::kInvalidInput || launch.error().message.empty()) {
          FAIL(name << ": call " << i << ": " << launch.error().text());
        }
        continue;
      }
      ++planned;
      const std::string fault = fault_of(*launch, gpu);
      if (!fault.empty()) FAIL(name << ": call " << i << " for " << gpu.target << ": " << fault);
    }
  }
  INFO(name);
  CHECK(planned > 0);
  CHECK(refused > 0);
}

TEST_CASE("plans of elementwise calls of any size fit the device") {
  check_plans("Affine", [](Random& random) {
    Affine call;
    call.dtype = random.dtype();
    call.layout = random.any_layout();
    call.mul.dtype = call.add.dtype = call.dtype;
    call.geometry = random.geometry();
    return call;
  });
  check_plans("Unary", [](Random& random) {
    Unary call;
    call.op = random.coin() ? UnaryOp::kCopy : kUnaryOps[random.below(std::size(kUnaryOps))].op;
    call.dtype = call.parameter.dtype = random.dtype();
    call.layout = random.any_layout();
    call.inp = random.address();
    call.geometry = random.geometry();
    call.rearranged = random.one_of({Rearranged::kBySize, Rearranged::kNever, Rearranged::kAlways});
    return call;
  });
  check_plans("Binary", [](Random& random) {
    Binary call;
    call.op = kBinaryOps[random.below(std::size(kBinaryOps))].op;
    call.dtype = random.dtype();
    call.lhs_layout = random.any_layout();
    call.rhs_layout = random.like(call.lhs_layout);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("Where", [](Random& random) {
    Where call;
    call.condition_dtype = random.id_dtype();
    call.dtype = random.dtype();
    call.condition_layout = random.any_layout();
    call.true_layout = random.like(call.condition_layout);
    call.false_layout = random.like(call.condition_layout);
    call.out = random.address();
    call.geometry = random.geometry();
    call.tiles = random.tiles();
    return call;
  });
  check_plans("Cast", [](Random& random) {
    Cast call;
    call.from = random.small_float();
    call.to = random.small_float();
    call.layout = random.any_layout();
    call.inp = random.address();
    call.geometry = random.geometry();
    call.tiles = random.tiles();
    return call;
  });
}

TEST_CASE("plans of fills and copies of any size fit the device") {
  check_plans("Fill", [](Random& random) {
    Fill call;
    call.value.dtype = random.dtype();
    call.count = random.size();
    call.geometry = random.geometry();
    return call;
  });
  check_plans("ConstSet", [](Random& random) {
    ConstSet call;
    call.value.dtype = random.dtype();
    call.layout = random.any_layout();
    call.geometry = random.geometry();
    return call;
  });
  check_plans("Copy2d", [](Random& random) {
    const auto number = [&] { return static_cast<std::uint32_t>(random.size()); };
    Copy2d call;
    call.dtype = random.dtype();
    call.rows = number(), call.columns = number();
    call.inp_stride = number();
    call.out_stride = random.coin() ? call.columns : number();
    call.geometry = random.geometry();
    return call;
  });
  check_plans("Arange", [](Random& random) {
    Arange call;
    call.start.dtype = call.step.dtype = random.dtype();
    call.count = random.size();
    return call;
  });
  check_plans("Transpose", [](Random& random) {
    Transpose call;
    call.dtype = random.dtype();
    call.matrices = random.size(), call.rows = random.size(), call.columns = random.size();
    return call;
  });
  check_plans("Slice", [](Random& random) {
    Slice call;
    call.dtype = random.dtype();
    call.dims = random.extents(1 + random.below(4));
    call.dim = random.below(4);
    call.start = random.below(3), call.step = random.size(), call.count = random.size();
    return call;
  });
}

TEST_CASE("plans of indexing of any size fit the device") {
  const auto set = [](Random& random, auto& call) {
    call.ids_dtype = random.id_dtype();
    call.dtype = random.dtype();
    call.dims = random.extents(1 + random.below(4));
    call.dim = random.below(4);
    call.geometry = random.geometry();
  };
  check_plans("IndexSelect", [&](Random& random) {
    IndexSelect call;
    set(random, call);
    call.ids_layout = random.any_layout();
    return call;
  });
  check_plans("Gather", [&](Random& random) {
    Gather call;
    set(random, call);
    call.count = random.size();
    return call;
  });
  check_plans("IndexAdd", [&](Random& random) {
    IndexAdd call;
    set(random, call);
    call.size = random.size();
    call.order = random.one_of({SumOrder::kKept, SumOrder::kAny, SumOrder::kSorted});
    return call;
  });
  check_plans("Scatter", [&](Random& random) {
    Scatter call;
    set(random, call);
    call.op = random.coin() ? ScatterOp::kAdd : ScatterOp::kAssign;
    call.size = random.size();
    call.order = random.one_of({SumOrder::kKept, SumOrder::kAny, SumOrder::kSorted});
    return call;
  });
}

TEST_CASE("plans of operations on rows of any size fit the device") {
  const auto over = [](Random& random) {
    if (random.coin()) return Extents{random.below(4)};
    std::size_t dims[18];
    const std::size_t count = random.below(100) == 0 ? 18 : random.below(4);
    for (std::size_t i = 0; i < count; ++i) dims[i] = i;
    return Extents(dims, count);
  };
  check_plans("Reduce", [&](Random& random) {
    Reduce call;
    call.op = kReduceOps[random.below(std::size(kReduceOps))].op;
    call.dtype = random.dtype();
    call.layout = random.any_layout();
    call.over = over(random);
    call.geometry = random.geometry();
    call.parts = random.parts();
    return call;
  });
  check_plans("SumInto", [&](Random& random) {
    SumInto call;
    call.dtype = random.float_dtype();
    call.layout = random.any_layout();
    call.over = over(random);
    call.geometry = random.geometry();
    return call;
  });
  const auto set = [](Random& random, auto& call) {
    call.dtype = random.float_dtype();
    call.rows = random.size(), call.columns = random.size();
    call.parts = random.parts();
  };
  check_plans("Softmax", [&](Random& random) {
    Softmax call;
    set(random, call);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("RmsNorm", [&](Random& random) {
    RmsNorm call;
    set(random, call);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("LayerNorm", [&](Random& random) {
    LayerNorm call;
    set(random, call);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("ArgSort", [&](Random& random) {
    ArgSort call;
    set(random, call);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("Sort", [&](Random& random) {
    Sort call;
    set(random, call);
    return call;
  });
  check_plans("Rope", [](Random& random) {
    Rope call;
    call.kind =
        random.one_of({RopeKind::kNeighbours, RopeKind::kHalves, RopeKind::kHalvesTokensFirst});
    call.dtype = random.float_dtype();
    call.batches = random.size(), call.heads = random.size(), call.tokens = random.size();
    call.head_size = random.coin() ? 64 : random.size();
    call.tables = random.coin() ? RopeTables::kShared : RopeTables::kPerBatch;
    call.geometry = random.geometry();
    return call;
  });
}

TEST_CASE("plans of images of any size fit the device") {
  const auto step = [](Random& random) { return random.coin() ? 1 : random.size(); };
  check_plans("Convolution", [&](Random& random) {
    Convolution call;
    call.kind = random.coin() ? ConvolutionKind::kPlain : ConvolutionKind::kTransposed;
    call.dtype = random.float_dtype();
    call.src_layout = random.layout(3 + random.below(2));
    call.kernel_layout = random.layout(call.src_layout.dims.rank());
    if (random.below(10) != 0) {
      call.kernel_layout.dims[call.kind == ConvolutionKind::kTransposed ? 0 : 1] =
          call.src_layout.dims[1];
    }
    call.stride = step(random), call.dilation = step(random);
    call.padding = random.coin() ? 0 : random.size();
    call.out_padding = random.coin() ? 0 : random.size();
    call.geometry = random.geometry();
    call.tiles = random.one_of({ConvolutionTiles::kChosen, ConvolutionTiles::kNone,
                                ConvolutionTiles::kManyChannels, ConvolutionTiles::kFewChannels,
                                ConvolutionTiles::kFewChannelsApart,
                                ConvolutionTiles::kPatchesManyChannels,
                                ConvolutionTiles::kPatchesFewChannels});
    return call;
  });
  check_plans("Im2Col", [&](Random& random) {
    Im2Col call;
    call.dtype = random.float_dtype();
    call.window = random.extents(1 + random.below(2));
    call.src_layout = random.layout(2 + call.window.rank());
    call.stride = step(random), call.dilation = step(random);
    call.padding = random.coin() ? 0 : random.size();
    call.geometry = random.geometry();
    return call;
  });
  check_plans("Col2Im1d", [&](Random& random) {
    Col2Im1d call;
    call.dtype = random.float_dtype();
    call.batch = random.size(), call.length = random.size(), call.channels = random.size();
    call.window = random.size(), call.stride = step(random);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("Pool2d", [&](Random& random) {
    Pool2d call;
    call.op = random.coin() ? PoolOp::kMaximum : PoolOp::kAverage;
    call.dtype = random.float_dtype();
    call.src_layout = random.layout(4);
    call.height = step(random), call.width = step(random);
    call.stride_height = step(random), call.stride_width = step(random);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("UpsampleNearest2d", [](Random& random) {
    UpsampleNearest2d call;
    call.dtype = random.float_dtype();
    call.src_layout = random.layout(4);
    call.height_out = random.size(), call.width_out = random.size();
    call.geometry = random.geometry();
    return call;
  });
  check_plans("UpsampleNearest1d", [](Random& random) {
    UpsampleNearest1d call;
    call.dtype = random.float_dtype();
    call.src_layout = random.layout(3);
    call.length_out = random.size();
    return call;
  });
  check_plans("UpsampleBilinear2d", [](Random& random) {
    UpsampleBilinear2d call;
    call.dtype = random.float_dtype();
    call.src_layout = random.layout(4);
    call.height_out = random.size(), call.width_out = random.size();
    call.align_corners = random.coin();
    call.geometry = random.geometry();
    return call;
  });
}

TEST_CASE("plans of quantized kernels of any size fit the device") {
  const auto padding = [](Random& random) { return random.coin() ? 0 : 32 * random.size(); };
  check_plans("QuantizeQ8_1", [&](Random& random) {
    QuantizeQ8_1 call;
    call.rows = random.size(), call.columns = random.size(), call.padded = padding(random);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("DequantizeBlocks", [](Random& random) {
    DequantizeBlocks call;
    call.format = random.format();
    call.dtype = random.coin() ? DType::kF32 : DType::kF16;
    call.count = random.columns();
    call.geometry = random.geometry();
    return call;
  });
  check_plans("GetRows", [](Random& random) {
    GetRows call;
    call.format = random.format();
    call.count = random.size(), call.columns = random.columns(), call.row_bytes = random.size();
    call.geometry = random.geometry();
    return call;
  });
  check_plans("GetFloatRows", [](Random& random) {
    GetFloatRows call;
    call.dtype = random.small_float();
    call.count = random.size(), call.columns = random.size(), call.row_bytes = random.size();
    call.geometry = random.geometry();
    return call;
  });
  check_plans("DequantizeMulMatVec", [](Random& random) {
    DequantizeMulMatVec call;
    call.format = random.format();
    call.rows = random.size(), call.columns = random.columns();
    call.geometry = random.geometry();
    return call;
  });
  const auto set = [&](Random& random, auto& call) {
    call.format = random.format();
    call.rows = random.size(), call.columns = random.columns(), call.padded = padding(random);
    call.weights = random.address();
  };
  const auto set_product = [&](Random& random, auto& call) {
    set(random, call);
    call.vectors = random.coin() ? random.below(10) : random.size();
    call.dst_stride = random.coin() ? 0 : random.size();
    call.activations = random.address();
  };
  check_plans("MulMatVec", [&](Random& random) {
    MulMatVec call;
    set_product(random, call);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("MulMat", [&](Random& random) {
    MulMat call;
    set_product(random, call);
    call.geometry = random.geometry();
    return call;
  });
  check_plans("HeldVectors", [&](Random& random) {
    HeldVectors call;
    set_product(random, call);
    return call;
  });
  check_plans("IndexedMoe", [&](Random& random) {
    IndexedMoe call;
    set(random, call);
    call.batches = random.size(), call.slots = random.size();
    call.geometry = random.geometry();
    return call;
  });
}

TEST_CASE("plans of fused products of any size fit the device") {
  const auto padding = [](Random& random) { return random.coin() ? 0 : 32 * random.size(); };
  check_plans("QuantizeRows", [&](Random& random) {
    QuantizeRows call;
    call.dtype = random.small_float();
    call.rows = random.size(), call.columns = random.size(), call.padded = padding(random);
    call.each = random.size();
    return call;
  });
  constexpr BlockFormat kFused[] = {BlockFormat::kQ4_0, BlockFormat::kQ8_0, BlockFormat::kQ4_K,
                                    BlockFormat::kQ5_K, BlockFormat::kQ6_K, BlockFormat::kMXFP4};
  const auto set = [&](Random& random, FusedProduct& call) {
    call.format = random.one_of(kFused);
    call.rows = random.size(), call.columns = random.columns();
    call.weights = random.address();
    call.dst_dtype = random.small_float();
    call.dst_stride = random.coin() ? 0 : random.size();
  };
  check_plans("FusedVector", [&](Random& random) {
    FusedVector call;
    set(random, call);
    call.gate = random.address();
    call.tasks = random.size(), call.tasks_of_vector = random.size();
    call.padded = padding(random);
    call.experts = random.address();
    return call;
  });
  check_plans("FusedFloatVector", [&](Random& random) {
    FusedFloatVector call;
    set(random, call);
    call.gate = random.address();
    call.tasks = random.size(), call.tasks_of_vector = random.size();
    call.x_dtype = random.small_float();
    call.x_stride = random.coin() ? 0 : random.size();
    return call;
  });
  check_plans("RankExperts", [](Random& random) {
    RankExperts call;
    call.tasks = random.size(), call.experts = random.size(), call.tile = random.size();
    return call;
  });
  check_plans("FusedMatrix", [&](Random& random) {
    FusedMatrix call;
    set(random, call);
    call.vectors = random.size(), call.padded = padding(random);
    call.experts = random.coin() ? 0 : random.size();
    return call;
  });
  check_plans("HalfMatrix", [&](Random& random) {
    HalfMatrix call;
    set(random, call);
    call.vectors = random.size();
    call.experts = random.coin() ? 0 : random.size();
    return call;
  });
  check_plans("JoinProducts", [](Random& random) {
    JoinProducts call;
    call.rows = random.size(), call.columns = random.size();
    call.dst_dtype = random.small_float();
    return call;
  });
  check_plans("HalfRows", [](Random& random) {
    HalfRows call;
    call.dtype = random.small_float();
    call.rows = random.size(), call.columns = random.size(), call.each = random.size();
    call.in_chunks = random.coin();
    return call;
  });
  check_plans("QuantizedMatmul", [](Random& random) {
    QuantizedMatmul call;
    call.format = random.format();
    call.rows = random.size(), call.columns = random.columns(), call.vectors = random.size();
    call.x_dtype = random.small_float(), call.out_dtype = random.small_float();
    call.weights = random.address(), call.gate = random.address(), call.x = random.address();
    if (random.coin()) call.experts = random.size(), call.slots = random.size();
    return call;
  });
}

TEST_CASE("matrix products of any size give sizes that the libraries can count, or an error") {
  Random random;
  int planned = 0;
  for (int i = 0; i < 20'000; ++i) {
    random.next_call();
    Matmul product;
    const std::size_t batch = random.size(), rows = random.size(), columns = random.size(),
                      inner = random.size();
    product.lhs_layout = random.like({{batch, rows, inner}});
    product.rhs_layout = random.like({{batch, inner, columns}});
    product.out_layout = random.like({{batch, rows, columns}});
    const Result<Gemm> gemm = plan_gemm(product);
    if (!gemm) continue;
    ++planned;
    for (const std::int64_t size : {gemm->rows, gemm->columns, gemm->inner, gemm->batch,
                                    gemm->a.leading, gemm->b.leading, gemm->leading_c}) {
      if (size < 1 || size > INT32_MAX) FAIL("call " << i << " has a size of " << size);
    }
  }
  CHECK(planned > 0);
}

template <typename Call>
std::string message(const Call& call, const Gpu& gpu = {}) {
  const auto launch = plan(call, gpu);
  return launch ? fault_of(*launch, gpu) : launch.error().message;
}

TEST_CASE("more elements than a grid has threads for are left to the threads that there are") {
  Fill fill;
  fill.value = Scalar::from(DType::kF64, 1);
  fill.count = two_to_the(42);  // at one element a thread, more than 2^31 blocks
  CHECK(message(fill) == "");
  ConstSet set;
  set.value = fill.value;
  set.layout = {{fill.count}};
  CHECK(message(set) == "");
  JoinProducts join;
  join.rows = 2, join.columns = two_to_the(44);
  CHECK(message(join) == "");
  // Kernels number threads in 32 bits.
  Col2Im1d columns;
  columns.batch = 4, columns.channels = 1, columns.length = two_to_the(30), columns.window = 3;
  REQUIRE(plan(columns));
  CHECK(std::uint64_t{plan(columns)->grid.x} * plan(columns)->block.x <= two_to_the(31));
}

TEST_CASE("an empty or impossible shape is named") {
  FusedVector vector;
  vector.rows = vector.columns = 256;
  vector.tasks = 0;
  CHECK(message(vector) == "shape [0] has no elements: dim 0 is 0");
  FusedMatrix matrix;
  matrix.rows = matrix.columns = 256;
  matrix.experts = kLargest - 10;  // with the tiles of the vectors, one more than 64 bits count
  matrix.vectors = 64 * 12;
  CHECK(message(matrix) == "18446744073709551605 experts are more than the kernel counts");
  Sort sort;
  sort.rows = two_to_the(20), sort.columns = 10'000;
  sort.parts = two_to_the(31);
  CHECK(message(sort) == "");  // no more parts than columns
  sort.rows = 1, sort.columns = two_to_the(30);
  CHECK(message(sort) == "1073741824 parts are more than the kernel counts");
  Reduce reduce;
  reduce.layout = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}};
  reduce.over = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  CHECK(message(reduce) ==
        "17 dims are reduced of shape [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2], which has "
        "16");
  QuantizedMatmul product;
  product.rows = INT32_MAX, product.columns = 32, product.vectors = INT32_MAX;
  CHECK(message(product) ==
        "shape [2147483647, 2147483647] is too large: no device holds more than 2^48 elements");
}

TEST_CASE("dims, lines and steps that kernels cannot count are refused") {
  const std::size_t beyond = two_to_the(32);
  Unary unary;
  unary.layout = {{beyond}, {2}};
  CHECK(message(unary) == "4294967296 elements of a dim are more than the kernel counts");
  unary.layout = {{two_to_the(31) - 1}, {2}};
  CHECK(message(unary) == "");
  unary.layout = {{two_to_the(31)}, {2}};
  CHECK(message(unary) == "2147483648 places of the outer dims are more than the kernel counts");
  unary.layout = {{two_to_the(14), two_to_the(16), two_to_the(15), 2}, {0, 2, 0, 0}};
  CHECK(message(unary) == "");
  Binary binary;
  binary.lhs_layout = {{2, two_to_the(31), 2}, {0, 0, 1}};
  binary.rhs_layout = {{2, two_to_the(31), 2}, {0, 0, 0}};
  CHECK(message(binary) == "4294967296 places of the outer dims are more than the kernel counts");
  ConstSet set;
  set.layout = {{3, 1'500'000'000, 2}, {4, 0, 1}};
  CHECK(message(set) == "4500000000 places of the outer dims are more than the kernel counts");
  // Two dims of a padded batch are one for the kernel only if it has fewer than 2^31 elements.
  unary.layout = {{2, 49152, 65536}, {49152 * 65536ull + 64, 65536, 1}};
  CHECK(plan(unary, Gpu{}).value().layout.size() == 6);
  unary.layout = {{3, beyond}};  // contiguous
  CHECK(message(unary) == "");
  Where where;
  where.condition_layout = where.true_layout = where.false_layout = {{3, beyond}};
  CHECK(message(where) == "");
  where.true_layout.strides = {0, 1};
  CHECK(message(where) == "4294967296 elements of a dim are more than the kernel counts");
  SumInto sum;
  sum.layout = {{2, beyond}};
  sum.over = {1};
  CHECK(message(sum) == "4294967296 elements of a dim are more than the kernel counts");

  Pool2d pool;
  pool.src_layout = {{two_to_the(16), two_to_the(16), 1, 2}};
  pool.height = pool.width = 1;
  CHECK(message(pool) == "4294967296 lines of outputs are more than the kernel counts");
  pool.src_layout = {{1, 1, 2, 2}};
  pool.stride_height = beyond;
  CHECK(message(pool) == "4294967296 elements of a stride are more than the kernel counts");
  Im2Col columns;
  columns.src_layout = {{1, two_to_the(20), two_to_the(11)}};
  columns.window = {1};
  CHECK(message(columns) == "2147483648 elements of a line are more than the kernel counts");
  Convolution convolution;
  convolution.src_layout = convolution.kernel_layout = {{1, 1, 3, 3}};
  convolution.padding = two_to_the(63);  // twice as much is 2^64
  CHECK(message(convolution) ==
        "9223372036854775808 elements of a padding are more than the kernel counts");
}

TEST_CASE("a device that tells no number of multiprocessors has its architecture's largest") {
  const Gpu unknown{"sm_90", 0, 227 * 1024}, known{"sm_90", 132, 227 * 1024};
  HeldVectors held;
  held.rows = held.columns = 4096;
  held.vectors = 8;
  FusedVector streamed;
  streamed.rows = streamed.columns = 8192;
  Softmax softmax;
  softmax.rows = 3000, softmax.columns = 5000;
  const auto check = [&](const auto& call) {
    REQUIRE(plan(call, unknown));
    CHECK(to_string(*plan(call, unknown)) == to_string(*plan(call, known)));
  };
  check(held);
  check(streamed);
  check(softmax);
}

TEST_CASE("rows of 2^33 elements are reduced in parts, for any number of rows") {
  const Gpu gpu{"sm_90", 132};
  for (const std::size_t rows : {1, 99, 100, 132, 133, 2000}) {
    Reduce call;
    call.dtype = DType::kU8;
    call.layout = {{rows, std::size_t{1} << 33}};
    call.over = {1};
    const auto launch = plan(call, gpu);
    if (!launch) FAIL(launch.error().message);
    CHECK(launch->kernel.text() == "split_sum_u8");
    CHECK(launch->block.y == 1);
  }
  // The kernel counts the states of all parts, of whole waves of rows, in 32 bits.
  Reduce call;
  call.layout = {{std::size_t{1} << 34, 2}};
  call.over = {0};
  call.parts = 1u << 27;
  CHECK_FALSE(plan(call, gpu));
  call.parts = 1u << 20;
  CHECK(plan(call, gpu));
}

TEST_CASE("plan refuses numbers that are no dtype and no operation") {
  const auto no_dtype = static_cast<DType>(99);
  Unary unary;
  unary.layout = {{4}};
  unary.dtype = no_dtype;
  CHECK(plan(unary).error().message == "no kernel of 'ucopy' takes 'an unknown dtype'");
  unary.dtype = DType::kF32;
  unary.op = static_cast<UnaryOp>(99);
  CHECK(plan(unary).error().message == "no kernel of 'an unknown operation' takes 'f32'");
  Binary binary;
  binary.lhs_layout = binary.rhs_layout = {{4}};
  binary.op = static_cast<BinaryOp>(99);
  CHECK_FALSE(plan(binary));
  Reduce reduce;
  reduce.layout = {{4}};
  reduce.over = {0};
  reduce.op = static_cast<ReduceOp>(99);
  CHECK_FALSE(plan(reduce));
  Cast cast;
  cast.layout = {{4}};
  cast.from = no_dtype;
  CHECK_FALSE(plan(cast));
  Fill fill;
  fill.count = 4;
  fill.value.dtype = no_dtype;
  CHECK_FALSE(plan(fill));
}

}  // namespace
}  // namespace kiln::ops
