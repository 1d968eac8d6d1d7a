// Norms of a few long rows, several blocks to a row, in two launches. A row is cut into parts of
// `each` elements, one for each block. In step 0 a block stores the moments of its part in the
// workspace. In step 1 it joins the moments of its row and writes its results.
//
// The moments lie behind the workspace's counters, which are not used.
#pragma once

#include "device/block.cuh"
#include "families/norm.cuh"
#include "tuning/workspace.hpp"

namespace kiln::families {

using namespace device;

// The mean of a part (0 if the norm is not centered), and the sum of squared deviations from it.
struct PartMoments {
  f32 mean, squares;
};

template <class T>
KILN_DEVICE void norm_long(const T* src, T* dst, const T* alpha, const T* beta, u8* workspace,
                           u32 columns, u32 parts, u32 each, bool centered, f32 eps, u32 step) {
  constexpr u32 kAhead = 2;  // elements that a thread loads at once
  const u32 row = block_index() / parts, part = block_index() - row * parts;
  const u32 begin = part * each, threads = block_threads();
  const auto count_of = [&](u32 i) { return i + 1 < parts ? each : columns - i * each; };
  const u32 count = count_of(part);
  const u64 start = static_cast<u64>(row) * columns + begin;
  auto* const states =
      reinterpret_cast<PartMoments*>(workspace + tuning::kWorkspaceCounters) + row * parts;

  T x[kAhead];
  const auto read = [&](u32 first) {
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) {
      if (first + k * threads < count) x[k] = src[start + first + k * threads];
    }
  };
  read(thread_rank());  // issued early, to overlap with what follows
  const bool kept = count <= kAhead * threads;
  // Calls use(index within the part, element) for each of the thread's elements.
  const auto walk = [&](auto use) {
#pragma unroll 1
    for (u32 first = thread_rank(); first < count; first += kAhead * threads) {
      if (opaque(!kept) != 0) read(first);
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        if (first + k * threads < count) use(first + k * threads, as_f32(x[k]));
      }
    }
  };
  const auto join = [&](auto use) {
#pragma unroll 1
    for (u32 i = thread_rank(); i < parts; i += threads) {
      use(states[i], static_cast<f32>(static_cast<i32>(count_of(i))));
    }
  };

  const u32 all = step == 0 ? count : columns;
  const f32 share = reciprocal_of_count(static_cast<f32>(static_cast<i32>(all)));
  f32 mean = 0, squares = 0;
  // First the mean, if the norm is centered, then the sum of squared deviations from it.
#pragma unroll 1
  for (bool by_mean = !centered;; by_mean = true) {
    f32 sum = 0;
    if (step == 0) {
      walk([&](u32, f32 value) {
        const f32 deviation = value - mean;
        sum = math::fma(deviation, by_mean ? deviation : 1.0f, sum);
      });
    } else {
      join([&](PartMoments its, f32 size) {
        const f32 deviation = its.mean - mean;
        sum = math::fma(deviation * size, by_mean ? deviation : 1.0f, sum);
        if (by_mean) sum += its.squares;
      });
    }
    sum = block_reduce<Plus>(sum);
    squares = sum;
    if (by_mean) break;
    mean = sum * share;
  }
  if (step == 0) {
    if (thread_rank() == 0) states[part] = {mean, squares};
    return;
  }
  const f32 scale = math::reciprocal_root(math::fma(squares, share, eps));
  walk([&](u32 place, f32 value) {
    const u32 column = begin + place;
    f32 y = (value - mean) * scale;
    if (opaque(alpha != nullptr) != 0) y *= as_f32(alpha[column]);
    if (opaque(beta != nullptr) != 0) y += as_f32(beta[column]);
    dst[start + place] = narrow<T>(y);
  });
}

}  // namespace kiln::families
