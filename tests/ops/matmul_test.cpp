// MatrixMultiplier on the device of KILN_TEST_DRIVER (tests/runtime/subject.hpp), compared with
// sums in double.
#include "kiln/ops/matmul.hpp"

#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/ops/scalar.hpp"
#include "subject.hpp"

namespace kiln::ops {
namespace {

// A batch of matrices, with the place of each element.
struct View {
  Layout layout;
  std::size_t at(std::size_t batch, std::size_t row, std::size_t column) const {
    const Extents strides = strides_of(layout);
    if (layout.dims.rank() == 2) return row * strides[0] + column * strides[1];
    return batch * strides[0] + row * strides[1] + column * strides[2];
  }
  std::size_t span() const {
    std::size_t last = 0;
    const Extents strides = strides_of(layout);
    for (std::size_t d = 0; d < layout.dims.rank(); ++d) last += (layout.dims[d] - 1) * strides[d];
    return last + 1;
  }
};

// Elements of one dtype in host memory: small numbers that every dtype represents exactly.
struct Values {
  DType dtype;
  std::vector<std::byte> bytes;

  Values(DType of, std::size_t count, unsigned seed) : dtype(of), bytes(count * size_of(of)) {
    for (std::size_t i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      set(i, (static_cast<double>(seed >> 24) - 128) / 64);
    }
  }
  void set(std::size_t i, double value) {
    const std::uint64_t bits = Scalar::from(dtype, value).bits;
    std::memcpy(bytes.data() + i * size_of(dtype), &bits, size_of(dtype));
  }
  double get(std::size_t i) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size_of(dtype), size_of(dtype));
    return Scalar::of_bits(dtype, bits).value();
  }
};

struct Subject {
  Runtime runtime = testing::open_subject();
  Device device = *runtime.default_device();
};

MatrixMultiplier open(const Device& device) {
  Result<MatrixMultiplier> multiplier = MatrixMultiplier::open(device);
  if (!multiplier) {
    if (testing::subject().machine == nullptr && std::getenv("KILN_BLAS_LIBRARY") == nullptr) {
      SKIP(multiplier.error().message);
    }
    FAIL(multiplier.error().message);
  }
  return std::move(*multiplier);
}

struct Product {
  DType dtype;
  View lhs, rhs, out;
  std::size_t batch, rows, inner, columns;
  double alpha = 1, beta = 0;
  std::optional<DType> out_dtype = {};
};

void check(const Device& device, const MatrixMultiplier& multiplier, const Product& product) {
  const Values a(product.dtype, product.lhs.span(), 1), b(product.dtype, product.rhs.span(), 2);
  const DType out_dtype = product.out_dtype.value_or(product.dtype);
  Values c(out_dtype, product.out.span(), 3);
  if (product.beta == 0) c.set(0, std::nan(""));  // must not be read
  const Buffer on_a = *device.upload(a.bytes), on_b = *device.upload(b.bytes),
               on_c = *device.upload(c.bytes);
  Matmul call;
  call.dtype = product.dtype;
  call.out_dtype = product.out_dtype;
  call.lhs = on_a.data(), call.lhs_layout = product.lhs.layout;
  call.rhs = on_b.data(), call.rhs_layout = product.rhs.layout;
  call.out = on_c.data(), call.out_layout = product.out.layout;
  call.alpha = product.alpha, call.beta = product.beta;
  const Result<void> done = multiplier.run(call);
  INFO((done ? std::string() : done.error().message));
  REQUIRE(done);
  REQUIRE(device.synchronize());
  Values result = c;
  result.bytes = *device.download<std::byte>(on_c);

  // Sums of a few hundred terms in f32 or f64, rounded once to the dtype.
  const double ulp = out_dtype == DType::kF64   ? 0x1p-52
                     : out_dtype == DType::kF32 ? 0x1p-21
                     : out_dtype == DType::kF16 ? 0x1p-10
                                                : 0x1p-7;
  std::vector<bool> written(product.out.span());
  for (std::size_t i = 0; i < product.batch; ++i) {
    for (std::size_t row = 0; row < product.rows; ++row) {
      for (std::size_t column = 0; column < product.columns; ++column) {
        double sum = 0, size = 0;
        for (std::size_t j = 0; j < product.inner; ++j) {
          const double term = a.get(product.lhs.at(i, row, j)) * b.get(product.rhs.at(i, j, column));
          sum += term, size += std::fabs(term);
        }
        const std::size_t at = product.out.at(i, row, column);
        const double old = product.beta == 0 ? 0 : product.beta * c.get(at);
        const double expected = product.alpha * sum + old;
        const double bound = ulp * (std::fabs(product.alpha) * size + std::fabs(old)) + 1e-300;
        INFO("[" << i << ", " << row << ", " << column << "]");
        REQUIRE(std::fabs(result.get(at) - expected) <= bound);
        written[at] = true;
      }
    }
  }
  for (std::size_t at = 0; at < written.size(); ++at) {
    if (!written[at]) REQUIRE(std::memcmp(result.bytes.data() + at * size_of(out_dtype),
                                          c.bytes.data() + at * size_of(out_dtype),
                                          size_of(out_dtype)) == 0);
  }
}

