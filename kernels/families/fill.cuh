// out[...] = value, for a contiguous array or a strided view.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"
#include "tuning/fill.hpp"

namespace kiln::families {

using namespace device;

// Target of a fill of elements whose size the compiler knows.
template <class B>
struct Target {
  B* out;
  B value;
  KILN_DEVICE void set(u64 i) const { out[i] = value; }
};
// The same for any element size.
struct AnyTarget {
  void* out;
  u64 bits;
  u32 bytes;

  KILN_DEVICE void set(u64 i) const {
    switch (bytes) {
      case 1: static_cast<u8*>(out)[i] = static_cast<u8>(bits); break;
      case 2: static_cast<u16*>(out)[i] = static_cast<u16>(bits); break;
      case 4: static_cast<u32*>(out)[i] = static_cast<u32>(bits); break;
      default: static_cast<u64*>(out)[i] = bits;
    }
  }
};

// Fills a view. The order of writes is free, so neighbouring threads write neighbours in a dim of
// stride 1, which fills cache lines. If that dim is long, each thread writes several elements. A
// group's number has two parts, like a walk's (device/index.cuh).
template <class To>
KILN_DEVICE void fill_view(const Views<1>& view, u64 numel, const To& target) {
  if (leaves_at_once()) return;
  const bool singly = takes_one_element(numel, kTwiceBlocks);
  u32 i = thread_number();
  if (singly && i >= numel) return;
  u32 first = view.rank - 1;
  u64 stride = view.stride(0, first);
#pragma unroll 1
  for (u32 dim = first; stride != 1 && dim != 0;) {
    dim = opaque(dim - 1);
    if (view.stride(0, dim) != 1 || view.size(dim) == 1) continue;
    first = dim;
    stride = 1;
  }
  const u32 size = view.size(first);
  const u32 outermost = first == 0 ? 1 : 0;  // outermost of the other dims
  const u32 threads = blocks_up_to(max_blocks()) * block_size();
  const bool is_small = numel <= kSmallIndex;
  const auto divide = [&](u32 a, u32 b) { return is_small ? small_quotient(a, b) : a / b; };
  u32 log_several = 0, groups = size;
  u32 inner = static_cast<u32>(numel), outer = 1, split = 0;
  if (!singly) {
#pragma unroll 1
    while (log_several < 3 && size >> log_several >= 2 * kLine && numel >> log_several > threads) {
      ++log_several;
    }
    if (log_several != 0) groups = (((size - 1) >> (kLogLine + log_several)) + 1) << kLogLine;
    inner = groups;
#pragma unroll 1
    for (u32 dim = view.rank; dim != 0;) {
      dim = opaque(dim - 1);
      const u32 each = dim == first ? 1 : view.size(dim);
      if (split == 0 && static_cast<u64>(inner) * each >> 31 != 0) split = dim + 1;
      if (split == 0) {
        inner *= each;
      } else {
        outer *= each;
      }
    }
  }
#pragma unroll 1
  while (outer != 0) {
    if (i >= inner) {
      i -= inner;
      --outer;
      continue;
    }
    u32 rest = divide(i, groups), element = i - rest * groups;
    u64 place = 0;
#pragma unroll 1
    for (u32 dim = view.rank; dim != 0;) {
      dim = opaque(dim - 1);
      if (dim + 1 == split) rest = outer - 1;
      if (dim == first) continue;
      u32 digit = rest;
      if (dim != outermost) {
        const u32 each = view.size(dim);
        rest = divide(rest, each);
        digit -= rest * each;
      }
      place += digit * view.stride(0, dim);
    }
    i += threads;
    const u32 line = element >> kLogLine << kLogLine;
    element += (line << log_several) - line;
#pragma unroll 1
    for (u32 k = 0; k >> log_several == 0 && element < size; ++k, element += kLine) {
      target.set(place + element * stride);
    }
    if (singly) return;
  }
}

// Not inlined for sm_80, which is also shipped as PTX: inlining would put a copy into every kernel.
KILN_NOINLINE void fill_view_outlined(Views<1> view, u64 numel, AnyTarget target) {
  fill_view(view, numel, target);
}

template <class B>
inline constexpr u32 kFillingThreads = tuning::filling_threads(sizeof(B));

// Fills contiguous elements by 16-byte chunks; elements of 8 bytes one by one, which is as fast.
// The reference geometry has a thread for each element, so a few threads of each block do all the
// work. The others exit early, since the instructions that they execute take most of a large
// launch's time.
template <class B>
KILN_DEVICE void fill_contiguous(u64 numel, B* out, B value) {
  constexpr bool kByChunks = sizeof(B) < 8;
  u32 width = block_size();
  if constexpr (kByChunks) {
    if (width == 1024) width = kFillingThreads<B>;
    if (thread_index() >= width) return;
  }
  const u64 threads = static_cast<u64>(block_count()) * width;
  u64 i = static_cast<u64>(block_index()) * width + thread_index();
  if constexpr (kByChunks) {
    constexpr u32 kCount = 16 / sizeof(B);
    const u64 whole = address_of(out) % 16 == 0 ? numel & (0 - u64{kCount}) : 0;
    Chunk<B, kCount> chunk;
    chunk.fill(value);
#pragma unroll 1
    for (u64 at = i * kCount; at < whole; at += threads * kCount) chunk.store(out + at);
    i += whole;
  }
#pragma unroll 1
  for (; i < numel; i += threads) out[i] = value;
}

template <class T>
KILN_DEVICE void fill(u64 numel, T* elements, T element) {
  fill_contiguous(numel, reinterpret_cast<BitsOf<T>*>(elements), bits_of(element));
}
// `info` null means contiguous. A view without dims is one element.
template <class T>
KILN_DEVICE void fill(u64 numel, u64 num_dims, const u64* info, T* elements, T element) {
  using B = BitsOf<T>;
  B* const out = reinterpret_cast<B*>(elements);
  const B value = bits_of(element);
  if (likely(info == nullptr)) return fill_contiguous(numel, out, value);
  if (num_dims == 0) {
    *out = value;
    return;
  }
  const Views<1> view{info, static_cast<u32>(num_dims)};
  if constexpr (kArchitecture == tuning::Architecture::kSm80) {
    fill_view_outlined(view, numel, {out, value, sizeof(B)});
  } else {
    fill_view(view, numel, Target<B>{out, value});
  }
}

}  // namespace kiln::families
