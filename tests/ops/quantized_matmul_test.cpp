// quantized_matmul and QuantizedMultiplier on the device of KILN_TEST_DRIVER
// (tests/runtime/subject.hpp): all of their methods, compared with products in the precision of the
// references.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kiln/ops/quantized_multiplier.hpp"
#include "stream_graph.hpp"
#include "subject.hpp"
#include "tests/kernels/quantized_blocks.hpp"
#include "tests/kernels/rows.hpp"

namespace kiln::ops {
namespace {

using conformance::Bits;
using conformance::Random;
using conformance::Real;

struct Shape {
  BlockFormat format;
  std::size_t vectors;
  bool is_pair = false;
  DType x = DType::kF32, out = DType::kF32;
  std::size_t experts = 0, slots = 1;
  MoeInputs inputs = MoeInputs::kOfBatch;
  std::size_t misalignment = 0;  // of the activations, in elements
  bool is_wide = false;          // activations of vector v are times 2^(60 - 40 v)
  bool is_special = false;       // vector 1 has an infinity, vector 2 a NaN
};

constexpr std::size_t kRows = 5, kColumns = 256;

struct Bounded {
  Real value = 0, error = 0;
};

// Returns the product of a row with activations, as floats or with 8 bits.
Bounded product_of(BlockFormat format, const std::vector<std::byte>& matrix, std::size_t row,
                   const float* x) {
  const conformance::QuantizedRow values =
      conformance::row_of_blocks(format, &matrix[row * row_bytes(format, kColumns)], kColumns);
  const conformance::Product exact = conformance::product(values, x);
  const Real roundings =
      (kColumns / 8 + 16) * conformance::rounding_error(DType::kF32) * exact.magnitude;
  return {exact.value, conformance::eight_bit_error(format, values, x) + 2 * roundings};
}

// Returns the product of values that are rounded to f16. The error is half a unit of 11 bits for
// each factor, less than 2^-25 if the factor is subnormal in f16, plus the roundings of sums in
// f32.
Bounded product_of_halves(BlockFormat format, const std::vector<std::byte>& matrix, std::size_t row,
                          const float* x) {
  const conformance::QuantizedRow values =
      conformance::row_of_blocks(format, &matrix[row * row_bytes(format, kColumns)], kColumns);
  const conformance::Product exact = conformance::product(values, x);
  Real largest = 0, sum = 0, weights = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    largest = std::max<Real>(largest, std::fabs(x[i]));
    sum += std::fabs(x[i]);
    weights += std::fabs(values[i].value());
  }
  const bool is_scaled = largest < 0x1p-6L || largest > 65504;
  const Real step = is_scaled ? 0x1p-39L * largest : 0x1p-25L;
  return {exact.value, 0x1.1p-10L * exact.magnitude + step * weights + 0x1p-25L * sum};
}

enum class Way { kKernels, kChosen, kLibrary };

// `library`: the library of a QuantizedMultiplier, which is used unless kernels multiply.
void check(const Device& device, const Shape& shape, Way way = Way::kKernels,
           const MatrixMultiplier* library = nullptr) {
  Random random(7);
  const std::size_t tasks = shape.vectors * shape.slots;
  const bool is_shared = shape.experts != 0 && shape.inputs == MoeInputs::kOfBatch;
  const std::size_t activations = is_shared ? shape.vectors : tasks;
  const std::size_t matrices = std::max<std::size_t>(shape.experts, 1);
  std::vector<std::byte> weights[2];
  for (std::vector<std::byte>& each : weights) {
    each =
        conformance::random_blocks(shape.format, conformance::BlockKind::kUsual,
                                   matrices * kRows * kColumns / info(shape.format).values, random);
  }
  std::vector<float> x(activations * kColumns);
  const std::size_t before = shape.misalignment * size_of(shape.x);
  std::vector<std::byte> content(before + x.size() * size_of(shape.x));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double factor =
        shape.is_wide ? std::ldexp(1, 60 - 40 * static_cast<int>(i / kColumns)) : 1;
    Real value = static_cast<Real>(random.uniform(-1, 1) * factor);
    if (shape.is_special && i == kColumns) value = std::numeric_limits<Real>::infinity();
    if (shape.is_special && i == 2 * kColumns) value = std::numeric_limits<Real>::quiet_NaN();
    const Bits bits = conformance::encode(shape.x, value);
    conformance::store(shape.x, bits, &content[before + i * size_of(shape.x)]);
    x[i] = static_cast<float>(conformance::decode(shape.x, bits));
  }
  std::vector<std::uint32_t> ids(tasks);
  for (std::size_t t = 0; t < tasks && shape.experts != 0; ++t) {
    ids[t] = static_cast<std::uint32_t>((2 + t * t) % shape.experts);
  }