TEST_CASE("Products of every dtype and layout") {
  const Subject subject;
  const MatrixMultiplier multiplier = open(subject.device);
  const std::size_t batch = 3, rows = 17, inner = 33, columns = 9;
  const View lhs[] = {{{{batch, rows, inner}}},                                      // row-major
                      {{{batch, rows, inner}, {rows * inner, 1, rows}}},             // transposed
                      {{{batch, rows, inner}, {rows * 64, 64, 1}}},                  // gaps
                      {{{rows, inner}}},                                             // one for all
                      {{{batch, rows, inner}, {0, inner, 1}}}};                      // one for all
  const View rhs[] = {{{{batch, inner, columns}}},
                      {{{batch, inner, columns}, {inner * columns, 1, inner}}},
                      {{{inner, columns}}}};
  const View out[] = {{{{batch, rows, columns}}},
                      {{{batch, rows, columns}, {rows * columns, 1, rows}}},         // column-major
                      {{{batch, rows, columns}, {rows * 16 + 5, 16, 1}}}};           // with gaps
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    for (const View& l : lhs) {
      for (const View& r : rhs) {
        for (const View& o : out) {
          INFO(name(dtype) << " " << to_string(l.layout) << " * " << to_string(r.layout) << " -> "
                              << to_string(o.layout));
          check(subject.device, multiplier, {dtype, l, r, o, batch, rows, inner, columns});
        }
      }
    }
  }
}

TEST_CASE("alpha and beta") {
  const Subject subject;
  const MatrixMultiplier multiplier = open(subject.device);
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    INFO(name(dtype));
    Product product{dtype, {{{8, 4}}}, {{{4, 6}}}, {{{8, 6}}}, 1, 8, 4, 6};
    product.alpha = -0.5, product.beta = 2;
    check(subject.device, multiplier, product);
    product.alpha = 0;
    check(subject.device, multiplier, product);
  }
}

TEST_CASE("Products of f16 and bf16 as f32") {
  const Subject subject;
  const MatrixMultiplier multiplier = open(subject.device);
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    INFO(name(dtype));
    Product product{dtype, {{{3, 8, 40}}}, {{{40, 6}, {1, 40}}}, {{{3, 8, 6}, {8 * 9, 9, 1}}}, 3, 8, 40, 6};
    product.out_dtype = DType::kF32;
    check(subject.device, multiplier, product);
    product.alpha = -0.5, product.beta = 2;
    check(subject.device, multiplier, product);
  }
}

TEST_CASE("Vectors, and single elements") {
  const Subject subject;
  const MatrixMultiplier multiplier = open(subject.device);
  const DType f32 = DType::kF32;
  check(subject.device, multiplier, {f32, {{{1, 300}}}, {{{300, 5}}}, {{{1, 5}}}, 1, 1, 300, 5});
  check(subject.device, multiplier, {f32, {{{7, 300}}}, {{{300, 1}}}, {{{7, 1}}}, 1, 7, 300, 1});
  check(subject.device, multiplier, {f32, {{{1, 1}}}, {{{1, 1}}}, {{{1, 1}}}, 1, 1, 1, 1});
  check(subject.device, multiplier, {f32, {{{4, 1}}}, {{{1, 6}}}, {{{4, 6}}}, 1, 4, 1, 6});
}

