#include "gemm.hpp"

#include <limits>
#include <string>
#include <utility>

#include "base/diagnostic.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

// The libraries use int for sizes.
constexpr std::size_t kMax = std::numeric_limits<std::int32_t>::max();

// An operand with its sizes and strides.
struct Matrix {
  std::string name;
  Layout layout;
  std::size_t batch = 1;
  std::size_t rows = 0, columns = 0;
  std::size_t batch_stride = 0, row_stride = 0, column_stride = 0;

  Error error(const std::string& what) const {
    return refused("matmul: " + name + " " + to_string(layout) + " " + what);
  }
};

Result<Matrix> matrix_of(const std::string& name, const Layout& layout) {
  Matrix matrix{name, layout};
  const std::size_t rank = layout.dims.rank();
  if (rank != 2 && rank != 3) {
    return matrix.error("is not [rows, columns] or [batch, rows, columns]");
  }
  KILN_TRY(element_count(layout));
  const Extents strides = strides_of(layout);
  matrix.rows = layout.dims[rank - 2];
  matrix.columns = layout.dims[rank - 1];
  matrix.row_stride = strides[rank - 2];
  matrix.column_stride = strides[rank - 1];
  if (rank == 3) {
    matrix.batch = layout.dims[0];
    matrix.batch_stride = matrix.batch == 1 ? 0 : strides[0];
  }
  for (const std::size_t size :
       {matrix.batch, matrix.rows, matrix.columns, matrix.row_stride, matrix.column_stride}) {
    if (size > kMax) return matrix.error("has a dim or a stride above 2^31 - 1");
  }
  return matrix;
}

// How a matrix is stored. Strides of dims of size 1 do not matter, because they are never walked.
struct Storage {
  bool row_major = true;
  std::size_t leading = 0;  // elements between rows, or between columns if column-major
};

Result<Storage> storage_of(const Matrix& matrix) {
  const auto fits = [](std::size_t lines, std::size_t pitch, std::size_t length, std::size_t step) {
    return (length == 1 || step == 1) && (lines == 1 || pitch >= length);
  };
  if (fits(matrix.rows, matrix.row_stride, matrix.columns, matrix.column_stride)) {
    return Storage{true, matrix.rows == 1 ? matrix.columns : matrix.row_stride};
  }
  if (fits(matrix.columns, matrix.column_stride, matrix.rows, matrix.row_stride)) {
    return Storage{false, matrix.columns == 1 ? matrix.rows : matrix.column_stride};
  }
  return matrix.error("has no dim of stride 1, or lines that overlap")
      .hint("copy it into a contiguous buffer first");
}

// True if no two matrices of the batch share an element: they lie one after the other, or side by
// side within the pitch of their lines.
bool are_apart(const Matrix& matrix, const Storage& storage) {
  const std::size_t lines = storage.row_major ? matrix.rows : matrix.columns;
  const std::size_t length = storage.row_major ? matrix.columns : matrix.rows;
  const std::size_t of_matrix = (lines - 1) * storage.leading + length;
  const std::size_t of_batch_lines = (matrix.batch - 1) * matrix.batch_stride + length;
  return matrix.batch_stride >= of_matrix ||
         (matrix.batch_stride >= length && storage.leading >= of_batch_lines);
}

Result<GemmOperand> operand(const Matrix& matrix, const void* data, bool out_is_row_major) {
  KILN_TRY_ASSIGN(const Storage storage, storage_of(matrix));
  GemmOperand operand;
  operand.data = data;
  operand.transposed = storage.row_major != out_is_row_major;
  operand.leading = static_cast<std::int64_t>(storage.leading);
  operand.batch_stride = static_cast<std::int64_t>(matrix.batch_stride);
  return operand;
}

}  // namespace

Result<Gemm> plan_gemm(const Matmul& product) {
  KILN_TRY(require_dtype("matmul", product.dtype,
                         {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}));
  const DType out_dtype = product.out_dtype.value_or(product.dtype);
  if (out_dtype != product.dtype && (out_dtype != DType::kF32 || product.dtype == DType::kF64)) {
    return refused("matmul: out of " + std::string(name(out_dtype)) + ", of operands of " +
                   std::string(name(product.dtype)))
        .note("out is of the operands' dtype; of f16 and bf16 it may be of f32");
  }
  KILN_TRY_ASSIGN(const Matrix lhs, matrix_of("lhs", product.lhs_layout));
  KILN_TRY_ASSIGN(const Matrix rhs, matrix_of("rhs", product.rhs_layout));
  KILN_TRY_ASSIGN(const Matrix out, matrix_of("out", product.out_layout));
  if (rhs.rows != lhs.columns) {
    return rhs.error("has not as many rows as lhs " + to_string(lhs.layout) + " has columns");
  }
  if (out.rows != lhs.rows || out.columns != rhs.columns) {
    return out.error("is not the shape of the product, [" + std::to_string(lhs.rows) + ", " +
                     std::to_string(rhs.columns) + "]");
  }
  for (const Matrix* operand : {&lhs, &rhs}) {
    if (operand->batch != 1 && operand->batch != out.batch) {
      return operand->error("has another batch than out " + to_string(out.layout));
    }
  }
  KILN_TRY_ASSIGN(const Storage stored, storage_of(out));
  if (out.batch > 1 && out.batch_stride == 0) return out.error("puts all products into one place");
  if (out.batch > 1 && !are_apart(out, stored)) {
    return out.error("has matrices that overlap")
        .note("they lie one after the other, or their lines side by side");
  }
  Gemm gemm;
  gemm.dtype = product.dtype;
  gemm.out_dtype = out_dtype;
  gemm.rows = static_cast<std::int64_t>(out.rows);
  gemm.columns = static_cast<std::int64_t>(out.columns);
  gemm.inner = static_cast<std::int64_t>(lhs.columns);
  gemm.batch = static_cast<std::int64_t>(out.batch);
  KILN_TRY_ASSIGN(gemm.a, operand(lhs, product.lhs, stored.row_major));
  KILN_TRY_ASSIGN(gemm.b, operand(rhs, product.rhs, stored.row_major));
  gemm.c = product.out;
  gemm.leading_c = static_cast<std::int64_t>(stored.leading);
  gemm.batch_stride_c = static_cast<std::int64_t>(out.batch_stride);
  gemm.alpha = product.alpha;
  gemm.beta = product.beta;
  if (stored.row_major) {
    std::swap(gemm.rows, gemm.columns);
    std::swap(gemm.a, gemm.b);
  }
  return gemm;
}

}  // namespace kiln::ops