  const Buffer gate = *device.upload(weights[0]), up = *device.upload(weights[1]);
  const Buffer in = *device.upload(content), experts = *device.upload(ids);
  const Buffer out = *device.allocate(tasks * kRows * size_of(shape.out));
  QuantizedMatmul call;
  call.format = shape.format;
  call.rows = kRows;
  call.columns = kColumns;
  call.vectors = shape.vectors;
  call.x_dtype = shape.x;
  call.out_dtype = shape.out;
  call.weights = up.data();
  call.gate = shape.is_pair ? gate.data() : nullptr;
  call.x = in.as<std::byte>() + before;
  call.out = out.data();
  call.experts = shape.experts;
  call.slots = shape.slots;
  call.inputs = shape.inputs;
  call.ids = experts.data();
  const Launcher launcher(device);
  std::string text;
  if (way == Way::kKernels) {
    const auto planned = plan(call, Gpu::of(device.info()));
    REQUIRE(planned);
    text = to_string(*planned);
    REQUIRE(launcher.run(*planned));
  } else {
    const QuantizedMultiplier multiplier(launcher, *library);
    if (way == Way::kChosen) REQUIRE(multiplier.prepare(call));
    if (way == Way::kChosen) REQUIRE(multiplier.run(call));
    if (way == Way::kLibrary) REQUIRE(multiplier.prepare_by_library(call));
    if (way == Way::kLibrary) REQUIRE(multiplier.run_by_library(call));
  }
  INFO(text);
  const auto product = way == Way::kLibrary ? product_of_halves : product_of;
  const auto results = *device.download<std::byte>(out);
  for (std::size_t t = 0; t < tasks; ++t) {
    const float* const of_task = &x[(is_shared ? t / shape.slots : t) * kColumns];
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::size_t row = (shape.experts != 0 ? ids[t] : 0) * kRows + r;
      if (shape.is_special && (t == 1 || t == 2)) {
        const Bits odd =
            conformance::load(shape.out, &results[(t * kRows + r) * size_of(shape.out)]);
        CHECK_FALSE(std::isfinite(conformance::decode(shape.out, odd)));
        continue;
      }
      Bounded right = product(shape.format, weights[1], row, of_task);
      if (shape.is_pair) {
        const Bounded of_gate = product(shape.format, weights[0], row, of_task);
        const Real opened = of_gate.value / (1 + std::exp(-of_gate.value));
        right.error = 1.1L * of_gate.error * (std::fabs(right.value) + right.error) +
                      std::fabs(opened) * right.error;
        right.value *= opened;
        right.error += 16 * conformance::rounding_error(DType::kF32) * std::fabs(right.value);
      }
      const auto expected =
          conformance::Expected::within(shape.out, right.value, {0, 0, right.error});
      const Bits actual =
          conformance::load(shape.out, &results[(t * kRows + r) * size_of(shape.out)]);
      INFO("task " << t << ", row " << r << ": "
                   << static_cast<double>(conformance::decode(shape.out, actual)) << ", expected "
                   << expected.describe(shape.out));
      CHECK(expected.admits(shape.out, actual));
    }
  }
}

