// out[i] = f(in[place of i]...) for two inputs, each with its own element type and view. The output
// is contiguous. Functions of one input are another family (families/map.cuh).
//
// The unit of work is an output chunk of up to 16 aligned bytes. Its inputs are read
//   whole     by one access each, if they are contiguous and equally aligned
//   by rows   by one access each, if all rows of all views consist of whole aligned chunks or of
//             copies of one element
//   singly    element by element, otherwise
// All other elements, and those of small launches, go one to a thread. If the views come with a
// table (device/index.cuh), threads take its units, and plan nothing. Chunks are read before they
// are written, and not through a read-only cache, so an input may be the output.
#pragma once

#include "device/chunk.cuh"
#include "device/export.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/inputs.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// Number of chunks of `bytes` that keep enough bytes in flight, if `sharing` blocks share a
// multiprocessor. Measured on an H200, reference geometry, bytes to f64, in us, sixteen chunks of 2
// bytes -> four: 2^20 elements 7.0 -> 5.3; 2^22 17.1 -> 14.8.
constexpr u32 ahead(u32 bytes, u32 sharing) {
  const u32 wanted = sharing == 1 ? 64 : 32, most = 4;
  return bytes >= wanted ? 1 : wanted / bytes < most ? wanted / bytes : most;
}

// ---- launches ---------------------------------------------------------------------------------

// Not members of the family, so that they are compiled once for all kernels.

// Number of blocks up to which each thread takes one element of a view. Groups would take longer.
inline constexpr u32 kViewBlocks = tuning::view_blocks(kMachine, true);
static_assert(kViewBlocks * 1024 <= kSmallIndex);

// Maximum number of blocks that do work.
KILN_DEVICE u32 any_blocks() { return block_size() == 1024 ? kViewBlocks : kAllBlocks; }
KILN_DEVICE bool is_surplus_block() { return !likely(block_index() < any_blocks()); }
// True if each thread takes at most one element of the views.
KILN_DEVICE bool takes_one_of_views(u64 numel) {
  return takes_one_element(numel, any_blocks(), kViewBlocks * 1024);
}

// Hides the views' rank from the compiler. Otherwise the addresses of several views would stay in
// registers from group to group.
template <u32 N>
KILN_DEVICE Views<N> reread(const Views<N>& views) {
  return {views.info, opaque(views.rank)};
}

// ---- the family -------------------------------------------------------------------------------

// `kOccupancy` blocks of 1024 threads share a multiprocessor.
template <u32 kOccupancy, class F, class Numbers, class Out, class... In>
struct Elementwise;

template <u32 kOccupancy, class F, u32... I, class Out, class... In>
struct Elementwise<kOccupancy, F, Sequence<I...>, Out, In...> {
  static constexpr u32 kInputs = sizeof...(In);
  static constexpr u32 kCount = 16 / largest(sizeof(Out), sizeof(In)...);
  // Elements that are computed side by side. A loop goes over the rest of a chunk and moves them
  // along, which is most of the work in small launches by chunks. Emulated gfx1100, lane
  // instructions, two -> four elements side by side: affine_f32 of 4,096 elements 22,528 -> 12,288.
  static constexpr u32 kSide = kTuning.small_chunks ? 4 : 2;
  static constexpr u32 kAbreast = smallest(kCount, kSide);
  // Chunks per thread up to which all resident threads work.
  static constexpr u32 kShare = share_of(kCount);
  // Chunks that a thread reads before it computes.
  static constexpr u32 kAhead =
      ahead((0 + ... + (kCount * static_cast<u32>(sizeof(In)))), kOccupancy);
  // The first input whose elements are as large as the output's: its chunk becomes the output's,
  // element by element. kInputs: none.
  static constexpr u32 kHost = first_of(sizeof(Out), sizeof(In)...);
  // Neighbours in a dense dim that a thread takes together. Measured on an H200, affine_f32 of
  // 8192x8192, in us, four -> eight: transposed 473 -> 358; broadcast along rows 143 -> 149.
  static constexpr u32 kGroup = smallest(tuning::kNeighbours, largest(kCount, 4));

