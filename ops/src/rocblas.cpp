// rocBLAS, whose interface has been stable since ROCm 3. The declarations follow its manual.
#include "gpu_gemm.hpp"

namespace kiln::ops {
namespace {

struct Rocblas {
  using Handle = struct _rocblas_handle*;
  enum Operation : int { kNotTransposed = 111, kTransposed = 112 };             // rocblas_operation
  enum DataType : int { kF16R = 150, kF32R = 151, kF64R = 152, kBF16R = 168 };  // rocblas_datatype
  enum Algorithm : int { kStandardAlgorithm = 0 };                              // rocblas_gemm_algo

  static constexpr const char* kCreate = "rocblas_create_handle";
  static constexpr const char* kDestroy = "rocblas_destroy_handle";
  static constexpr const char* kSetStream = "rocblas_set_stream";
  static constexpr const char* kGemm = "rocblas_gemm_strided_batched_ex";
  static constexpr const char* kStatusName = "rocblas_status_to_string";

  using GemmFunction = int(Handle, Operation, Operation, int m, int n, int k, const void* alpha,
                           const void* a, DataType, int lda, std::int64_t stride_a, const void* b,
                           DataType, int ldb, std::int64_t stride_b, const void* beta,
                           const void* c, DataType, int ldc, std::int64_t stride_c, void* d,
                           DataType, int ldd, std::int64_t stride_d, int batch, DataType compute,
                           Algorithm, std::int32_t solution, std::uint32_t flags);

  static Operation operation(const GemmOperand& of) {
    return of.transposed ? kTransposed : kNotTransposed;
  }
  static DataType data_type(DType dtype) {
    switch (dtype) {
      case DType::kF16: return kF16R;
      case DType::kBF16: return kBF16R;
      case DType::kF64: return kF64R;
      default: return kF32R;
    }
  }
  static int call(GemmFunction* multiply, Handle handle, const Gemm& gemm, const void* alpha,
                  const void* beta) {
    const DataType type = data_type(gemm.dtype), out_type = data_type(gemm.out_dtype);
    return multiply(handle, operation(gemm.a), operation(gemm.b), count(gemm.rows),
                    count(gemm.columns), count(gemm.inner), alpha, gemm.a.data, type,
                    count(gemm.a.leading), gemm.a.batch_stride, gemm.b.data, type,
                    count(gemm.b.leading), gemm.b.batch_stride, beta, gemm.c, out_type,
                    count(gemm.leading_c), gemm.batch_stride_c, gemm.c, out_type,
                    count(gemm.leading_c), gemm.batch_stride_c, count(gemm.batch),
                    type == kF64R ? kF64R : kF32R, kStandardAlgorithm, 0, 0);
  }
};

}  // namespace

Result<std::unique_ptr<GemmLibrary>> open_rocblas(const runtime::Library& library, StreamRef stream) {
  return GpuGemm<Rocblas>::open(library, stream);
}

}  // namespace kiln::ops
