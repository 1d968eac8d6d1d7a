// quantized_matmul and QuantizedMultiplier on the device that KILN_TEST_DRIVER names (tests/runtime/subject.hpp): all its
// ways, against products in the reference's precision.
#include "kiln/ops/quantized_multiplier.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

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
  std::size_t misalignment = 0;  // of the activations, in values
};

constexpr std::size_t kRows = 5, kColumns = 256;

struct Bounded {
  Real value = 0, error = 0;
};

// The product of a row with activations, by floats or by 8 bits.
Bounded product_of(BlockFormat format, const std::vector<std::byte>& matrix, std::size_t row,
                   const float* x) {
  const conformance::QuantizedRow values =
      conformance::row_of_blocks(format, &matrix[row * row_bytes(format, kColumns)], kColumns);
  const conformance::Product exact = conformance::product(values, x);
  const Real roundings =
      (kColumns / 8 + 16) * conformance::rounding_error(DType::kF32) * exact.magnitude;
  return {exact.value, conformance::eight_bit_error(format, values, x) + 2 * roundings};
}

// `library`: of a QuantizedMultiplier, which then multiplies.
void check(const Device& device, const Shape& shape, const MatrixMultiplier* library = nullptr) {
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
    const Bits bits = conformance::encode(shape.x, static_cast<Real>(random.uniform(-1, 1)));
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
  const auto planned = plan(call, Gpu::of(device.info()));
  REQUIRE(planned);
  INFO(planned->text);
  if (library != nullptr) {
    const QuantizedMultiplier multiplier(launcher, *library);
    REQUIRE(multiplier.prepare(call));
    REQUIRE(multiplier.run(call));
  } else {
    REQUIRE(launcher.run(*planned));
  }
  const auto results = *device.download<std::byte>(out);
  for (std::size_t t = 0; t < tasks; ++t) {
    const float* const of_task = &x[(is_shared ? t / shape.slots : t) * kColumns];
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::size_t row = (shape.experts != 0 ? ids[t] : 0) * kRows + r;
      Bounded right = product_of(shape.format, weights[1], row, of_task);
      if (shape.is_pair) {
        const Bounded of_gate = product_of(shape.format, weights[0], row, of_task);
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
  for (const Shape& shape : shapes) check(device, shape, &*library);
}

TEST_CASE("f16, one matrix and many activations go by the library of a GPU") {
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
  CHECK(refuses([](QuantizedMatmul& one) { one.x_dtype = DType::kF32; }));
  CHECK(refuses([](QuantizedMatmul& one) { one.out_dtype = DType::kBF16; }));
  CHECK(refuses([&](QuantizedMatmul& one) { one.gate = &call; }));
  CHECK(refuses([](QuantizedMatmul& one) { one.experts = 8; }));
}

}  // namespace
}  // namespace kiln::ops
