// rocBLAS, whose interface has kept since ROCm 3. Declarations as in its manual.
#include "base/diagnostic.hpp"
#include "gemm_library.hpp"

namespace kiln::ops {
namespace {

using Handle = struct _rocblas_handle*;
enum Operation : int { kNotTransposed = 111, kTransposed = 112 };                // rocblas_operation
enum DataType : int { kF16R = 150, kF32R = 151, kF64R = 152, kBF16R = 168 };     // rocblas_datatype
enum Algorithm : int { kStandardAlgorithm = 0 };                                 // rocblas_gemm_algo

struct Functions {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, void* stream);
  int (*gemm)(Handle, Operation, Operation, int m, int n, int k, const void* alpha, const void* a,
              DataType, int lda, std::int64_t stride_a, const void* b, DataType, int ldb,
              std::int64_t stride_b, const void* beta, const void* c, DataType, int ldc,
              std::int64_t stride_c, void* d, DataType, int ldd, std::int64_t stride_d, int batch,
              DataType compute, Algorithm, std::int32_t solution, std::uint32_t flags);
};

DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::kF16: return kF16R;
    case DType::kBF16: return kBF16R;
    case DType::kF64: return kF64R;
    default: return kF32R;
  }
}

class Rocblas final : public GemmLibrary {
 public:
  Rocblas(const Functions& functions, Handle handle) : functions_(functions), handle_(handle) {}
  ~Rocblas() override { functions_.destroy(handle_); }

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
        count(gemm.leading_c), gemm.batch_stride_c, gemm.c, type, count(gemm.leading_c),
        gemm.batch_stride_c, count(gemm.batch), twice ? kF64R : kF32R, kStandardAlgorithm, 0, 0);
    if (status != 0) return gemm_error("rocblas_gemm_strided_batched_ex", status);
    return {};
  }

 private:
  Functions functions_;
  Handle handle_;
};

}  // namespace

Result<std::unique_ptr<GemmLibrary>> open_rocblas(const runtime::Library& library, StreamRef stream) {
  Functions functions{};
  KILN_TRY(find(library, "rocblas_create_handle", functions.create));
  KILN_TRY(find(library, "rocblas_destroy_handle", functions.destroy));
  KILN_TRY(find(library, "rocblas_set_stream", functions.set_stream));
  KILN_TRY(find(library, "rocblas_gemm_strided_batched_ex", functions.gemm));
  Handle handle = nullptr;
  if (const int status = functions.create(&handle); status != 0) {
    return gemm_error("rocblas_create_handle", status);
  }
  auto rocblas = std::make_unique<Rocblas>(functions, handle);
  if (const int status = functions.set_stream(handle, stream.native()); status != 0) {
    return gemm_error("rocblas_set_stream", status);
  }
  return std::unique_ptr<GemmLibrary>(std::move(rocblas));
}

}  // namespace kiln::ops
