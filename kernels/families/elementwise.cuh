// out[i] = f(in[place of i]...), for two inputs: each has an element type and a view of its own; the output is
// contiguous. One input has a family of its own (families/map.cuh).
//
// An output chunk of up to sixteen aligned bytes is the unit of work. Its inputs are read
//   whole     one access each: contiguous and aligned alike
//   by rows   the same, where every view's rows are long, dense and aligned, or repeat one element
//   turned    by long groups, where neighbours lie in another dim of a large view than the output's
//   singly    element by element, otherwise
// Elements before the first and behind the last chunk, and small launches altogether, go one to a
// thread. A chunk is read before it is written and nothing is read through a read-only cache, so an
// input may be the output.
#pragma once

#include "device/chunk.cuh"
#include "device/export.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/inputs.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// So many chunks of `bytes` keep enough of them in flight, of kernels of which so many blocks share
// a multiprocessor. NVIDIA H200, bytes to f64, 2^20 and 2^22 elements, original geometry: 7.0 and 17.1
// us by sixteen chunks of 2 bytes, 5.3 and 14.8 by four.
constexpr u32 ahead(u32 bytes, u32 sharing) {
  const u32 wanted = sharing == 1 ? 64 : 32, most = 4;
  return bytes >= wanted ? 1 : wanted / bytes < most ? wanted / bytes : most;
}

// ---- launches ---------------------------------------------------------------------------------

// Functions of no family, so that the compiler has each once for all kernels.

// Blocks up to which each thread takes an element of a view, which of so few takes less time than to find
// groups.
inline constexpr u32 kViewBlocks = tuning::view_blocks(kMachine, true);
static_assert(kViewBlocks * 1024 <= kSmallIndex);

// Blocks that work, in any launch.
KILN_DEVICE u32 any_blocks() { return block_size() == 1024 ? kViewBlocks : kMostBlocks; }
KILN_DEVICE bool is_surplus_block() { return !likely(block_index() < any_blocks()); }
// Whether each thread takes an element of a view, at most.
KILN_DEVICE bool takes_one_of_views(u64 numel) {
  return takes_one_element(numel, any_blocks(), kViewBlocks * 1024);
}

// The views, of which several keep no addresses in registers from group to group.
template <u32 N>
KILN_DEVICE Views<N> reread(const Views<N>& views) {
  return {views.info, unknown(views.rank)};
}

// ---- the family -------------------------------------------------------------------------------

// So many blocks of 1024 threads share a multiprocessor.
template <u32 kSharing, class F, class Numbers, class Out, class... In>
struct Elementwise;

template <u32 kSharing, class F, u32... I, class Out, class... In>
struct Elementwise<kSharing, F, Sequence<I...>, Out, In...> {
  static constexpr u32 kInputs = sizeof...(In);
  static constexpr u32 kCount = 16 / largest(sizeof(Out), sizeof(In)...);
  // Elements that the code computes side by side; a loop goes over the rest of a chunk. Moving them
  // along is most of what a thread of a small launch does, where it takes a chunk. Emulated gfx1100,
  // lane instructions for affine_f32 of 4,096 elements by two abreast
  // 22,528, by four 12,288.
  static constexpr u32 kSide = kTuning.small_chunks ? 4 : 2;
  static constexpr u32 kAbreast = smallest(kCount, kSide);
  // Chunks of a thread up to which all threads that the device holds work.
  static constexpr u32 kShare = share_of(kCount);
  // Chunks that a thread reads before it computes.
  static constexpr u32 kAhead =
      ahead((0 + ... + (kCount * static_cast<u32>(sizeof(In)))), kSharing);
  // The first input whose elements are as large as the output's: a chunk of it becomes one of the
  // output, element by element. kInputs: none.
  static constexpr u32 kHost = first_of(sizeof(Out), sizeof(In)...);
  // Neighbours in a dense dim that a thread takes together. NVIDIA H200, us for affine_f32 of 8192x8192
  // transposed by four and by eight: 473, 358; broadcast along rows 143, 149.
  static constexpr u32 kGroup = smallest(tuning::kNeighbours, largest(kCount, 4));