TEST_CASE("quantized_matmul multiplies in every way that it chooses") {
  const Runtime runtime = testing::open_subject();
  const Device device = *runtime.default_device();
  if (testing::subject().machine != nullptr) SKIP("a fake device runs no kernels of ours");
  constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16;
  constexpr BlockFormat kQ4_0 = BlockFormat::kQ4_0, kQ4_K = BlockFormat::kQ4_K;
  const Shape shapes[] = {
      {kQ4_0, 1},
      {kQ4_K, 1, true, kF16, kF16},
      {kQ4_K, 1, true, kF16, kF16, 0, 1, MoeInputs::kOfBatch, 1},
      {BlockFormat::kQ5_0, 1, true, kF16, kBF16},
      {BlockFormat::kQ6_K, 3, true, kF16, kBF16},
      {BlockFormat::kMXFP4, 2},
      {BlockFormat::kMXFP4, 6},
      {kQ4_0, 9},
      {kQ4_0, 17},
      {BlockFormat::kQ5_1, 10, true, kF32, kF16},
      {BlockFormat::kQ8_0, 17, true, kBF16, kF16},
      {BlockFormat::kMXFP4, 1, true, kF16, kF16, 3, 2},
      {kQ4_K, 5, true, kF32, kBF16, 2, 2},
      {BlockFormat::kQ5_K, 5, false, kF16, kF32, 2, 2, MoeInputs::kOfTask},
      {BlockFormat::kQ2_K, 2, true, kF32, kF16, 3, 2},
  };
  for (const Shape& shape : shapes) check(device, shape);
}

TEST_CASE("a QuantizedMultiplier multiplies by the library and by kernels") {
  const Runtime runtime = testing::open_subject();
  const Device device = *runtime.default_device();
  if (testing::subject().machine != nullptr) SKIP("a fake device runs no kernels of ours");
  const auto library = MatrixMultiplier::open(device);
  if (!library) SKIP(library.error().text());
  constexpr DType kF16 = DType::kF16;
  const Shape shapes[] = {
      {BlockFormat::kQ4_0, 1, false, kF16, kF16},
      {BlockFormat::kQ4_K, 300, false, kF16, kF16},
      {BlockFormat::kMXFP4, 301, false, kF16, kF16},
      {BlockFormat::kQ6_K, 300, true, kF16, kF16},
      {BlockFormat::kQ8_0, 300, false, DType::kF32, kF16},
  };
  for (const Shape& shape : shapes) check(device, shape, Way::kChosen, &*library);
}

TEST_CASE("a QuantizedMultiplier multiplies by the library, of all types") {
  const Runtime runtime = testing::open_subject();
  const Device device = *runtime.default_device();
  if (testing::subject().machine != nullptr) SKIP("a fake device runs no kernels of ours");
  const auto library = MatrixMultiplier::open(device);
  if (!library) SKIP(library.error().text());
  for (const DType x : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const DType out : {DType::kF32, DType::kF16, DType::kBF16}) {
      for (const bool is_pair : {false, true}) {
        INFO(name(x) << " to " << name(out) << (is_pair ? ", pair" : ""));
        Shape shape{BlockFormat::kQ4_K, 7, is_pair, x, out};
        check(device, shape, Way::kLibrary, &*library);
        shape.is_special = true;
        check(device, shape, Way::kLibrary, &*library);
        shape.is_special = false;
        shape.vectors = 4;
        shape.is_wide = true;
        if (x != DType::kF16) check(device, shape, Way::kLibrary, &*library);
      }
    }
  }
  for (const BlockFormatInfo& format : kBlockFormats) {
    INFO(format.name);
    check(device, {format.format, 3}, Way::kLibrary, &*library);
  }
}

