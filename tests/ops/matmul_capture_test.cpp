// A matrix product captured into a graph, on the device of KILN_TEST_DRIVER
// (tests/runtime/subject.hpp), and the errors if it cannot be captured.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <vector>

#include "kiln/ops/matmul.hpp"
#include "stream_graph.hpp"

namespace kiln::ops {
namespace {

using testing::StreamGraph;

constexpr std::size_t kRows = 3, kInner = 2, kColumns = 4;

// out += lhs * rhs with small integers, so that it is exact.
struct Product {
  Runtime runtime = testing::open_subject();
  Device device = *runtime.default_device();
  Stream stream = *device.create_stream();
  Buffer lhs = *device.allocate(kRows * kInner * sizeof(float));
  Buffer rhs = *device.allocate(kInner * kColumns * sizeof(float));
  Buffer out = *device.allocate(kRows * kColumns * sizeof(float));
  Matmul call;

  Product() {
    call.lhs = lhs.data(), call.lhs_layout = {{kRows, kInner}};
    call.rhs = rhs.data(), call.rhs_layout = {{kInner, kColumns}};
    call.out = out.data(), call.out_layout = {{kRows, kColumns}};
    call.beta = 1;
    fill(lhs, 0), fill(rhs, 0), fill(out, 0);
  }

  void fill(const Buffer& buffer, float value) const {
    const std::vector<float> values(buffer.size() / sizeof(float), value);
    REQUIRE(device.copy_to_device(buffer.data(), values.data(), buffer.size()));
  }
  std::vector<float> result() const {
    REQUIRE(stream.synchronize());
    return *device.download<float>(out);
  }
  static std::vector<float> all(float value) { return std::vector<float>(kRows * kColumns, value); }

  // Skips the test if a real driver has no matrix library.
  MatrixMultiplier open(StreamRef on) const {
    Result<MatrixMultiplier> multiplier = MatrixMultiplier::open(device, on);
    if (!multiplier && std::getenv("KILN_BLAS_LIBRARY") == nullptr) {
      SKIP(multiplier.error().message);
    }
    REQUIRE(multiplier);
    return std::move(*multiplier);
  }
};

TEST_CASE("A product is captured into a graph, and done each time that the graph is launched") {
  if (!testing::subject_has_graphs()) SKIP(testing::subject().name + " has no graphs");
  const Product product;
  const MatrixMultiplier multiplier = product.open(product.stream);
  const StreamGraph graph(product.runtime, product.device, product.stream,
                          [&] { return multiplier.run(product.call); });
  REQUIRE(graph.begun() == 0);
  INFO((graph.work() ? std::string() : graph.work().error().message));
  REQUIRE(graph.work());
  REQUIRE(graph.ended() == 0);
  // The product is captured but not run. It reads the memory content at the time of the graph
  // launch.
  product.fill(product.lhs, 3);
  product.fill(product.rhs, 5);
  CHECK(product.result() == Product::all(0));
  for (int times = 1; times <= 3; ++times) {
    REQUIRE(graph.launch() == 0);
    CHECK(product.result() == Product::all(static_cast<float>(times) * 3 * 5 * kInner));
  }
}

TEST_CASE("A product of the default stream ends the capture of another, and the error says so") {
  if (!testing::subject_has_graphs()) SKIP(testing::subject().name + " has no graphs");
  const Product product;
  const MatrixMultiplier multiplier = product.open({});
  const StreamGraph graph(product.runtime, product.device, product.stream,
                          [&] { return multiplier.run(product.call); });
  REQUIRE(graph.begun() == 0);
  CHECK(graph.ended() != 0);
  REQUIRE_FALSE(graph.work());
  const Error& error = graph.work().error();
  INFO(error.message);
  CHECK(error.code == ErrorCode::kDriver);
  // The status depends on the size of the product.
  CHECK((error.message.starts_with("rocblas_gemm_strided_batched_ex: rocblas_status_") ||
         error.message.starts_with("cublasGemmStridedBatchedEx: CUBLAS_STATUS_")));
  REQUIRE(error.notes.size() == 1);
  CHECK(error.notes[0].text ==
        "while a stream is captured into a graph, multiply on that one: "
        "MatrixMultiplier::open(device, stream)");
}

TEST_CASE("A product is done when run() returns on a device without graphs") {
  if (testing::subject().backend != Backend::kHost) SKIP("about the host alone");
  const Product product;
  const MatrixMultiplier multiplier = product.open(product.stream);
  product.fill(product.lhs, 3);
  product.fill(product.rhs, 5);
  REQUIRE(multiplier.run(product.call));
  const auto* out = static_cast<const float*>(product.out.data());
  CHECK(std::vector<float>(out, out + kRows * kColumns) == Product::all(3 * 5 * kInner));
}

TEST_CASE("An emulated device says that it has no matrix library") {
  if (testing::subject().backend != Backend::kEmulator) SKIP("about emulated devices alone");
  const Product product;
  const Result<MatrixMultiplier> multiplier =
      MatrixMultiplier::open(product.device, product.stream);
  REQUIRE_FALSE(multiplier);
  CHECK(multiplier.error().code == ErrorCode::kUnavailable);
  CHECK(multiplier.error().message.starts_with("there is no matrix library for emulated:gfx"));
}

}  // namespace
}  // namespace kiln::ops