  // Number of single elements of a group that are read at once.
  static constexpr u32 kAtOnce = smallest(kCount, 4);
  // True if a dense group is read by one access. Code for sm_80 lacks the registers in types of two
  // bytes.
  static constexpr bool kLoadsGroups =
      kArchitecture != tuning::Architecture::kSm80 || largest(sizeof(In)...) != 2;

  // True if a chunk may repeat one element.
  static constexpr bool kRepeats = tuning::binary_repeats(sizeof(Out), largest(sizeof(In)...));

  using Walker = device::Walker<log_of(kCount), log_of(kGroup), kRepeats>;
  using Batch = Slots<Sequence<I...>, kCount, In...>;
  using OutChunk = Chunk<Out, kCount>;

  const F& f;
  Views<kInputs> views;
  ViewTable<kInputs> table;
  Out* out;
  const void* in[kInputs];

  template <class T>
  KILN_DEVICE const T* input(u32 n) const {
    return static_cast<const T*>(in[n]);
  }

  // Applies f to the first `kMany` elements of the chunks.
  template <u32 kMany>
  KILN_DEVICE Chunk<Out, kMany> compute(Batch& batch) const {
    Chunk<Out, kMany> result;
    result.clear();
    if constexpr (sizeof(Out) <= 2 && kMany > 1) {
#pragma unroll
      for (u32 j = 0; j < kMany; j += 2) {
        result.put_pair(j, narrow_pair<Out>(f(chunk_of<I>(batch).get(j)...),
                                            f(chunk_of<I>(batch).get(j + 1)...)));
      }
    } else {
#pragma unroll
      for (u32 j = 0; j < kMany; ++j) {
        result.put(j, narrow<Out>(f(chunk_of<I>(batch).get(j)...)));
      }
    }
    return result;
  }

  // Computes and stores a whole chunk.
  KILN_DEVICE void compute_chunk(Batch& batch, Out* to) const {
    OutChunk results;
    if constexpr (kHost == kInputs) results.clear();
#pragma unroll 1
    for (u32 step = 0; step < kCount / kAbreast; ++step) {
      const Chunk<Out, kAbreast> next = compute<kAbreast>(batch);
      (move_along(chunk_of<I>(batch), next, I), ...);
      if constexpr (kHost == kInputs) results.append(next);
    }
    if constexpr (kHost == kInputs) {
      results.store(to);
    } else {
      chunk_of<kHost>(batch).store(to);
    }
  }

  // Drops the first elements of input `n`. In the host, the results take their places.
  template <class T>
  KILN_DEVICE static void move_along(Chunk<T, kCount>& chunk, const Chunk<Out, kAbreast>& results,
                                     u32 n) {
    if constexpr (sizeof(T) == sizeof(Out)) {
      if (n == kHost) return chunk.append(results);
    }
    chunk.template drop<kAbreast>();
  }

