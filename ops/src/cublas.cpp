// cuBLAS 11 and later. Declarations as in its manual; our own, so that no toolkit is needed.
#include "base/diagnostic.hpp"
#include "gemm_library.hpp"

namespace kiln::ops {
namespace {

using Handle = struct cublasContext*;
enum Operation : int { kNotTransposed = 0, kTransposed = 1 };                 // cublasOperation_t
enum DataType : int { kR32F = 0, kR64F = 1, kR16F = 2, kR16BF = 14 };         // cudaDataType_t
enum ComputeType : int { kCompute32F = 68, kCompute64F = 70 };                // cublasComputeType_t
enum Algorithm : int { kDefaultAlgorithm = -1 };                              // cublasGemmAlgo_t

struct Functions {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, void* stream);
  int (*gemm)(Handle, Operation, Operation, int m, int n, int k, const void* alpha, const void* a,
              DataType, int lda, long long stride_a, const void* b, DataType, int ldb,
              long long stride_b, const void* beta, void* c, DataType, int ldc, long long stride_c,
              int batch, ComputeType, Algorithm);
};

DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::kF16: return kR16F;
    case DType::kBF16: return kR16BF;
    case DType::kF64: return kR64F;
    default: return kR32F;
  }
}

class Cublas final : public GemmLibrary {
 public:
  Cublas(const Functions& functions, Handle handle) : functions_(functions), handle_(handle) {}
  ~Cublas() override { functions_.destroy(handle_); }

  Result<void> run(const Gemm& gemm) override {
    const bool twice = gemm.dtype == DType::kF64;
    const float alpha = static_cast<float>(gemm.alpha), beta = static_cast<float>(gemm.beta);
    const void* const scale = twice ? static_cast<const void*>(&gemm.alpha) : &alpha;
    const void* const keep = twice ? static_cast<const void*>(&gemm.beta) : &beta;
    const auto operation = [](const GemmOperand& of) {
      return of.transposed ? kTransposed : kNotTransposed;
    };
    const auto count = [](std::int64_t n) { return static_cast<int>(n); };
    const DataType type = data_type(gemm.dtype);
    const int status = functions_.gemm(
        handle_, operation(gemm.a), operation(gemm.b), count(gemm.rows), count(gemm.columns),
        count(gemm.inner), scale, gemm.a.data, type, count(gemm.a.leading), gemm.a.batch_stride,
        gemm.b.data, type, count(gemm.b.leading), gemm.b.batch_stride, keep, gemm.c, type,
        count(gemm.leading_c), gemm.batch_stride_c, count(gemm.batch),
        twice ? kCompute64F : kCompute32F, kDefaultAlgorithm);
    if (status != 0) return gemm_error("cublasGemmStridedBatchedEx", status);
    return {};
  }

 private:
  Functions functions_;
  Handle handle_;
};

}  // namespace

Result<std::unique_ptr<GemmLibrary>> open_cublas(const runtime::Library& library, StreamRef stream) {
  Functions functions{};
  KILN_TRY(find(library, "cublasCreate_v2", functions.create));
  KILN_TRY(find(library, "cublasDestroy_v2", functions.destroy));
  KILN_TRY(find(library, "cublasSetStream_v2", functions.set_stream));
  KILN_TRY(find(library, "cublasGemmStridedBatchedEx", functions.gemm));
  Handle handle = nullptr;
  if (const int status = functions.create(&handle); status != 0) {
    return gemm_error("cublasCreate_v2", status);
  }
  auto cublas = std::make_unique<Cublas>(functions, handle);
  if (const int status = functions.set_stream(handle, stream.native()); status != 0) {
    return gemm_error("cublasSetStream_v2", status);
  }
  return std::unique_ptr<GemmLibrary>(std::move(cublas));
}

}  // namespace kiln::ops
