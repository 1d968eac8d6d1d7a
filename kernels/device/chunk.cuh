// Neighbouring elements in the registers of one thread, loaded and stored by wide accesses.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"

namespace kiln::device {

KILN_DEVICE u64 address_of(const void* pointer) { return reinterpret_cast<u64>(pointer); }

// Holds `kCount` elements of type T as words. A loop over the elements can then shift the chunk by
// words and index registers by constants, so that it need not be unrolled.
template <class T, u32 kCount>
struct Chunk {
  static constexpr u32 kBytes = kCount * sizeof(T);
  static constexpr u32 kWords = (kBytes + 3) / 4;

  u32 word[kWords];

  // `address` must be a multiple of kBytes, or of 16 for larger chunks.
  KILN_DEVICE void load(const T* address) {
    if constexpr (kBytes >= 16) {
#pragma unroll
      for (u32 part = 0; part < kWords; part += 4) {
        const Words words = load_16_bytes(address + part * 4 / sizeof(T));
#pragma unroll
        for (u32 w = 0; w < 4; ++w) word[part + w] = words.word[w];
      }
    } else if constexpr (kBytes == 8) {
      const u64 both = *reinterpret_cast<const u64*>(address);
      word[0] = static_cast<u32>(both);
      word[kWords - 1] = static_cast<u32>(both >> 32);
    } else {
      word[0] = *reinterpret_cast<const Bits<kBytes>*>(address);
    }
  }
  // Loads the chunk, or repeats the element at `address`.
  KILN_DEVICE void load(const T* address, bool repeats) {
    if (repeats) {
      fill(*address);
    } else {
      load(address);
    }
  }
  KILN_DEVICE void store(void* address) const {
    if constexpr (kBytes == 16) {
      Words words;
#pragma unroll
      for (u32 w = 0; w < 4; ++w) words.word[w] = word[w];
      store_16_bytes(address, words);
    } else if constexpr (kBytes == 8) {
      *reinterpret_cast<u64*>(address) = word[0] | static_cast<u64>(word[kWords - 1]) << 32;
    } else {
      *reinterpret_cast<Bits<kBytes>*>(address) = static_cast<Bits<kBytes>>(word[0]);
    }
  }

  // `i` must be a compile-time constant, or become one by unrolling.
  KILN_DEVICE T get(u32 i) const {
    const u32 byte = i * sizeof(T);
    if constexpr (sizeof(T) == 8) {
      return bit_cast<T>(word[byte / 4] | static_cast<u64>(word[byte / 4 + 1]) << 32);
    } else {
      return bit_cast<T>(static_cast<BitsOf<T>>(word[byte / 4] >> byte % 4 * 8));
    }
  }
  // Stores element i, whose bits must be zero before.
  KILN_DEVICE void put(u32 i, T value) {
    const u32 byte = i * sizeof(T);
    const BitsOf<T> bits = bits_of(value);
    if constexpr (sizeof(T) == 8) {
      word[byte / 4] = static_cast<u32>(bits);
      word[byte / 4 + 1] = static_cast<u32>(bits >> 32);
    } else {
      word[byte / 4] |= static_cast<u32>(bits) << byte % 4 * 8;
    }
  }
  // Stores elements i and i + 1, of at most two bytes each, given as one number. Their bits must be
  // zero before.
  KILN_DEVICE void put_pair(u32 i, u32 pair) {
    const u32 byte = i * sizeof(T);
    word[byte / 4] |= pair << byte % 4 * 8;
  }
  KILN_DEVICE void clear() {
#pragma unroll
    for (u32 w = 0; w < kWords; ++w) word[w] = 0;
  }
  KILN_DEVICE void fill(T value) {
    clear();
#pragma unroll
    for (u32 i = 0; i < kCount; ++i) put(i, value);
  }

  // Sets each element i to number_of(i), narrowed.
  template <class NumberOf>
  KILN_DEVICE void set(NumberOf number_of) {
    clear();
    if constexpr (sizeof(T) <= 2 && kCount > 1) {
#pragma unroll
      for (u32 i = 0; i < kCount; i += 2) {
        put_pair(i, narrow_pair<T>(number_of(i), number_of(i + 1)));
      }
    } else {
#pragma unroll
      for (u32 i = 0; i < kCount; ++i) put(i, narrow<T>(number_of(i)));
    }
  }

  // Drops elements at the beginning and appends those of `next`, whose type may differ. It drops as
  // many bytes as `next` has.
  template <class U, u32 kNew>
  KILN_DEVICE void append(const Chunk<U, kNew>& next) {
    constexpr u32 kNewBytes = kNew * sizeof(U);
    if constexpr (kNewBytes == kBytes) {
#pragma unroll
      for (u32 w = 0; w < kWords; ++w) word[w] = next.word[w];
    } else if constexpr (kNewBytes % 4 == 0) {
#pragma unroll
      for (u32 w = 0; w < kWords; ++w) {
        word[w] = w + kNewBytes / 4 < kWords ? word[w + kNewBytes / 4]
                                             : next.word[w + kNewBytes / 4 - kWords];
      }
    } else {
      constexpr u32 kBits = kNewBytes * 8;
#pragma unroll
      for (u32 w = 0; w < kWords; ++w) {
        const u32 above = w + 1 < kWords ? word[w + 1] : next.word[0];
        word[w] = word[w] >> kBits | above << (kBytes < 4 ? kBytes * 8 - kBits : 32 - kBits);
      }
    }
  }
  // Drops the first kFirst elements. The places freed at the end have unspecified contents.
  template <u32 kFirst>
  KILN_DEVICE void drop() {
    constexpr u32 kBits = kFirst * sizeof(T) * 8, kWhole = kBits / 32, kRest = kBits % 32;
#pragma unroll
    for (u32 w = 0; w + kWhole < kWords; ++w) {
      word[w] = word[w + kWhole];
      if constexpr (kRest != 0) {
        word[w] >>= kRest;
        if (w + kWhole + 1 < kWords) word[w] |= word[w + kWhole + 1] << (32 - kRest);
      }
    }
  }
};

}  // namespace kiln::device