  // Large turned views of two inputs go by long groups, an access or two of an input. The registers do
  // not suffice for bytes where two blocks share a multiprocessor, nor for comparisons of four bytes.
  // NVIDIA H200, own geometry, 4096x4096 transposed, one operand: badd_f32 126 us, by long groups 72.
  static constexpr bool kTurns = largest(sizeof(In)...) != 4 * sizeof(Out);
  static constexpr u32 kWide =
      kSharing == 1 || smallest(sizeof(In)...) != 1 ? largest(4, 16 / largest(sizeof(In)...)) : 4;
  static constexpr u32 kPart = 4;  // that are read singly, at once
  static constexpr u32 kUnit = smallest(kWide, 16 / smallest(sizeof(In)...));  // of an access

  // Of what a kernel does not use, the numbers are the same for all types.
  using Walker = device::Walker<log_of(kCount), log_of(kGroup), kTurns ? log_of(kWide) : 0,
                                kTurns ? log_of(kUnit) : 0>;
  using Batch = Slots<Sequence<I...>, kCount, In...>;
  using OutChunk = Chunk<Out, kCount>;

  const F& f;
  Views<kInputs> views;
  Out* out;
  const void* in[kInputs];

  template <class T>
  KILN_DEVICE const T* input(u32 n) const {
    return static_cast<const T*>(in[n]);
  }

  // Elements `j` and further of the chunks through f.
  KILN_DEVICE Chunk<Out, kAbreast> compute(Batch& batch) const {
    Chunk<Out, kAbreast> result;
    result.clear();
    if constexpr (sizeof(Out) <= 2 && kAbreast > 1) {
#pragma unroll
      for (u32 j = 0; j < kAbreast; j += 2) {
        result.put_pair(j, narrow_pair<Out>(f(chunk_of<I>(batch).get(j)...),
                                            f(chunk_of<I>(batch).get(j + 1)...)));
      }
    } else {
#pragma unroll
      for (u32 j = 0; j < kAbreast; ++j) {
        result.put(j, narrow<Out>(f(chunk_of<I>(batch).get(j)...)));
      }
    }
    return result;
  }

  // A whole chunk.
  KILN_DEVICE void compute_chunk(Batch& batch, Out* to) const {
    OutChunk results;
    if constexpr (kHost == kInputs) results.clear();
#pragma unroll 1
    for (u32 step = 0; step < kCount / kAbreast; ++step) {
      const Chunk<Out, kAbreast> next = compute(batch);
      (move_along(chunk_of<I>(batch), next, I), ...);
      if constexpr (kHost == kInputs) results.append(next);
    }
    if constexpr (kHost == kInputs) {
      results.store(to);
    } else {
      chunk_of<kHost>(batch).store(to);
    }
  }

  // Drops the first elements of input `n`. In the host, the results take the places.
  template <class T>
  KILN_DEVICE static void move_along(Chunk<T, kCount>& chunk, const Chunk<Out, kAbreast>& results,
                                     u32 n) {
    if constexpr (sizeof(T) == sizeof(Out)) {
      if (n == kHost) return chunk.append(results);
    }
    chunk.template drop<kAbreast>();
  }

  // Chunks `i`, `i + threads`, ... of contiguous arrays.
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

