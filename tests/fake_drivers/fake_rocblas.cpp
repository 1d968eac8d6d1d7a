// A librocblas that multiplies on the host, one element after the other, in stream order: it
// submits its work to fake_hip. Its functions follow the manual of rocBLAS, independently of
// ops/src/rocblas.cpp, whose mistakes they must catch.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

#include "kiln/ops/scalar.hpp"
#include "tests/fake_drivers/fake_machine.hpp"

namespace {

using kiln::ops::DType;
using kiln::ops::Scalar;

enum rocblas_status {
  rocblas_status_success = 0,
  rocblas_status_invalid_handle = 1,
  rocblas_status_internal_error = 6,
  rocblas_status_invalid_value = 11
};
constexpr int rocblas_operation_none = 111, rocblas_operation_transpose = 112;

struct Type {
  DType dtype;
  int code;  // rocblas_datatype
};
constexpr Type kTypes[] = {
    {DType::kF16, 150}, {DType::kF32, 151}, {DType::kF64, 152}, {DType::kBF16, 168}};

const Type* type_of(int code) {
  for (const Type& type : kTypes) {
    if (type.code == code) return &type;
  }
  return nullptr;
}

// A batch of column-major matrices.
struct Matrix {
  std::byte* data;
  DType dtype;
  std::int64_t leading;
  std::int64_t batch_stride;

  std::byte* address(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    const std::int64_t index = batch * batch_stride + column * leading + row;
    return data + index * static_cast<std::int64_t>(kiln::ops::size_of(dtype));
  }
  double get(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, address(batch, row, column), kiln::ops::size_of(dtype));
    return Scalar::of_bits(dtype, bits).value();
  }
  void set(std::int64_t batch, std::int64_t row, std::int64_t column, double value) const {
    const std::uint64_t bits = Scalar::from(dtype, value).bits;
    __builtin_memcpy(address(batch, row, column), &bits, kiln::ops::size_of(dtype));
  }
};

int the_handle, destroyed = 0;
void* the_stream = nullptr;

kiln::fake::Machine& machine() {
  void* const hip = dlopen(KILN_FAKE_HIP, RTLD_NOW | RTLD_LOCAL);
  return *reinterpret_cast<kiln::fake::Machine* (*)()>(dlsym(hip, "kiln_fake_machine"))();
}

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT int rocblas_create_handle(void** handle) {
  if (std::getenv("KILN_FAKE_ROCBLAS_FAILS") != nullptr) return rocblas_status_invalid_handle;
  *handle = &the_handle;
  return rocblas_status_success;
}
FAKE_EXPORT int rocblas_destroy_handle(void* handle) {
  ++destroyed;
  return handle == &the_handle ? rocblas_status_success : rocblas_status_invalid_handle;
}
FAKE_EXPORT int rocblas_set_stream(void* handle, void* stream) {
  the_stream = stream;
  return handle == &the_handle ? rocblas_status_success : rocblas_status_invalid_handle;
}

// Returns how often a handle was destroyed.
FAKE_EXPORT int kiln_fake_rocblas_destroyed() { return destroyed; }

FAKE_EXPORT const char* rocblas_status_to_string(int status) {
  switch (status) {
    case rocblas_status_success: return "rocblas_status_success";
    case rocblas_status_invalid_handle: return "rocblas_status_invalid_handle";
    case rocblas_status_internal_error: return "rocblas_status_internal_error";
    case rocblas_status_invalid_value: return "rocblas_status_invalid_value";
    default: return "<undefined rocblas_status value>";
  }
}

FAKE_EXPORT int rocblas_gemm_strided_batched_ex(
    void* handle, int operation_a, int operation_b, int m, int n, int k, const void* alpha, void* a,
    int a_type, int lda, std::int64_t stride_a, void* b, int b_type, int ldb, std::int64_t stride_b,
    const void* beta, void* c, int c_type, int ldc, std::int64_t stride_c, void* d, int d_type,
    int ldd, std::int64_t stride_d, int batch_count, int compute_type, int algorithm, std::int32_t,
    std::uint32_t flags) {
  if (handle != &the_handle) return rocblas_status_invalid_handle;
  const Type* const type = type_of(a_type);
  const Type* const out_type = type_of(c_type);
  const int wanted_compute = type != nullptr && type->dtype == DType::kF64 ? 152 : 151;
  const bool transposed_a = operation_a == rocblas_operation_transpose;
  const bool transposed_b = operation_b == rocblas_operation_transpose;
  const bool fits = c_type == a_type || (c_type == 151 && (a_type == 150 || a_type == 168));
  if (type == nullptr || b_type != a_type || !fits || d_type != c_type ||
      compute_type != wanted_compute || algorithm != 0 || flags != 0 ||
      (!transposed_a && operation_a != rocblas_operation_none) ||
      (!transposed_b && operation_b != rocblas_operation_none) || lda < (transposed_a ? k : m) ||
      ldb < (transposed_b ? n : k) || ldc < m || ldd < m) {
    return rocblas_status_invalid_value;
  }
  const auto scalar = [&](const void* at) {
    return compute_type == 152 ? *static_cast<const double*>(at)
                               : static_cast<double>(*static_cast<const float*>(at));
  };
  const Matrix left{static_cast<std::byte*>(a), type->dtype, lda, stride_a};
  const Matrix right{static_cast<std::byte*>(b), type->dtype, ldb, stride_b};
  const Matrix old{static_cast<std::byte*>(c), out_type->dtype, ldc, stride_c};
  const Matrix result{static_cast<std::byte*>(d), out_type->dtype, ldd, stride_d};
  // The factors are read immediately, as in the host pointer mode of rocBLAS; the matrices are read
  // when the work runs.
  const auto multiply = [=, factor = scalar(alpha), keep = scalar(beta)] {
    for (int i = 0; i < batch_count; ++i) {
      for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row) {
          double sum = 0;
          for (int j = 0; j < k; ++j) {
            sum += (transposed_a ? left.get(i, j, row) : left.get(i, row, j)) *
                   (transposed_b ? right.get(i, column, j) : right.get(i, j, column));
          }
          const double kept = keep == 0 ? 0 : keep * old.get(i, row, column);
          result.set(i, row, column, factor * sum + kept);
        }
      }
    }
    return 0;
  };
  return machine().submit(the_stream, multiply) == 0 ? rocblas_status_success
                                                     : rocblas_status_internal_error;
}