TEST_CASE("A null pointer is refused by name") {
  const Subject subject;
  const MatrixMultiplier multiplier = open(subject.device);
  float memory = 1;
  Matmul product;
  product.lhs_layout = product.rhs_layout = product.out_layout = {{1, 1}};
  product.lhs = product.rhs = &memory;
  const auto refused = [&](const char* words) {
    const Result<void> done = multiplier.run(product);
    REQUIRE(!done);
    CHECK(done.error().code == ErrorCode::kInvalidInput);
    CHECK(done.error().message == words);
  };
  refused("matmul: out is a null pointer");
  product.out = &memory;
  product.rhs = nullptr;
  refused("matmul: rhs is a null pointer");
  product.lhs = nullptr;
  refused("matmul: lhs is a null pointer");
}

TEST_CASE("A multiplier is not opened on an empty stream, and one that was moved from says so") {
  const Subject subject;
  MatrixMultiplier multiplier = open(subject.device);
  const MatrixMultiplier moved = std::move(multiplier);
  const Result<void> done = multiplier.run({});
  REQUIRE(!done);
  CHECK(done.error().message == "matmul: the multiplier was moved from");
  const Result<MatrixMultiplier> refused = MatrixMultiplier::open(subject.device, Stream());
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::kInvalidInput);
  CHECK(refused.error().message == "matmul: an empty stream");
}

TEST_CASE("A library that cannot be opened is told with what to do") {
  if (testing::subject().backend == Backend::kEmulator) SKIP("emulated devices have none");
  const Subject subject;
  const char* const before = std::getenv("KILN_BLAS_LIBRARY");
  const std::string kept = before != nullptr ? before : "";
  setenv("KILN_BLAS_LIBRARY", "/nowhere/libnothing.so", 1);
  const Result<MatrixMultiplier> multiplier = MatrixMultiplier::open(subject.device);
  before != nullptr ? setenv("KILN_BLAS_LIBRARY", kept.c_str(), 1) : unsetenv("KILN_BLAS_LIBRARY");
  REQUIRE(!multiplier);
  CHECK(multiplier.error().code == ErrorCode::kUnavailable);
  CHECK(multiplier.error().message.find("which cannot be opened") != std::string::npos);
  REQUIRE(multiplier.error().notes.size() == 2);
  CHECK(multiplier.error().notes[0].text.find("/nowhere/libnothing.so") != std::string::npos);
  CHECK(multiplier.error().notes[1].text.find("install") != std::string::npos);
}

TEST_CASE("A failing library's status is told") {
  if (testing::subject().name != "fake_hip") SKIP("only the fake fails on demand");
  const Subject subject;
  setenv("KILN_FAKE_ROCBLAS_FAILS", "1", 1);
  const Result<MatrixMultiplier> multiplier = MatrixMultiplier::open(subject.device);
  unsetenv("KILN_FAKE_ROCBLAS_FAILS");
  REQUIRE(!multiplier);
  CHECK(multiplier.error().message == "rocblas_create_handle: rocblas_status_invalid_handle");
}

TEST_CASE("A multiplier that outlives the driver leaves the library alone") {
  if (testing::subject().name != "fake_hip") SKIP("only the fake ends on demand");
  void* const library = dlopen(std::getenv("KILN_BLAS_LIBRARY"), RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto destroyed = reinterpret_cast<int (*)()>(dlsym(library, "kiln_fake_rocblas_destroyed"));
  REQUIRE(destroyed != nullptr);
  const Subject subject;
  const auto open = [&] {
    Result<MatrixMultiplier> opened = MatrixMultiplier::open(subject.device);
    REQUIRE(opened);
    return std::make_unique<MatrixMultiplier>(std::move(*opened));
  };
  auto early = open(), late = open();
  const int before = destroyed();
  early.reset();
  CHECK(destroyed() == before + 1);
  testing::subject().machine->end_driver();
  late.reset();
  CHECK(destroyed() == before + 1);
}

}  // namespace
}  // namespace kiln::ops
