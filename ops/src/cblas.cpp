// A BLAS on the host, through its C interface (netlib's cblas.h). It supports only f32 and f64. f16
// and bf16 are widened to f32, multiplied, and rounded once.
#include <cstring>
#include <vector>

#include "base/diagnostic.hpp"
#include "gemm_library.hpp"
#include "kiln/ops/scalar.hpp"

namespace kiln::ops {
namespace {

enum Order : int { kColumnMajor = 102 };                         // CBLAS_LAYOUT
enum Operation : int { kNotTransposed = 111, kTransposed = 112 };  // CBLAS_TRANSPOSE

template <typename T>
using GemmFunction = void(Order, Operation, Operation, int m, int n, int k, T alpha, const T* a,
                          int lda, const T* b, int ldb, T beta, T* c, int ldc);

struct Functions {
  GemmFunction<float>* single;
  GemmFunction<double>* twice;
};

// How a matrix is stored: `lines` of `length` elements each.
struct Stored {
  std::int64_t lines;
  std::int64_t length;
};

// Returns the matrix widened to f32, without gaps between lines.
std::vector<float> widened(DType dtype, const std::uint16_t* from, Stored stored,
                           std::int64_t leading) {
  std::vector<float> to(static_cast<std::size_t>(stored.lines * stored.length));
  float* next = to.data();
  for (std::int64_t line = 0; line < stored.lines; ++line) {
    for (std::int64_t i = 0; i < stored.length; ++i) {
      *next++ = static_cast<float>(Scalar::of_bits(dtype, from[line * leading + i]).value());
    }
  }
  return to;
}

class Cblas final : public GemmLibrary {
 public:
  explicit Cblas(const Functions& functions) : functions_(functions) {}

  Result<void> run(const Gemm& gemm) override {
    for (std::int64_t i = 0; i < gemm.batch; ++i) {
      switch (gemm.dtype) {
        case DType::kF64: multiply<double>(gemm, i, functions_.twice); break;
        case DType::kF32: multiply<float>(gemm, i, functions_.single); break;
        default: multiply_narrow(gemm, i); break;
      }
    }
    return {};
  }

 private:
  static Operation operation(const GemmOperand& of) {
    return of.transposed ? kTransposed : kNotTransposed;
  }
  static int count(std::int64_t n) { return static_cast<int>(n); }

  template <typename T>
  static void multiply(const Gemm& gemm, std::int64_t i, GemmFunction<T>* call) {
    call(kColumnMajor, operation(gemm.a), operation(gemm.b), count(gemm.rows), count(gemm.columns),
         count(gemm.inner), static_cast<T>(gemm.alpha),
         static_cast<const T*>(gemm.a.data) + i * gemm.a.batch_stride, count(gemm.a.leading),
         static_cast<const T*>(gemm.b.data) + i * gemm.b.batch_stride, count(gemm.b.leading),
         static_cast<T>(gemm.beta), static_cast<T*>(gemm.c) + i * gemm.batch_stride_c,
         count(gemm.leading_c));
  }

  void multiply_narrow(const Gemm& gemm, std::int64_t i) const {
    const auto operand = [&](const GemmOperand& of, Stored stored) {
      return widened(gemm.dtype,
                     static_cast<const std::uint16_t*>(of.data) + i * of.batch_stride, stored,
                     of.leading);
    };
    const Stored a = gemm.a.transposed ? Stored{gemm.rows, gemm.inner} : Stored{gemm.inner, gemm.rows};
    const Stored b =
        gemm.b.transposed ? Stored{gemm.inner, gemm.columns} : Stored{gemm.columns, gemm.inner};
    const Stored c{gemm.columns, gemm.rows};
    const std::vector<float> wide_a = operand(gemm.a, a), wide_b = operand(gemm.b, b);
    auto* const out = static_cast<std::byte*>(gemm.c) +
                      static_cast<std::size_t>(i * gemm.batch_stride_c) * size_of(gemm.out_dtype);
    if (gemm.out_dtype == DType::kF32) {
      product(gemm, wide_a, a, wide_b, b, reinterpret_cast<float*>(out), gemm.leading_c);
      return;
    }
    auto* const narrow = reinterpret_cast<std::uint16_t*>(out);
    std::vector<float> wide_c = gemm.beta == 0
                                    ? std::vector<float>(static_cast<std::size_t>(c.lines * c.length))
                                    : widened(gemm.dtype, narrow, c, gemm.leading_c);
    product(gemm, wide_a, a, wide_b, b, wide_c.data(), c.length);
    for (std::int64_t line = 0; line < c.lines; ++line) {
      for (std::int64_t k = 0; k < c.length; ++k) {
        const float value = wide_c[static_cast<std::size_t>(line * c.length + k)];
        narrow[line * gemm.leading_c + k] =
            static_cast<std::uint16_t>(Scalar::from(gemm.dtype, static_cast<double>(value)).bits);
      }
    }
  }
  // Multiplies operands without gaps.
  void product(const Gemm& gemm, const std::vector<float>& wide_a, Stored a,
               const std::vector<float>& wide_b, Stored b, float* out, std::int64_t leading) const {
    functions_.single(kColumnMajor, operation(gemm.a), operation(gemm.b), count(gemm.rows),
                      count(gemm.columns), count(gemm.inner), static_cast<float>(gemm.alpha),
                      wide_a.data(), count(a.length), wide_b.data(), count(b.length),
                      static_cast<float>(gemm.beta), out, count(leading));
  }

  Functions functions_;
};

}  // namespace

Result<std::unique_ptr<GemmLibrary>> open_cblas(const runtime::Library& library) {
  Functions functions{};
  KILN_TRY(find(library, "cblas_sgemm", functions.single));
  KILN_TRY(find(library, "cblas_dgemm", functions.twice));
  return std::unique_ptr<GemmLibrary>(std::make_unique<Cblas>(functions));
}

}  // namespace kiln::ops
