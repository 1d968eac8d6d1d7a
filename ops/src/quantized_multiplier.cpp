#include "kiln/ops/quantized_multiplier.hpp"

#include "base/diagnostic.hpp"
#include "kernels/tuning/quantized.hpp"

namespace kiln::ops {
namespace {

std::size_t values(const QuantizedMatmul& call) { return call.rows * call.columns; }
std::size_t workspace_bytes(const QuantizedMatmul& call) { return values(call) * size_of(DType::kF16); }

DequantizeBlocks dequantize(const QuantizedMatmul& call, void* weights) {
  DequantizeBlocks step;
  step.format = call.format;
  step.dtype = DType::kF16;
  step.count = values(call);
  step.blocks = call.weights;
  step.out = weights;
  return step;
}

// out = x * weights^T.
Matmul product(const QuantizedMatmul& call, const void* weights) {
  Matmul step;
  step.dtype = DType::kF16;
  step.lhs = call.x;
  step.lhs_layout = {{call.vectors, call.columns}};
  step.rhs = weights;
  step.rhs_layout = {{call.columns, call.rows}, {1, call.columns}};
  step.out = call.out;
  step.out_layout = {{call.vectors, call.rows}};
  return step;
}

}  // namespace

bool goes_by_library(const QuantizedMatmul& call, const DeviceInfo& device) {
  const bool is_gpu = device.backend == Backend::kCuda || device.backend == Backend::kHip;
  const bool is_half = call.x_dtype == DType::kF16 && call.out_dtype == DType::kF16;
  return is_gpu && is_half && call.gate == nullptr && call.experts == 0 &&
         tuning::prefers_library(call.rows, call.columns, call.vectors);
}

Result<void> QuantizedMultiplier::run(const QuantizedMatmul& call) const {
  if (!goes_by_library(call, launcher_->device().info())) return launcher_->launch(call);
  return launcher_->with_memory(workspace_bytes(call), [&](void* weights) -> Result<void> {
    KILN_TRY(launcher_->launch(dequantize(call, weights)));
    return library_->run(product(call, weights));
  });
}

Result<void> QuantizedMultiplier::prepare(const QuantizedMatmul& call) const {
  if (!goes_by_library(call, launcher_->device().info())) return launcher_->prepare(call);
  return launcher_->with_memory(workspace_bytes(call), [&](void* weights) {
    return launcher_->prepare(dequantize(call, weights));
  });
}

}  // namespace kiln::ops