TEST_CASE("a QuantizedMultiplier takes a large matrix by parts") {
  const Runtime runtime = testing::open_subject();
  const Device device = *runtime.default_device();
  if (testing::subject().machine != nullptr) SKIP("a fake device runs no kernels of ours");
  const auto library = MatrixMultiplier::open(device);
  if (!library) SKIP(library.error().text());
  const Launcher launcher(device);
  // 128, 128 and 44 rows of Q8_0 with scale 1: the sums are integers.
  constexpr std::size_t kMany = 300, kVectors = 3;
  std::vector<std::byte> blocks(kMany * row_bytes(BlockFormat::kQ8_0, 32));
  std::vector<float> x(kVectors * 32), expected(kVectors * kMany);
  Random random(5);
  for (float& each : x) each = static_cast<float>(random.below(9)) - 4;
  for (std::size_t row = 0; row < kMany; ++row) {
    std::byte* const block = &blocks[row * 34];
    block[1] = std::byte{0x3c};
    for (std::size_t i = 0; i < 32; ++i) {
      const std::size_t quant = random.below(100);
      block[2 + i] = static_cast<std::byte>(quant);
      for (std::size_t v = 0; v < kVectors; ++v) {
        expected[v * kMany + row] += x[v * 32 + i] * static_cast<float>(quant);
      }
    }
  }
  const Buffer weights = *device.upload(blocks), in = *device.upload(x);
  const Buffer out = *device.allocate(expected.size() * sizeof(float));
  QuantizedMatmul call;
  call.format = BlockFormat::kQ8_0;
  call.rows = kMany, call.columns = 32, call.vectors = kVectors;
  call.weights = weights.data(), call.x = in.data(), call.out = out.data();
  CHECK(library_memory(call, 1) < library_memory(call));
  for (const std::size_t at_once : {std::size_t{1}, kMany * 16, kWeightsAtOnce}) {
    REQUIRE(device.copy_to_device(out.data(), x.data(), x.size() * sizeof(float)));
    REQUIRE(QuantizedMultiplier(launcher, *library, at_once).run_by_library(call));
    CHECK(*device.download<float>(out) == expected);
  }
}

TEST_CASE("what the library's way cannot do is told") {
  const Runtime runtime = testing::open_subject();
  const Device device = *runtime.default_device();
  const auto library = MatrixMultiplier::open(device);
  if (!library) SKIP(library.error().text());
  const Launcher launcher(device);
  const QuantizedMultiplier multiplier(launcher, *library);
  QuantizedMatmul call;
  call.rows = 4, call.columns = 32, call.experts = 2;
  for (const Result<void>& done :
       {multiplier.run_by_library(call), multiplier.prepare_by_library(call)}) {
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::kInvalidInput);
    CHECK(done.error().message == "a mixture of 2 experts does not go by the matrix library");
  }
  const auto message = [&](auto change) {
    QuantizedMatmul other = call;
    other.experts = 0;
    change(other);
    const Result<void> done = multiplier.run_by_library(other);
    return done ? std::string() : done.error().message;
  };
  CHECK(message([](QuantizedMatmul& one) { one.columns = 33; }) ==
        "tensors of 33 values are no whole blocks of Q4_0");
  CHECK(message([](QuantizedMatmul& one) { one.x_dtype = DType::kF64; }) != "");
  CHECK(message([](QuantizedMatmul& one) { one.out_dtype = DType::kU8; }) != "");
  CHECK(message([](QuantizedMatmul& one) { one.rows = 0; }) != "");
  CHECK(message([](QuantizedMatmul& one) { one.vectors = 0; }) != "");
}

TEST_CASE("memory for the library's way is counted") {
  QuantizedMatmul call;
  call.rows = 512, call.columns = 256, call.vectors = 64;
  const std::size_t weights = 512 * 256 * 2, halves = 64 * 256 * 2, scales = 256;
  const std::size_t results = 64 * 512 * 4;
  CHECK(library_memory(call) == weights + halves + scales);
  call.out_dtype = DType::kF16;
  CHECK(library_memory(call) == weights + halves + scales + results);
  call.x_dtype = DType::kF16;
  CHECK(library_memory(call) == weights);
  call.gate = &call;
  CHECK(library_memory(call) == weights + 2 * results);
  call.out_dtype = DType::kF32;
  CHECK(library_memory(call) == weights + results);
  CHECK(library_memory(call, 512 * 256 / 2) == weights / 2 + results);
  CHECK(library_memory(call, 1) == weights / 4 + results);
  // 2^32 parts of one weight each, which become parts of 128 rows.
  QuantizedMatmul large;
  large.rows = large.columns = std::size_t{1} << 16;
  large.x_dtype = DType::kF16;
  CHECK(library_memory(large, 1) == 128 * large.columns * 2);
  large.columns = 33;  // is refused
  CHECK(library_memory(large) == 0);
}

