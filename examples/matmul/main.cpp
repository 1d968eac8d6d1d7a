// Multiplies a batch of matrices by one transposed matrix, with the vendor's library, which is
// found at run time: cuBLAS, rocBLAS, or a BLAS on the host.
#include <cmath>
#include <cstdio>
#include <kiln/ops.hpp>
#include <kiln/runtime.hpp>
#include <vector>

namespace {

constexpr std::size_t kBatch = 4, kRows = 96, kInner = 64, kColumns = 80;

int fail(const kiln::Error& error) {
  std::fprintf(stderr, "matmul: %s\n", error.text().c_str());
  return 1;
}

}  // namespace

int main() {
  const auto runtime = kiln::Runtime::open();
  if (!runtime) return fail(runtime.error());
  const auto device = runtime->default_device();
  if (!device) return fail(device.error());
  const auto multiplier = kiln::ops::MatrixMultiplier::open(*device);
  if (!multiplier) return fail(multiplier.error());

  std::vector<float> lhs(kBatch * kRows * kInner), rhs(kColumns * kInner);
  for (std::size_t i = 0; i < lhs.size(); ++i) lhs[i] = static_cast<float>(i % 13) - 6;
  for (std::size_t i = 0; i < rhs.size(); ++i) rhs[i] = static_cast<float>(i % 7) - 3;
  const auto on_lhs = device->upload(lhs);
  if (!on_lhs) return fail(on_lhs.error());
  const auto on_rhs = device->upload(rhs);
  if (!on_rhs) return fail(on_rhs.error());
  const auto on_out = device->allocate<float>(kBatch * kRows * kColumns);
  if (!on_out) return fail(on_out.error());

  kiln::ops::Matmul product;
  product.lhs = on_lhs->data(), product.lhs_layout = {{kBatch, kRows, kInner}};
  product.rhs = on_rhs->data(), product.rhs_layout = {{kInner, kColumns}, {1, kInner}};
  product.out = on_out->data(), product.out_layout = {{kBatch, kRows, kColumns}};
  if (const auto done = multiplier->run(product); !done) return fail(done.error());
  if (const auto done = device->synchronize(); !done) return fail(done.error());
  const auto out = device->download(*on_out);
  if (!out) return fail(out.error());

  for (std::size_t row = 0; row < kBatch * kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      float sum = 0;  // small integers: exact
      for (std::size_t i = 0; i < kInner; ++i) {
        sum += lhs[row * kInner + i] * rhs[column * kInner + i];
      }
      const float got = (*out)[row * kColumns + column];
      if (got != sum) {
        std::fprintf(stderr, "matmul: [%zu, %zu] is %g, not %g\n", row, column,
                     static_cast<double>(got), static_cast<double>(sum));
        return 1;
      }
    }
  }
  std::printf("%zu products of %zu x %zu by %zu x %zu on %s, by %s: all right\n", kBatch, kRows,
              kInner, kInner, kColumns, device->info().id.c_str(), multiplier->library().c_str());
}