  // Moves chunks `i`, `i + threads`, ... of contiguous arrays.
  KILN_DEVICE void move_chunks(u32 i, u32 threads, u32 end) const {
#pragma unroll 1
    while (i < end) {
      Batch batch[kAhead];
      u32 count = 0;
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        if (k != 0 && end - i <= k * threads) break;
        (chunk_of<I>(batch[k]).load(input<In>(I) + static_cast<u64>(i + k * threads) * kCount),
         ...);
        ++count;
      }
#pragma unroll 1
      for (;;) {
        compute_chunk(batch[0], out + static_cast<u64>(i) * kCount);
        i += threads;
        if (--count == 0) break;
#pragma unroll
        for (u32 k = 0; k + 1 < kAhead; ++k) batch[k] = batch[k + 1];
      }
    }
  }

  // Moves a group of elements of the cut dim.
  KILN_DEVICE void move_group(const Walk& walk, const Group<kInputs>& group) const {
    if (group.count == 0) return;
    constexpr u32 kBytes[] = {sizeof(In)...};
    const char* from[kInputs];
    u64 step[kInputs];
#pragma unroll
    for (u32 n = 0; n < kInputs; ++n) from[n] = input<char>(n) + group.at[n] * kBytes[n];
    Slots<Sequence<I...>, 1, In...> next;
    (chunk_of<I>(next).load(reinterpret_cast<const In*>(from[I])), ...);
    Out* to = out + group.out;
    u32 left = group.count - 1;
    if (left != 0) {
#pragma unroll
      for (u32 n = 0; n < kInputs; ++n) step[n] = Walker::step(reread(views), walk, n) * kBytes[n];
    }
#pragma unroll 1
    for (;;) {
      const auto element = next;
      if (left != 0) {
#pragma unroll
        for (u32 n = 0; n < kInputs; ++n) from[n] += step[n];
        (chunk_of<I>(next).load(reinterpret_cast<const In*>(from[I])), ...);
      }
      *to = narrow<Out>(f(chunk_of<I>(element).get(0)...));
      if (left == 0) return;
      --left;
      to += group.out_step;
    }
  }

  KILN_DEVICE void move_views(const Walk& walk, u32 self, u32 threads) const {
    u32 left = walk.outer;
    u32 i = self;
#pragma unroll 1
    while (left != 0) {
      if (i >= walk.inner) {
        i -= walk.inner;
        --left;
        continue;
      }
      // Computed again for each group. Otherwise it would take registers between groups.
      const Walk here{0, 0, opaque(walk.dims), false};
      const Group<kInputs> group = Walker::find(reread(views), here, left - 1, i);
      i += threads;
      if (here.rows()) {
        Batch batch;
        if (!kRepeats || here.whole() == (1u << kInputs) - 1) {
          (chunk_of<I>(batch).load(input<In>(I) + group.at[I]), ...);
        } else {
          (chunk_of<I>(batch).load(input<In>(I) + group.at[I], (here.whole() >> I & 1) == 0), ...);
        }
        compute_chunk(batch, out + group.out);
        continue;
      }
      move_group(here, group);
    }
  }

  static constexpr bool kHasByte = largest(sizeof(Out) == 1, (sizeof(In) == 1)...) != 0;
  // True if work by chunks is faster, as it is if a multiprocessor holds one block.
  static constexpr bool kGoesByChunks = kOccupancy == 1 || kTuning.small_chunks;
  // Maximum number of blocks for one element per thread. Measured on an H200, reference geometry,
  // 524,288 elements, in us, by chunks -> singly, operands in the cache; in memory: badd_f16
  // 2.74 -> 2.20; 3.13 -> 3.42. bdiv_f32 3.53 -> 3.40; 4.28 -> 5.44.
  static constexpr u32 kSingleBlocks = kGoesByChunks && !kHasByte ? kFitBlocks : kTwiceBlocks;

  // True if every array is aligned for chunks.
  KILN_DEVICE bool is_aligned() const {
    u64 bits = address_of(out) * (16 / (kCount * sizeof(Out)));
    ((bits |= address_of(in[I]) * (16 / (kCount * sizeof(In)))), ...);
    return bits % 16 == 0;
  }

  // True if the thread's number is behind all elements, so that it has no work. Checked because
  // much code comes before the first load. Measured on an H200, reference geometry, in us,
  // without -> with this check: badd_f16 of one element 1.18 -> 1.11.
  KILN_DEVICE bool is_behind(u64 numel) const {
    if constexpr (kTuning.small_chunks) return false;
    return thread_number() >= numel;
  }

  // Computes one element per thread in small launches of contiguous arrays. Returns false for
  // others.
  KILN_DEVICE bool takes_one(u64 numel) const {
    if (!likely(takes_one_element(numel, kSingleBlocks) & (views.info == nullptr))) return false;
    const u32 mine = thread_number();
    // Threads behind all elements have already left, except on AMD.
    if (!kTuning.small_chunks || mine < static_cast<u32>(numel)) {
      at32(out, mine) = narrow<Out>(f(at32(input<In>(I), mine)...));
    }
    return true;
  }

  // Moves the thread's chunk of contiguous arrays if the launch has a thread for each. Returns
  // false for other launches.
  KILN_DEVICE bool takes_one_chunk(u64 numel) const {
    if (kTuning.small_chunks || !may_have_chunk_each()) return false;
    if (static_cast<bool>(!is_aligned() | !has_chunk_each(numel / kCount))) return false;
    const u32 mine = thread_number();
    if (mine >= static_cast<u32>(numel / kCount)) return true;
    const u64 first = static_cast<u64>(mine) * kCount;
    Batch batch;
    (chunk_of<I>(batch).load(input<In>(I) + first), ...);
    compute<kCount>(batch).store(out + first);
    return true;
  }

  // Reads a group: at once if it is dense, otherwise kAtOnce elements after one another.
  template <class T>
  KILN_DEVICE static void load_group(Chunk<T, kCount>& group, const T* from, bool is_dense,
                                     u32 step) {
    if (kLoadsGroups && is_dense) return group.load(from);
    group.clear();
#pragma unroll 1
    for (u32 left = kCount; left != 0; left -= kAtOnce) {
      Chunk<T, kAtOnce> part;
      part.clear();
#pragma unroll
      for (u32 k = 0; k < kAtOnce; ++k, from += step) part.put(k, *from);
      group.append(part);
    }
  }
  // Moves the groups of the table. Their description is read again for each, or it would take
  // registers.
  KILN_DEVICE void move_groups() const {
    using Table = ViewTable<kInputs, kInputs + 1>;
    const u32 threads = blocks_up_to(any_blocks()) * block_size();
#pragma unroll 1
    for (u32 i = thread_number();; i += threads) {
      const Table located{views.info, opaque(views.rank) | static_cast<u64>(table.known) << 32};
      const auto groups = located.groups();
      if (i >= groups.word[0]) return;
      const Place<kInputs + 1> place = located.find(i);
      Batch batch;
      (load_group(chunk_of<I>(batch), input<In>(I) + place.at[I], (table.bits() >> I & 1) != 0,
                  groups.word[2 + I]),
       ...);
      Out* to = out + place.at[kInputs];
#pragma unroll 1
      for (u32 k = 0; k < kCount; ++k, to += groups.word[1]) {
        *to = narrow<Out>(f(chunk_of<I>(batch).get(0)...));
        (chunk_of<I>(batch).template drop<1>(), ...);
      }
    }
  }

  // Moves units `i`, `i + threads`, ... of the table.
  KILN_DEVICE void move_units(u64 numel) const {
    if (table.has_groups()) return move_groups();
    const u32 units = static_cast<u32>(table.has_chunks() ? numel / kCount : numel);
    const u32 threads = blocks_up_to(any_blocks()) * block_size();
#pragma unroll 1
    for (u32 i = thread_number(); i < units; i += threads) {
      const Place<kInputs> place = table.find(i);
      if (!table.has_chunks()) {
        out[i] = narrow<Out>(f(input<In>(I)[place.at[I]]...));
        continue;
      }
      Batch batch;
      if (!kRepeats || table.bits() == 0) {
        (chunk_of<I>(batch).load(input<In>(I) + place.at[I]), ...);
      } else {
        (chunk_of<I>(batch).load(input<In>(I) + place.at[I], (table.bits() >> I & 1) != 0), ...);
      }
      // Code for sm_80, which is also shipped as PTX, is kept short.
      if constexpr (kArchitecture == tuning::Architecture::kSm80) {
        compute_chunk(batch, out + static_cast<u64>(i) * kCount);
      } else {
        compute<kCount>(batch).store(out + static_cast<u64>(i) * kCount);
      }
    }
  }

  // Handles launches without a table, except those that takes_one() handles.
  KILN_DEVICE void run_further(u64 numel) const {
    bool contiguous = views.info == nullptr;
    u64 i = thread_number();
    u32 threads = kViewBlocks * 1024;
    if (contiguous || !takes_one_of_views(numel)) {
      if (block_index() >= full_blocks()) return;
      const bool aligned = is_aligned();
      if (!contiguous) {
        const Spread spread(numel, kOccupancy == 1, full_blocks());
        if (spread.is_surplus()) return;
        threads = spread.threads;
        const Walk walk = Walker::plan(reread(views), aligned);
        contiguous = walk.contiguous;
        // Without a cut, elements go one by one. Measured on an H200, reference geometry, in us, as
        // groups of one -> so: badd_f32 of 16x224x224x3, two dims of one input swapped, 46 -> 24.
        if (!contiguous && (walk.cut() != views.rank || numel >> 31 != 0)) {
          return move_views(walk, spread.self, threads);
        }
      }
      if (contiguous) {
        if (takes_one_chunk(numel)) {
          threads = block_count() * block_size();
          i += numel / kCount * kCount;
        } else {
          const Spread spread(numel, kOccupancy == 1, full_blocks());
          if (spread.is_surplus()) return;
          threads = spread.threads;
          if (aligned && (numel / kCount) >> 31 == 0) {
            const u32 chunks = static_cast<u32>(numel / kCount);
            threads = spread.threads_for(chunks / kShare);
            // If a multiprocessor holds one block, surplus blocks can only exit where none works.
            const u32 few = working_blocks() * 1024;
            if (kOccupancy == 1 && spread.has_thread_each && threads > few) threads = few;
            if (spread.self >= threads) return;
            move_chunks(spread.self, threads, chunks);
            i += static_cast<u64>(chunks) * kCount;
          }
        }
      }
    }
#pragma unroll 1
    for (; i < numel; i += threads) {
      const Place<kInputs> place =
          contiguous ? place_in_order<kInputs>(i) : find_element(views, static_cast<u32>(i));
      out[i] = narrow<Out>(f(input<In>(I)[place.at[I]]...));
    }
  }

  KILN_DEVICE void run(u64 numel) const {
    if (is_surplus_block() || is_behind(numel) || takes_one(numel)) return;
    if constexpr (kTuning.small_chunks) {
      if (views.info == nullptr && takes_small_chunk(numel, kCount) && is_aligned()) {
        const u32 first = thread_number() * kCount;
        if (first >= static_cast<u32>(numel)) return;
        Batch batch;
        (chunk_of<I>(batch).load(&at32(input<In>(I), first)), ...);
        compute_chunk(batch, &at32(out, first));
        return;
      }
    }
    if (likely(!table.exists()) || ((table.has_chunks() || table.has_groups()) && !is_aligned()))
      return run_further(numel);
    move_units(numel);
  }
};

