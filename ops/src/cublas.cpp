// cuBLAS 11 and later. The declarations follow its manual but are kiln's own, so that no toolkit is
// needed.
#include "gpu_gemm.hpp"

namespace kiln::ops {
namespace {

struct Cublas {
  using Handle = struct cublasContext*;
  enum Operation : int { kNotTransposed = 0, kTransposed = 1 };          // cublasOperation_t
  enum DataType : int { kR32F = 0, kR64F = 1, kR16F = 2, kR16BF = 14 };  // cudaDataType_t
  enum ComputeType : int { kCompute32F = 68, kCompute64F = 70 };         // cublasComputeType_t
  enum Algorithm : int { kDefaultAlgorithm = -1 };                       // cublasGemmAlgo_t

  static constexpr const char* kCreate = "cublasCreate_v2";
  static constexpr const char* kDestroy = "cublasDestroy_v2";
  static constexpr const char* kSetStream = "cublasSetStream_v2";
  static constexpr const char* kGemm = "cublasGemmStridedBatchedEx";
  static constexpr const char* kStatusName = "cublasGetStatusName";

  using GemmFunction = int(Handle, Operation, Operation, int m, int n, int k, const void* alpha,
                           const void* a, DataType, int lda, long long stride_a, const void* b,
                           DataType, int ldb, long long stride_b, const void* beta, void* c,
                           DataType, int ldc, long long stride_c, int batch, ComputeType,
                           Algorithm);

  static Operation operation(const GemmOperand& of) {
    return of.transposed ? kTransposed : kNotTransposed;
  }
  static DataType data_type(DType dtype) {
    switch (dtype) {
      case DType::kF16: return kR16F;
      case DType::kBF16: return kR16BF;
      case DType::kF64: return kR64F;
      default: return kR32F;
    }
  }
  static int call(GemmFunction* multiply, Handle handle, const Gemm& gemm, const void* alpha,
                  const void* beta) {
    const DataType type = data_type(gemm.dtype), out_type = data_type(gemm.out_dtype);
    return multiply(handle, operation(gemm.a), operation(gemm.b), count(gemm.rows),
                    count(gemm.columns), count(gemm.inner), alpha, gemm.a.data, type,
                    count(gemm.a.leading), gemm.a.batch_stride, gemm.b.data, type,
                    count(gemm.b.leading), gemm.b.batch_stride, beta, gemm.c, out_type,
                    count(gemm.leading_c), gemm.batch_stride_c, count(gemm.batch),
                    type == kR64F ? kCompute64F : kCompute32F, kDefaultAlgorithm);
  }
};

}  // namespace

Result<std::unique_ptr<GemmLibrary>> open_cublas(const runtime::Library& library, StreamRef stream) {
  return GpuGemm<Cublas>::open(library, stream);
}

}  // namespace kiln::ops