  // A group of elements of the cut dim.
  KILN_DEVICE void move_group(const Walk& walk, const Group<kInputs>& group) const {
    if (group.count == 0) return;
    if constexpr (kTurns) {
      if (walk.wide() != 0 && group.count == kWide) return move_wide(walk, group);
    }
    constexpr u32 kBytes[] = {sizeof(In)...};
    const char* from[kInputs];
    u64 apart[kInputs];
#pragma unroll
    for (u32 n = 0; n < kInputs; ++n) from[n] = input<char>(n) + group.at[n] * kBytes[n];
    Slots<Sequence<I...>, 1, In...> next;
    (chunk_of<I>(next).load(reinterpret_cast<const In*>(from[I])), ...);
    Out* to = out + group.out;
    u32 left = group.count - 1;
    if (left != 0) {
#pragma unroll
      for (u32 n = 0; n < kInputs; ++n)
        apart[n] = Walker::apart(reread(views), walk, n) * kBytes[n];
    }
#pragma unroll 1
    for (;;) {
      const auto element = next;
      if (left != 0) {
#pragma unroll
        for (u32 n = 0; n < kInputs; ++n) from[n] += apart[n];
        (chunk_of<I>(next).load(reinterpret_cast<const In*>(from[I])), ...);
      }
      *to = narrow<Out>(f(chunk_of<I>(element).get(0)...));
      if (left == 0) return;
      --left;
      to += group.out_apart;
    }
  }

  // Elements of a long group of an input: all at once, before the first, or else the next, singly.
  template <class T>
  KILN_DEVICE void gather(Chunk<T, kWide>& line, const Walk& walk, Group<kInputs>& group, u32 n,
                          bool first) const {
    const T* from = input<T>(n) + group.at[n];
    if ((walk.wide() >> n & 1) != 0) {
      if (first) line.load(from);
      return;
    }
    const u64 apart = Walker::apart(reread(views), walk, n);
    if (kPart != kWide) group.at[n] += kPart * apart;
    Chunk<T, kPart> part;
    part.clear();
#pragma unroll
    for (u32 j = 0; j < kPart; ++j, from += apart) part.put(j, *from);
#pragma unroll
    for (u32 w = 0; w < part.kWords; ++w) line.word[w] = part.word[w];
  }

  // A long group.
  KILN_DEVICE void move_wide(const Walk& walk, Group<kInputs> group) const {
    Slots<Sequence<I...>, kWide, In...> lines;
    u32 to = static_cast<u32>(group.out);
    const u32 apart = static_cast<u32>(group.out_apart);
#pragma unroll 1
    for (u32 left = kWide;;) {
      (gather(chunk_of<I>(lines), walk, group, I, left == kWide), ...);
#pragma unroll 1
      for (u32 k = 0; k < kPart; ++k, to += apart) {
        out[to] = narrow<Out>(f(chunk_of<I>(lines).get(0)...));
        (chunk_of<I>(lines).template drop<1>(), ...);
      }
      left -= kPart;
      if (kPart == kWide || left == 0) return;
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
      // What follows from the dims is found again for each group: it would take registers between.
      const Walk here{0, 0, unknown(walk.dims), false};
      const Group<kInputs> group = Walker::find(reread(views), here, left - 1, i);
      i += threads;
      if (here.rows()) {
        Batch batch;
        (chunk_of<I>(batch).load(input<In>(I) + group.at[I]), ...);
        compute_chunk(batch, out + group.out);
        continue;
      }
      move_group(here, group);
    }
  }

  // Up to so many blocks a thread takes an element. Of bytes there are too few chunks for all
  // multiprocessors.
  static constexpr u32 kSingleBlocks =
      largest(sizeof(Out) == 1, (sizeof(In) == 1)...) != 0 ? kTwiceBlocks : kFitBlocks;

  // Whether every array begins where a chunk may.
  KILN_DEVICE bool is_aligned() const {
    u64 bits = address_of(out) * (16 / (kCount * sizeof(Out)));
    ((bits |= address_of(in[I]) * (16 / (kCount * sizeof(In)))), ...);
    return bits % 16 == 0;
  }

  // Whether the thread comes behind all elements, where it has nothing to do however the others share
  // them. Asked because code is long before the first load: NVIDIA H200, us for one
  // element of badd_f16 in the reference's geometry 1.18, and 1.11 with this question.
  KILN_DEVICE bool is_behind(u64 numel) const {
    if constexpr (kTuning.small_chunks) return false;
    return thread_number() >= numel;
  }