// `info` null means contiguous. `f` takes an element of each input and returns a number that
// narrows to Out.
template <u32 kOccupancy, class Out, class F, class... In>
KILN_DEVICE void elementwise(u64 numel, u64 num_dims, const u64* info, Out* out, const F& f,
                             const In*... in) {
  using Family = Elementwise<kOccupancy, F, typename MakeSequence<sizeof...(In)>::Type, Out, In...>;
  Family{f, {info, static_cast<u32>(num_dims)}, {info, num_dims}, out, {in...}}.run(numel);
}

}  // namespace kiln::families

// Defines a kernel that applies `function` to `inputs` (in brackets) and writes to `out`. Its own
// parameters follow the three of a strided view (device/index.cuh).
#define KILN_ELEMENTWISE(name, function, inputs, ...)                                     \
  inline constexpr kiln::u32 kOccupancy_##name =                                          \
      kiln::tuning::occupancy(#name, kiln::device::kArchitecture);                        \
  KILN_BOUNDED_KERNEL(1024, kOccupancy_##name, name, kiln::u64 numel, kiln::u64 num_dims, \
                      const kiln::u64* info, __VA_ARGS__) {                               \
    kiln::families::elementwise<kOccupancy_##name>(numel, num_dims, info, out, function,  \
                                                   KILN_LIST inputs);                     \
  }
