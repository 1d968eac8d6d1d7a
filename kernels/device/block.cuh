// What the threads of a block do together. All threads of the block call each function; blocks may
// have any size.
#pragma once

#include "device/platform.cuh"
#include "device/wave.cuh"

namespace kiln::device {

template <class T>
struct BlockScratch {
  T of[1024];
};

// Reduces a value of each thread; every thread gets the result. `Monoid` has identity() and
// join(a, b), associative; T is the type of its values, which shuffle(value, source, width) moves.
template <class Monoid, class T>
KILN_DEVICE T block_reduce(T value, Here here = KILN_HERE) {
  KILN_SHARED(scratch, BlockScratch<T>);
  const u32 threads = block_threads();
  const u32 rank = thread_rank();
  const u32 width = wave_width();
  u32 parts = threads;  // values left
  bool holds_one = true;
  u32 mine = rank;
  const bool by_waves = threads % width == 0;
  if (by_waves) {
    value = wave_join<Monoid>(value, width, here);
    parts = threads / width;
    mine = rank / width;
    holds_one = rank % width == 0;
  }
  if (parts == 1) return value;
  barrier();  // what an earlier call left may still be read
  if (holds_one) scratch.of[mine] = value;
  barrier();
  if (by_waves) {
    if (rank < width) {
      value = rank < parts ? scratch.of[rank] : Monoid::identity();
      value = wave_join<Monoid>(value, width, here);
    }
  } else if (rank == 0) {
    for (u32 i = 1; i < parts; ++i) value = Monoid::join(value, scratch.of[i]);
  }
  if (rank == 0) scratch.of[0] = value;
  barrier();
  return scratch.of[0];
}

// The values of the threads before this one, joined.
template <class Monoid, class T>
KILN_DEVICE T block_scan(T value) {
  KILN_SHARED(scratch, BlockScratch<T>);
  const u32 rank = thread_rank();
  barrier();
  scratch.of[rank] = value;
  barrier();
  for (u32 distance = 1; distance < block_threads(); distance *= 2) {
    const T before = rank >= distance ? scratch.of[rank - distance] : Monoid::identity();
    barrier();
    scratch.of[rank] = Monoid::join(before, scratch.of[rank]);
    barrier();
  }
  const T result = rank == 0 ? Monoid::identity() : scratch.of[rank - 1];
  barrier();
  return result;
}

}  // namespace kiln::device