TEST_CASE("a QuantizedMultiplier's products are captured into a graph") {
  if (!testing::subject_has_graphs()) SKIP(testing::subject().name + " has no graphs");
  if (testing::subject().machine != nullptr) SKIP("a fake device runs no kernels of ours");
  const Runtime runtime = testing::open_subject();
  const Device device = *runtime.default_device();
  const Stream stream = *device.create_stream();
  const auto library = MatrixMultiplier::open(device, stream);
  if (!library) SKIP(library.error().text());
  const Launcher launcher(device, stream);
  const QuantizedMultiplier multiplier(launcher, *library);
  // Q8_0 with scale 1: all weights are 3.
  std::vector<std::byte> blocks(kRows * row_bytes(BlockFormat::kQ8_0, kColumns), std::byte{3});
  for (std::size_t i = 0; i < blocks.size(); i += 34) {
    blocks[i] = std::byte{0x00};
    blocks[i + 1] = std::byte{0x3c};
  }
  const std::size_t vectors = 40;
  const Buffer weights = *device.upload(blocks);
  const Buffer x = *device.upload(std::vector<float>(vectors * kColumns, 2.0f));
  const Buffer out = *device.allocate(vectors * kRows * sizeof(float));
  QuantizedMatmul call;
  call.format = BlockFormat::kQ8_0;
  call.rows = kRows, call.columns = kColumns, call.vectors = vectors;
  call.weights = weights.data(), call.x = x.data(), call.out = out.data();
  REQUIRE(multiplier.prepare_by_library(call));
  const testing::StreamGraph graph(runtime, device, stream,
                                   [&] { return multiplier.run_by_library(call); });
  REQUIRE(graph.work());
  REQUIRE(graph.ended() == 0);
  for (const float value : {2.0f, 0x1p40f}) {
    const std::vector<float> activations(vectors * kColumns, value);
    REQUIRE(device.copy_to_device(x.data(), activations.data(), x.size()));
    REQUIRE(graph.launch() == 0);
    REQUIRE(stream.synchronize());
    CHECK(*device.download<float>(out) ==
          std::vector<float>(vectors * kRows, 3 * kColumns * value));
  }
}

TEST_CASE("many activations go by the library of a GPU, and no experts") {
  QuantizedMatmul call;
  call.rows = 4096, call.columns = 4096, call.vectors = 512;
  call.x_dtype = call.out_dtype = DType::kF16;
  DeviceInfo gpu;
  gpu.backend = Backend::kCuda;
  CHECK(goes_by_library(call, gpu));
  gpu.backend = Backend::kHip;
  CHECK(goes_by_library(call, gpu));
  for (const Backend other : {Backend::kHost, Backend::kEmulator}) {
    DeviceInfo device;
    device.backend = other;
    CHECK_FALSE(goes_by_library(call, device));
  }
  const auto refuses = [&](auto change) {
    QuantizedMatmul other = call;
    change(other);
    return !goes_by_library(other, gpu);
  };
  CHECK(refuses([](QuantizedMatmul& one) { one.vectors = 8; }));
  CHECK_FALSE(refuses([](QuantizedMatmul& one) { one.x_dtype = DType::kF32; }));
  CHECK_FALSE(refuses([](QuantizedMatmul& one) { one.out_dtype = DType::kBF16; }));
  CHECK_FALSE(refuses([&](QuantizedMatmul& one) { one.gate = &call; }));
  CHECK(refuses([](QuantizedMatmul& one) { one.experts = 8; }));
  CHECK(refuses([](QuantizedMatmul& one) { one.rows = one.columns = 1024, one.vectors = 511; }));
  // Products by warp groups leave fewer shapes to the library.
  CHECK_FALSE(refuses([](QuantizedMatmul& one) { one.vectors = 128; }));
  gpu.target = "sm_90", gpu.multiprocessors = 132, gpu.max_shared_bytes = 227 * 1024;
  CHECK(refuses([](QuantizedMatmul& one) { one.vectors = 511; }));
  CHECK_FALSE(refuses([](QuantizedMatmul& one) { one.vectors = 512; }));
  // Shapes that no kernel supports.
  call.vectors = 2;
  for (const BlockFormatInfo& format : kBlockFormats) {
    call.format = format.format;
    const bool is_taken = static_cast<bool>(plan(call));
    INFO(format.name);
    CHECK(goes_by_library(call, gpu) == !is_taken);
  }
}

}  // namespace
}  // namespace kiln::ops
