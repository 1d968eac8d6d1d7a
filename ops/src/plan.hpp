// Shared by the families when they plan a launch: kernel names and grids.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/tuning/rows.hpp"
#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "kiln/result.hpp"
#include "own_kernels.hpp"

namespace kiln::ops {

// The error of a call that is wrong whatever the device.
inline Error refused(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message), {}, {}};
}

// Sets the launch's kernel to the kernel in `rows` for `dtype`. The error (kInvalidInput) lists the
// dtypes that have a kernel.
Result<void> set_kernel(Launch& launch, const KernelRows& rows, DType dtype);

// Sets the grid: `own`, or in the reference geometry one row with a thread for each of `count`
// elements in blocks of 1024. Errors (kInvalidInput): a count that does not fit into the
// reference's 32 bits.
Result<void> set_grid(Launch& launch, Geometry geometry, std::size_t count, tuning::Launch own);

// Returns the device as kernels/tuning describes it. A device that does not say how many
// multiprocessors it has counts as its architecture's largest GPU.
tuning::Spread spread_over(const Gpu& gpu);

// Returns the number of an NVIDIA architecture, 90 for "sm_90", or 0.
inline unsigned sm_of(const Gpu& gpu) {
  unsigned number = 0;
  if (gpu.target.substr(0, 3) != "sm_") return 0;
  for (const char c : gpu.target.substr(3)) {
    if (c < '0' || c > '9') break;
    number = 10 * number + static_cast<unsigned>(c - '0');
  }
  return number;
}
// True if kernels copy to shared memory in the background, and if the device's image has products
// of warp groups.
inline bool has_background_copies(const Gpu& gpu) { return sm_of(gpu) >= 80; }
inline bool has_warp_groups(const Gpu& gpu) { return sm_of(gpu) == 90; }

// Returns a launch with a thread for each element. Kernels number threads in 32 bits, and loop over
// the elements that have none.
tuning::Launch one_thread_each(const tuning::Spread& spread, std::size_t count);

// Returns a launch of a kernel that takes elements one by one: at most as many threads as the device
// holds. Measured on an H200, in us, a thread for every four elements -> this: 501x999, is_u32_f32
// 5.82 -> 4.86, gather_u32_f32 5.83 -> 4.58, ia_any_u32_f32 6.16 -> 5.30; 511x777, sum_f32 of a
// transposed view 12.4 -> 10.6; but const_set_f32 of a transposed view 2.7 -> 3.8.
// `block` is the number of threads of a block (0: the architecture's).
tuning::Launch one_by_one(const tuning::Spread& spread, std::size_t count, unsigned block = 0);

// Returns the largest block size from `least` to `most` with which a multiprocessor can be filled
// completely, and with which none gets more than a tenth above its share of `threads`.
unsigned even_block(const tuning::Spread& spread, std::size_t threads, unsigned least,
                    unsigned most);

// True if the kernel goes element by element, as expensive functions of f64 do (families/map.cuh).
bool goes_singly(const OwnKernel& own);
// True if a multiprocessor holds only one of the kernel's blocks of 1024 threads.
bool single_occupancy(const OwnKernel& own, const tuning::Spread& spread);

// Sets the grid of a kernel with one element per thread. kiln's own grid comes from kernels/tuning.
// It depends on the device, on whether the operands are contiguous, and on the size of the widest
// element, `widest` bytes (0: the widest of the kernel's types).
Result<void> set_elementwise_grid(Launch& launch, const Gpu& gpu, Geometry geometry,
                                  std::size_t count, bool contiguous, std::size_t widest = 0);

// The same for contiguous operands and a kernel that takes any number of blocks. `aligned`: all
// arrays are, and the kernel may take a chunk a thread (tuning::Spread::chunked).
Result<void> set_contiguous_grid(Launch& launch, const Gpu& gpu, Geometry geometry,
                                 std::size_t count, tuning::Grid grid, bool aligned,
                                 std::size_t widest = 0);

// Returns an error unless `dtype` is among the `taken` ones. `root` names the kernel in the error.
Result<void> require_dtype(std::string_view root, DType dtype, std::initializer_list<DType> taken);
// Returns an error unless the scalar argument `name` has the type `dtype`.
Result<void> require_scalar(std::string_view name, const Scalar& scalar, DType dtype);

}  // namespace kiln::ops
