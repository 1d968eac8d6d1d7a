#include "kiln/ops/quantized_multiplier.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "kernels/tuning/quantized_multiplier.hpp"
#include "quantized_plan.hpp"

namespace kiln::ops {
namespace {

// True if the library's results are already those of the product.
bool is_plain(const QuantizedMatmul& call) {
  return call.x_dtype == DType::kF16 && call.gate == nullptr && call.out_dtype != DType::kBF16;
}

// True if kiln's kernels are slower for this format than for others.
bool is_slow(BlockFormat format) {
  return format == BlockFormat::kQ2_K || format == BlockFormat::kQ3_K ||
         format == BlockFormat::kQ6_K || format == BlockFormat::kMXFP4;
}

constexpr std::size_t ceil_div(std::size_t count, std::size_t each) {
  return (count - 1) / each + 1;
}

// The steps of a product, and where they put their results in the Launcher's memory.
class Steps {
 public:
  // check() has accepted the call.
  Steps(const QuantizedMatmul& call, std::size_t weights_at_once) : call_(call) {
    // Splits the matrix into parts of about the same size, in whole tiles.
    const std::size_t values = call.rows * call.columns;
    const std::size_t parts = ceil_div(values, std::max<std::size_t>(weights_at_once, 1));
    const std::size_t tiles = ceil_div(ceil_div(call.rows, parts), kTile);
    rows_at_once_ = std::min(tiles * kTile, call.rows);
    weights_ = reserve(rows_at_once_ * call.columns * size_of(DType::kF16));
    if (!is_half()) {
      halves_ = reserve(call.vectors * call.columns * size_of(DType::kF16));
      scales_ = reserve(call.vectors * sizeof(float));
    }
    const std::size_t results = call.vectors * call.rows * sizeof(float);
    if (is_pair()) gates_ = reserve(results);
    if (call.out_dtype != DType::kF32 && !is_plain(call)) values_ = reserve(results);
  }

  std::size_t bytes() const { return bytes_; }

  // Calls `launch` for each kernel of kiln's and `multiply` for each product of the library, in
  // order.
  template <typename Launch, typename Multiply>
  Result<void> each(void* memory, Launch launch, Multiply multiply) const {
    const auto place = [&](std::size_t offset) { return static_cast<std::byte*>(memory) + offset; };
    const void* x = call_.x;
    if (!is_half()) {
      HalfRows halves;
      halves.dtype = call_.x_dtype;
      halves.rows = call_.vectors;
      halves.columns = call_.columns;
      halves.x = call_.x;
      halves.out = place(halves_);
      halves.scales = place(scales_);
      KILN_TRY(launch(halves));
      x = halves.out;
    }
    // out = x * matrix^T, for some rows of the matrix at a time.
    const auto product = [&](const void* matrix, void* out, DType dtype) -> Result<void> {
      for (std::size_t first = 0; first < call_.rows; first += rows_at_once_) {
        const std::size_t rows = std::min(rows_at_once_, call_.rows - first);
        DequantizeBlocks dequantize;
        dequantize.format = call_.format;
        dequantize.dtype = DType::kF16;
        dequantize.count = rows * call_.columns;
        dequantize.blocks =
            static_cast<const std::byte*>(matrix) + first * row_bytes(call_.format, call_.columns);
        dequantize.out = place(weights_);
        KILN_TRY(launch(dequantize));
        Matmul step;
        step.dtype = DType::kF16;
        step.out_dtype = dtype;
        step.lhs = x;
        step.lhs_layout = {{call_.vectors, call_.columns}};
        step.rhs = dequantize.out;
        step.rhs_layout = {{call_.columns, rows}, {1, call_.columns}};
        step.out = static_cast<std::byte*>(out) + first * size_of(dtype);
        step.out_layout = {{call_.vectors, rows}, {call_.rows, 1}};
        KILN_TRY(multiply(step));
      }
      return {};
    };
    if (is_plain(call_)) return product(call_.weights, call_.out, call_.out_dtype);
    JoinProducts join;
    join.rows = call_.vectors;
    join.columns = call_.rows;
    if (is_pair()) {
      join.gates = place(gates_);
      KILN_TRY(product(call_.gate, place(gates_), DType::kF32));
    }
    void* const values = call_.out_dtype == DType::kF32 ? call_.out : place(values_);
    KILN_TRY(product(call_.weights, values, DType::kF32));
    join.values = values;
    if (!is_half()) join.scales = place(scales_);
    join.dst_dtype = call_.out_dtype;
    join.dst = call_.out;
    return launch(join);
  }