  // Of small launches of contiguous arrays a thread takes an element: whether it is such a launch.
  KILN_DEVICE bool takes_one(u64 numel) const {
    if (!likely(takes_one_element(numel, kSingleBlocks) & (views.info == nullptr))) return false;
    const u32 mine = thread_number();
    if (mine < static_cast<u32>(numel)) {
      near(out, mine) = narrow<Out>(f(near(input<In>(I), mine)...));
    }
    return true;
  }

  KILN_DEVICE void run(u64 numel) const {
    if (is_surplus_block() || is_behind(numel) || takes_one(numel)) return;
    bool contiguous = views.info == nullptr;
    if constexpr (kTuning.small_chunks) {
      if (contiguous && takes_one_element(numel / kCount) && numel % kCount == 0 && is_aligned()) {
        const u32 first = thread_number() * kCount;
        if (first >= static_cast<u32>(numel)) return;
        Batch batch;
        (chunk_of<I>(batch).load(&near(input<In>(I), first)), ...);
        compute_chunk(batch, &near(out, first));
        return;
      }
    }
    u64 i = thread_number();
    u32 threads = kViewBlocks * 1024;
    if (contiguous || !takes_one_of_views(numel)) {
      if (block_index() >= full_blocks()) return;
      const Spread spread = Spread::in_rows(numel, kSharing == 1, full_blocks());
      if (spread.is_surplus()) return;
      i = spread.self;
      threads = spread.threads;
      const bool aligned = is_aligned();
      if (!contiguous) {
        const bool wide = kTurns && (... & (address_of(in[I]) % 16 == 0)) &&
                          numel / kWide >= resident_threads() / 4 && numel >> 31 == 0;
        const Walk walk = Walker::plan(views, aligned, wide);
        contiguous = walk.contiguous;
        if (!contiguous && (walk.cut() != views.rank || numel > kSmallIndex)) {
          return move_views(walk, spread.self, threads);
        }
      }
      if (contiguous && aligned && (numel / kCount) >> 31 == 0) {
        const u32 chunks = static_cast<u32>(numel / kCount);
        threads = spread.threads_for(chunks / kShare);
        // Where a multiprocessor holds one block, those that leave have room where none works.
        const u32 few = working_blocks() * 1024;
        if (kSharing == 1 && spread.has_one_each && threads > few) threads = few;
        if (spread.self >= threads) return;
        move_chunks(spread.self, threads, chunks);
        i += static_cast<u64>(chunks) * kCount;
      }
    }
#pragma unroll 1
    for (; i < numel; i += threads) {
      const Place<kInputs> place = contiguous ? place_in_order<kInputs>(i)
                                              : find_element(views, static_cast<u32>(i));
      out[i] = narrow<Out>(f(input<In>(I)[place.at[I]]...));
    }
  }
};

// `info` null means contiguous. `f` takes an element of each input and returns a number that
// narrows to Out.
template <u32 kSharing, class Out, class F, class... In>
KILN_DEVICE void elementwise(u64 numel, u64 num_dims, const u64* info, Out* out, const F& f,
                             const In*... in) {
  using Family = Elementwise<kSharing, F, typename MakeSequence<sizeof...(In)>::Type, Out, In...>;
  Family{f, {info, static_cast<u32>(num_dims)}, out, {in...}}.run(numel);
}

}  // namespace kiln::families

// A kernel of this family: `function` of `inputs` (in brackets) into `out`; then its parameters after the
// three of a strided view (device/index.cuh).
#define KILN_ELEMENTWISE(name, function, inputs, ...)                                   \
  inline constexpr kiln::u32 kSharing_##name =                                          \
      kiln::tuning::sharing(#name, kiln::device::kArchitecture);                        \
  KILN_BOUNDED_KERNEL(1024, kSharing_##name, name, kiln::u64 numel, kiln::u64 num_dims, \
                      const kiln::u64* info, __VA_ARGS__) {                             \
    kiln::families::elementwise<kSharing_##name>(numel, num_dims, info, out, function,  \
                                                 KILN_LIST inputs);                     \
  }
