// Launch geometry: what host code and kernels must agree on, and the numbers that were measured for
// it. Plain C++17, no device code.
//
// Every kernel is correct for every grid and block; what is chosen here is only fast.
//
// Evidence, one NVIDIA H200, 2^27 f32 or 2^28 f16 read and written; a copy takes 256 us:
//
//   blocks of 128, items a thread     1     2     4      8 blocks of 256 a multiprocessor, striding
//   affine f32                      256   256   259    276
//   gelu f16                        276   259   259    283
//   pow f32                         344   296   272    289
//   fill f32 (PyTorch 116)          161   118   119    127
//
//   one element a thread in blocks of 1024 (the reference; launching and leaving takes 91 us for
//   f32, 180 us for f16), the first N blocks do the work, four items at a time:
//                                     N=66   72   76   80   84
//   affine f32                         283  280  278  276  317
//   pow f32                            413  395  367  346  378
//   gelu f16                           335  337  339  341
//   tanh bf16                          349  352  355  356
//   Up to about 80 blocks each have a multiprocessor of their own; of more, some share one. Of the
//   rest, what leaving costs is the time until a block has read its number and its size.
//
//   transposes of 2^30 bytes f32 / f16, 2^28 u8: 2112 blocks of 128  300 / 291 / 148 us
//                                                 1056 blocks of 256  327 / 314 / 160 us
#pragma once

#include <cstdint>

namespace kiln::geometry {

struct Launch {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;
};

// Bytes that a thread moves in one access: an item.
inline constexpr unsigned kItemBytes = 16;

// The largest block that a kernel accepts: what the reference launches, one element a thread.
inline constexpr unsigned kMaxThreads = 1024;

// Blocks larger than ours are taken for the reference's. Of them the first do all the work and the
// rest, far too many, leave at once. The count balances the two: the workers fill the memory's time
// with half of some multiprocessors' room, and all other room starts and ends the rest. Launches
// for narrow elements have more blocks for the same bytes, so they need more room.
inline constexpr unsigned kOwnThreads = 256;
template <unsigned ElementBytes>
inline constexpr unsigned kWorkingBlocks = ElementBytes >= 4 ? 80 : 70;

// Strided views are prepared once a block, so fewer blocks stride over more.
inline constexpr unsigned kWorkingStridedBlocks = 264;

// What a map costs beside its memory accesses.
enum class Cost { kUsual, kLong };

constexpr std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// As many blocks as it takes, at least one; kernels stride over what is more than `most_blocks`.
constexpr Launch launch(std::uint64_t threads, unsigned block, std::uint64_t most_blocks) {
  const std::uint64_t blocks = quotient_up(threads, block);
  const std::uint64_t bounded = blocks > most_blocks ? most_blocks : blocks;
  return {static_cast<std::uint32_t>(bounded == 0 ? 1 : bounded), block};
}

inline constexpr std::uint64_t kMostBlocks = 1u << 24;

// map and fill over contiguous data.
constexpr Launch contiguous(std::uint64_t elements, std::uint32_t element_bytes,
                            Cost cost = Cost::kUsual) {
  const std::uint64_t per_thread = (cost == Cost::kLong ? 4 : 2) * (kItemBytes / element_bytes);
  return launch(quotient_up(elements, per_thread), 128, kMostBlocks);
}

// map and fill over a strided view: as many blocks as stay resident on a large GPU.
constexpr Launch strided(std::uint64_t elements, std::uint32_t element_bytes) {
  return launch(quotient_up(elements, kItemBytes / element_bytes), 128, 16 * 132);
}

// copy2d: one item a thread.
constexpr Launch rows(std::uint64_t rows, std::uint64_t columns, std::uint32_t element_bytes) {
  return launch(rows * quotient_up(columns, kItemBytes / element_bytes), 128, kMostBlocks);
}

}  // namespace kiln::geometry