 private:
  static constexpr std::size_t kTile = 128;

  bool is_half() const { return call_.x_dtype == DType::kF16; }
  bool is_pair() const { return call_.gate != nullptr; }
  std::size_t reserve(std::size_t bytes) {
    const std::size_t offset = bytes_;
    bytes_ += (bytes + 255) / 256 * 256;
    return offset;
  }

  const QuantizedMatmul& call_;
  std::size_t bytes_ = 0, rows_at_once_ = 0;
  std::size_t weights_ = 0, halves_ = 0, scales_ = 0, gates_ = 0, values_ = 0;
};

Result<void> check(const QuantizedMatmul& call) {
  if (call.experts != 0) {
    return refused("a mixture of " + std::to_string(call.experts) +
                   " experts does not go by the matrix library")
        .hint("use run(), which takes our kernels for it");
  }
  for (const DType dtype : {call.x_dtype, call.out_dtype}) {
    KILN_TRY(require_dtype("quantized_matmul", dtype, {DType::kF32, DType::kF16, DType::kBF16}));
  }
  DequantizeBlocks row;
  row.format = call.format;
  row.dtype = DType::kF16;
  row.count = call.columns;
  if (const auto planned = plan(row); !planned) return planned.error();
  KILN_TRY(element_count({{call.rows, call.columns}}));
  KILN_TRY(element_count({{call.vectors, call.columns}}));
  KILN_TRY(element_count({{call.vectors, call.rows}}));
  return {};
}

}  // namespace

bool goes_by_library(const QuantizedMatmul& call, const DeviceInfo& device) {
  const bool is_gpu = device.backend == Backend::kCuda || device.backend == Backend::kHip;
  if (!is_gpu || call.experts != 0) return false;
  if (!has_kernels(call.format, call.vectors)) return true;
  const Gpu gpu = Gpu::of(device);
  const bool by_groups = has_warp_groups(gpu) && goes_by_halves(call, gpu);
  return tuning::prefers_library(call.rows, call.columns, call.vectors, is_slow(call.format),
                                 is_plain(call), by_groups);
}

std::size_t library_memory(const QuantizedMatmul& call, std::size_t weights_at_once) {
  return check(call) ? Steps(call, weights_at_once).bytes() : 0;
}

Result<void> QuantizedMultiplier::run(const QuantizedMatmul& call) const {
  if (!goes_by_library(call, launcher_->device().info())) return launcher_->launch(call);
  return run_by_library(call);
}

Result<void> QuantizedMultiplier::prepare(const QuantizedMatmul& call) const {
  if (!goes_by_library(call, launcher_->device().info())) return launcher_->prepare(call);
  return prepare_by_library(call);
}

Result<void> QuantizedMultiplier::run_by_library(const QuantizedMatmul& call) const {
  KILN_TRY(check(call));
  const Steps steps(call, weights_at_once_);
  return launcher_->with_memory(steps.bytes(), [&](void* memory) {
    return steps.each(
        memory, [&](const auto& step) { return launcher_->launch(step); },
        [&](const Matmul& product) { return library_->run(product); });
  });
}

Result<void> QuantizedMultiplier::prepare_by_library(const QuantizedMatmul& call) const {
  KILN_TRY(check(call));
  const Steps steps(call, weights_at_once_);
  return launcher_->with_memory(steps.bytes(), [&](void* memory) {
    return steps.each(
        memory, [&](const auto& step) { return launcher_->prepare(step); },
        [](const Matmul&) -> Result<void> { return {}; });
  });
}

}  // namespace kiln::ops
