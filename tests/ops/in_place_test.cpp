// Calls that may write over what they read, as their headers say, on the device of KILN_TEST_DRIVER
// (tests/runtime/subject.hpp). In place they must give the bits that they give elsewhere. On the
// emulator, no wave may write what another one still reads.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "kiln/ops.hpp"
#include "ops_subject.hpp"

namespace kiln::ops {
namespace {

// Elements of a dtype: small numbers.
std::vector<std::byte> elements(DType dtype, std::size_t count, unsigned seed) {
  std::vector<std::byte> bytes(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const double value = (static_cast<double>(seed >> 24) - 128) / 64;
    const std::uint64_t bits = Scalar::from(dtype, value).bits;
    std::memcpy(bytes.data() + i * size_of(dtype), &bits, size_of(dtype));
  }
  return bytes;
}

struct Subject : OpsSubject {
  Buffer upload(DType dtype, std::size_t count, unsigned seed = 1) const {
    return *device.upload(elements(dtype, count, seed));
  }

  // Calls launch(input, out) for different buffers and for one. Compares the results.
  using Run = std::function<Result<void>(void* input, void* out)>;
  void check(DType dtype, std::size_t count, const Run& launch) const {
    const Buffer input = upload(dtype, count), out = upload(dtype, count, 2);
    const Result<void> apart = launch(input.data(), out.data());
    if (!apart) FAIL(apart.error().text());
    const auto expected = *device.download<std::byte>(out);
    const Result<void> in_place = launch(input.data(), input.data());
    if (!in_place) FAIL(in_place.error().text());
    CHECK(*device.download<std::byte>(input) == expected);
  }
};

// Sizes for which kernels take one element per thread, chunks, and several chunks per thread.
std::vector<std::size_t> columns_of(const Subject& subject) {
  if (!subject.is_gpu()) return {5, 640, 1001};
  return {5, 640, 100'001, 1'000'000};
}

TEST_CASE("An elementwise call writes over a contiguous operand") {
  const Subject subject;
  constexpr std::size_t kRows = 3;
  for (const std::size_t columns : columns_of(subject)) {
    const std::size_t count = kRows * columns;
    INFO(columns << " columns");
    for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
      const Buffer row = subject.upload(dtype, columns, 3);
      subject.check(dtype, count, [&](void* input, void* out) {
        Unary call;
        call.op = UnaryOp::kGeluTanh;
        call.dtype = dtype;
        call.layout = {{kRows, columns}};
        call.inp = input, call.out = out;
        return subject.launcher.launch(call);
      });
      subject.check(dtype, count, [&](void* input, void* out) {
        Affine call;
        call.dtype = dtype;
        call.layout = {{kRows, columns}};
        call.inp = input == out ? nullptr : input, call.out = out;
        call.mul = Scalar::from(dtype, 3), call.add = Scalar::from(dtype, 1);
        return subject.launcher.launch(call);
      });
      // The other operand may be any view.
      for (const Layout& other :
           {Layout{{kRows, columns}, {0, 1}}, Layout{{kRows, columns}, {0, 0}},
            Layout{{columns, kRows}, {1, 0}}}) {
        Binary call;
        call.op = BinaryOp::kSubtract;
        call.dtype = dtype;
        subject.check(dtype, count, [&](void* input, void* out) {
          call.lhs_layout = {other.dims}, call.rhs_layout = other;
          call.lhs = input, call.rhs = row.data(), call.out = out;
          return subject.launcher.launch(call);
        });
        subject.check(dtype, count, [&](void* input, void* out) {
          call.lhs_layout = other, call.rhs_layout = {other.dims};
          call.lhs = row.data(), call.rhs = input, call.out = out;
          return subject.launcher.launch(call);
        });
        const Buffer condition = subject.upload(DType::kU8, columns, 4);
        subject.check(dtype, count, [&](void* input, void* out) {
          Where choice;
          choice.dtype = dtype;
          choice.condition_layout = choice.false_layout = other;
          choice.true_layout = {other.dims};
          choice.condition = condition.data();
          choice.on_true = input, choice.on_false = row.data(), choice.out = out;
          return subject.launcher.launch(choice);
        });
      }
    }
    subject.check(DType::kF16, count, [&](void* input, void* out) {
      Cast call;
      call.from = DType::kF16, call.to = DType::kBF16;
      call.layout = {{count}};
      call.inp = input, call.out = out;
      return subject.launcher.launch(call);
    });
  }
}

TEST_CASE("An operation on rows writes over its input") {
  const Subject subject;
  struct Rows {
    std::size_t rows, columns;
  };
  std::vector<Rows> shapes = {{3, 5}, {7, 77}, {2, 1024}, {1, 5001}};
  if (subject.is_gpu()) {
    shapes.insert(shapes.end(), {{4096, 33}, {2000, 1023}, {300, 5120}, {1, 128'256}});
  }
  for (const Rows& shape : shapes) {
    INFO(shape.rows << " rows of " << shape.columns);
    for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
      const Buffer alpha = subject.upload(dtype, shape.columns, 3);
      const auto check = [&](auto call) {
        call.dtype = dtype;
        call.rows = shape.rows, call.columns = shape.columns;
        subject.check(dtype, shape.rows * shape.columns, [&](void* input, void* out) {
          call.src = input, call.dst = out;
          return subject.launcher.launch(call);
        });
      };
      Softmax softmax;
      check(softmax);
      softmax.geometry = Geometry::kReference;
      check(softmax);
      RmsNorm rms;
      rms.alpha = alpha.data();
      check(rms);
      rms.geometry = Geometry::kReference;
      check(rms);
      LayerNorm layer;
      layer.alpha = layer.beta = alpha.data();
      check(layer);
    }
  }
}

TEST_CASE("A rotation writes over its input") {
  const Subject subject;
  for (const std::size_t tokens : {3, subject.is_gpu() ? 2000 : 5}) {
    for (const std::size_t head_size : {6, 64}) {
      for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
        const Buffer cos = subject.upload(dtype, tokens * head_size / 2, 3);
        const Buffer sin = subject.upload(dtype, tokens * head_size / 2, 4);
        for (const RopeKind kind :
             {RopeKind::kNeighbours, RopeKind::kHalves, RopeKind::kHalvesTokensFirst}) {
          Rope call;
          call.kind = kind;
          call.dtype = dtype;
          call.batches = 2, call.heads = 4, call.tokens = tokens, call.head_size = head_size;
          call.cos = cos.data(), call.sin = sin.data();
          subject.check(dtype, 8 * tokens * head_size, [&](void* input, void* out) {
            call.src = input, call.dst = out;
            return subject.launcher.launch(call);
          });
        }
      }
    }
  }
}

TEST_CASE("Joined products are written over their values") {
  const Subject subject;
  constexpr std::size_t kRows = 3;
  for (const std::size_t columns : columns_of(subject)) {
    const Buffer gates = subject.upload(DType::kF32, kRows * columns, 3);
    const Buffer scales = subject.upload(DType::kF32, kRows, 4);
    subject.check(DType::kF32, kRows * columns, [&](void* input, void* out) {
      JoinProducts call;
      call.rows = kRows, call.columns = columns;
      call.gates = gates.data(), call.values = input, call.scales = scales.data();
      call.dst = out;
      return subject.launcher.launch(call);
    });
  }
}

}  // namespace
}  // namespace kiln::ops
