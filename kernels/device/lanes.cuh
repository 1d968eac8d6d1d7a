// Sixteen bytes of neighbouring elements in the registers of one thread ("lanes"): the unit in
// which data moves.
//
// Element pointers are aligned to their element only. `Split` cuts an array into items of sixteen
// bytes that are aligned in memory; its first and last item may be short. Code that only moves data
// knows elements by their size, as B: u8, u16, u32 or u64.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"

namespace kiln::device {

template <class B>
inline constexpr u32 kLanes = 16 / sizeof(B);

// ---- steps ------------------------------------------------------------------------------------
// A step is what loops over lanes handle at once: one word, or two for elements of eight bytes.
// Between steps the words move down by one, so such loops index registers by constants and need not
// be unrolled.

template <class B>
inline constexpr u32 kSteps = sizeof(B) == 8 ? 2 : 4;
template <class B>
inline constexpr u32 kStepLanes = kLanes<B> / kSteps<B>;
template <class B>
using Step = typename BitsOfSize<sizeof(B) == 8 ? 8 : 4>::Type;

template <class B>
KILN_DEVICE Step<B> first_step(const Words& words) {
  if constexpr (sizeof(B) == 8) {
    return words.word[0] | static_cast<u64>(words.word[1]) << 32;
  } else {
    return words.word[0];
  }
}

// Drops the first step and appends one.
KILN_DEVICE void rotate_in(Words& words, u32 step) {
  words = {{words.word[1], words.word[2], words.word[3], step}};
}
KILN_DEVICE void rotate_in(Words& words, u64 step) {
  words = {{words.word[2], words.word[3], static_cast<u32>(step), static_cast<u32>(step >> 32)}};
}

template <class T>
KILN_DEVICE T lane_of(Step<T> step, u32 lane) {
  return bit_cast<T>(static_cast<Bits<T>>(step >> 8 * sizeof(T) * lane));
}

template <class T>
KILN_DEVICE Step<T> as_lane(T value, u32 lane) {
  return static_cast<Step<T>>(bits_of(value)) << 8 * sizeof(T) * lane;
}

template <class T>
KILN_DEVICE Words splat(T value) {
  Step<T> step = 0;
#pragma unroll
  for (u32 i = 0; i < kStepLanes<T>; ++i) step |= as_lane(value, i);
  Words words;
#pragma unroll
  for (u32 i = 0; i < kSteps<T>; ++i) rotate_in(words, step);
  return words;
}

// ---- computing --------------------------------------------------------------------------------

// One step of elements T through f: widened to the arithmetic M, narrowed once.
template <class M, class T, class F>
KILN_DEVICE Step<T> transform_step(Step<T> x, F f) {
  using C = typename M::Number;
  if constexpr (sizeof(T) >= 4) {
    return as_lane<T>(narrow<T>(static_cast<C>(f(widen(lane_of<T>(x, 0))))), 0);
  } else {
    Step<T> y = 0;
#pragma unroll
    for (u32 i = 0; i < kStepLanes<T>; i += 2) {
      const C first = f(widen(lane_of<T>(x, i)));
      const C second = f(widen(lane_of<T>(x, i + 1)));
      y |= narrow_pair<T, C>(first, second) << 8 * sizeof(T) * i;
    }
    return y;
  }
}

// All lanes through f. Unroll = 1 keeps the code of long functions short.
template <class M, class T, u32 Unroll, class F>
KILN_DEVICE void transform(Words& words, F f) {
  constexpr u32 kUnroll = sizeof(T) == 1 ? 1 : Unroll;  // a step of bytes is long by itself
#pragma unroll kUnroll
  for (u32 i = 0; i < kSteps<T>; ++i) {
    rotate_in(words, transform_step<M, T>(first_step<T>(words), f));
  }
}

// ---- memory -----------------------------------------------------------------------------------

KILN_DEVICE u64 address_of(const void* pointer) { return reinterpret_cast<u64>(pointer); }
KILN_DEVICE bool aligned_to_16(u64 address_bits) { return (address_bits & 15) == 0; }

// One item: elements [begin + first, begin + last) of an array; begin wraps below zero in the
// first.
struct Item {
  u64 begin;
  u32 first;
  u32 last;

  template <class B>
  KILN_DEVICE bool is_whole() const {
    return first == 0 && last == kLanes<B>;
  }
};

// An array of elements as items, aligned in memory.
template <class B>
struct Split {
  u64 end;    // of the elements, counted from the first item's front
  u32 shift;  // elements that the first item lacks there

  KILN_DEVICE Split(const B* array, u64 count)
      : end(count), shift(static_cast<u32>(address_of(array) % 16 / sizeof(B))) {
    end += shift;
  }
  KILN_DEVICE bool has(u64 item) const { return item * kLanes<B> < end; }
  KILN_DEVICE Item operator[](u64 item) const {
    const u64 front = item * kLanes<B>;
    const u64 left = end - front;
    return {front - shift, item == 0 ? shift : 0,
            left < kLanes<B> ? static_cast<u32>(left) : kLanes<B>};
  }
};

// Steps of a loop over single elements that are unrolled: four elements are in flight.
template <class B>
inline constexpr u32 kStepsAtOnce = kStepLanes<B> >= 4 ? 1 : 4 / kStepLanes<B>;

// Lanes [first, last) from base[(lane - first) * stride], which must be zero; the others stay.
template <class B>
KILN_DEVICE void read_run(Words& words, const B* base, u64 stride, u32 first, u32 last) {
  const B* element = base - first * stride;
  u32 lane = 0;
  constexpr u32 kAtOnce = kStepsAtOnce<B>;
#pragma unroll kAtOnce
  for (u32 i = 0; i < kSteps<B>; ++i) {
    Step<B> step = first_step<B>(words);
#pragma unroll
    for (u32 j = 0; j < kStepLanes<B>; ++j, ++lane, element += stride) {
      if (lane >= first && lane < last) step |= as_lane(*element, j);
    }
    rotate_in(words, step);
  }
}

// Lanes [first, last) to base[(lane - first) * stride].
template <class B>
KILN_ASIDE void write_run(Words words, B* base, u64 stride, u32 first, u32 last) {
  B* element = base - first * stride;
  u32 lane = 0;
  constexpr u32 kAtOnce = kStepsAtOnce<B>;
#pragma unroll kAtOnce
  for (u32 i = 0; i < kSteps<B>; ++i) {
    const Step<B> step = first_step<B>(words);
#pragma unroll
    for (u32 j = 0; j < kStepLanes<B>; ++j, ++lane, element += stride) {
      if (lane >= first && lane < last) *element = lane_of<B>(step, j);
    }
    rotate_in(words, step);
  }
}

}  // namespace kiln::device
