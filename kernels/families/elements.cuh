// out[i] = f(in[place of i]...), for kernels with short code. Contiguous arrays go by chunks of up
// to 16 aligned bytes, as do rows of whole chunks in `where`. Other views go element by element,
// and views that come with a table by its units.
//
// In small launches a thread takes one element. Chunks are read before they are written, and not
// through a read-only cache, so an input may be the output. Some large views have kernels of their
// own (families/cast_tiles.cuh, where_tiles.cuh).
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/inputs.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// ---- places -----------------------------------------------------------------------------------

// Not inlined for sm_80, which is also shipped as PTX: inlining would put a copy into every kernel.
KILN_NOINLINE Place<1> place_outlined(Views<1> views, u64 i) { return find_element(views, i); }
KILN_NOINLINE Place<3> place_outlined(Views<3> views, u64 i) { return find_element(views, i); }

template <u32 N, class Index>
KILN_DEVICE Place<N> place_of(const Views<N>& views, Index i) {
  if constexpr (kArchitecture == tuning::Architecture::kSm80) {
    return place_outlined(views, i);
  } else {
    return find_element(views, i);
  }
}
template <u32 N>
KILN_DEVICE Place<N> place_of(const Views<N>& views, u64 i, bool contiguous) {
  return contiguous ? place_in_order<N>(i) : place_of(views, i);
}

// ---- f8 ---------------------------------------------------------------------------------------

template <class T>
inline constexpr bool kIsF8 = false;
template <>
inline constexpr bool kIsF8<f8_e4m3> = true;

// The conversion in software is long, so kernels for sm_80 call it.
KILN_NOINLINE u32 f8_outlined(f32 x) { return narrow<f8_e4m3>(x).bits; }

template <class T, class C>
KILN_DEVICE T narrow_briefly(C x) {
  if constexpr (kIsF8<T> && sizeof(C) == 4 && kArchitecture == tuning::Architecture::kSm80) {
    return T{static_cast<u8>(f8_outlined(x))};
  } else {
    return narrow<T>(x);
  }
}
template <class T, class C>
KILN_DEVICE u32 narrow_pair_briefly(C first, C second) {
  if constexpr (kIsF8<T> && !kConvertsF8) {
    return narrow_briefly<T>(first).bits | static_cast<u32>(narrow_briefly<T>(second).bits) << 8;
  } else {
    return narrow_pair<T>(first, second);
  }
}

// ---- chunks -----------------------------------------------------------------------------------

// Sets element j of a chunk to number_of(j), narrowed. There are no loops, which compiles faster.
template <class T, u32 kCount, u32... J, class NumberOf>
KILN_DEVICE void set_elements(Chunk<T, kCount>& chunk, Sequence<J...>, const NumberOf& number_of) {
  if constexpr (sizeof(T) == 4) {
    ((chunk.word[J] = bits_of(narrow<T>(number_of(J)))), ...);
  } else {
    (chunk.put(J, narrow<T>(number_of(J))), ...);
  }
}
// The same by words, for elements of at most two bytes.
template <class T, u32 kCount, u32... W, class NumberOf>
KILN_DEVICE void set_words(Chunk<T, kCount>& chunk, Sequence<W...>, const NumberOf& number_of) {
  const auto pair = [&](u32 j) { return narrow_pair_briefly<T>(number_of(j), number_of(j + 1)); };
  if constexpr (sizeof(T) == 2 || kCount == 2) {
    ((chunk.word[W] = pair(2 * W)), ...);
  } else {
    ((chunk.word[W] = pair(4 * W) | pair(4 * W + 2) << 16), ...);
  }
}
template <class T, u32 kCount, class NumberOf>
KILN_DEVICE void set_chunk(Chunk<T, kCount>& chunk, const NumberOf& number_of) {
  if constexpr (sizeof(T) > 2) {
    set_elements(chunk, typename MakeSequence<kCount>::Type(), number_of);
  } else {
    set_words(chunk, typename MakeSequence<Chunk<T, kCount>::kWords>::Type(), number_of);
  }
}

// Maximum number of threads that work: all of a launch with fewer threads than elements, otherwise
// as many as the device holds at once. `kOccupancy` blocks of 1024 threads share a multiprocessor.
template <u32 kOccupancy>
KILN_DEVICE u32 fitting_threads(u64 numel) {
  if (launched_threads() < numel) return ~0u;
  return (kOccupancy == 1 ? multiprocessors() : resident_blocks()) * 1024;
}
// The same for threads that move chunks. They are fewer if there are more chunks than threads, or
// if a multiprocessor holds one block: surplus blocks can then only exit where no block works.
template <u32 kOccupancy>
KILN_DEVICE u32 chunk_threads(u32 fitting, u32 chunks) {
  if (kOccupancy == 1 ? fitting == ~0u : chunks <= fitting) return fitting;
  return working_blocks() * 1024;
}

// Maximum number of blocks that go over a view element by element: as many as have 2^31 threads. If
// it were kAllBlocks, nvcc would keep the choice between them in each thread's registers.
inline constexpr u32 kMaxViewBlocks = 1u << 21;

// ---- one input --------------------------------------------------------------------------------

// out[i] = f(in[place of i]). `info` null means contiguous. The result of `f` narrows to Out.
template <class Out, class In, class F>
struct MapElements {
  static constexpr u32 kCount =
      tuning::per_cast_chunk(sizeof(Out), sizeof(In), kIsF8<Out> || kIsF8<In>, kArchitecture);
  // One-byte types have too few chunks to keep every multiprocessor busy.
  static constexpr u32 kSingleBlocks =
      sizeof(Out) == 1 || sizeof(In) == 1 ? kTwiceBlocks : kFitBlocks;
  static constexpr u32 kShare = share_of(kCount);
  static constexpr bool kMovesRows = tuning::casts_rows(sizeof(Out), sizeof(In));
  using InChunk = Chunk<In, kCount>;

  const F& f;
  Views<1> view;
  ViewTable<1> table;
  Out* out;
  const In* in;

  KILN_DEVICE bool is_aligned() const {
    return (address_of(out) % (kCount * sizeof(Out)) | address_of(in) % (kCount * sizeof(In))) == 0;
  }
  KILN_DEVICE void load(InChunk& chunk, u32 i) const {
    chunk.load(in + static_cast<u64>(i) * kCount);
  }
  KILN_DEVICE void store(const InChunk& chunk, u32 i) const {
    Chunk<Out, kCount> results;
    set_chunk(results, [&](u32 j) { return f(chunk.get(j)); });
    results.store(out + static_cast<u64>(i) * kCount);
  }

  // Moves chunks `i`, `i + threads`, ..., two at a time. Measured on an H200, reference geometry,
  // in us, a chunk is read before each write -> two at a time: cast_f16_f32 of 2^28 elements
  // 525 -> 458.
  KILN_DEVICE void move_chunks(u32 i, u32 threads, u32 end) const {
#pragma unroll 1
    while (i < end) {
      InChunk chunk, next;
      load(chunk, i);
      bool more = i + threads < end;
      if (more) load(next, i + threads);
#pragma unroll 1
      for (;;) {
        store(chunk, i);
        i += threads;
        if (!more) break;
        more = false;
        chunk = next;
      }
    }
  }

  // Moves units `i`, `i + threads`, ... of the table. Measured on an H200, own geometry, in us, one
  // loop for chunks and elements -> two: cast_u8_f32 of 4x112x113x33 permuted 7.1 -> 6.3.
  KILN_DEVICE void move_units(u32 numel, u32 i, u32 threads) const {
    if constexpr (kMovesRows) {
      if (table.has_chunks()) {
#pragma unroll 1
        for (; i < numel / kCount; i += threads) {
          InChunk chunk;
          chunk.load(in + table.find(i).at[0]);
          store(chunk, i);
        }
        return;
      }
    }
#pragma unroll 1
    for (; i < numel; i += threads) out[i] = narrow_briefly<Out>(f(in[table.find(i).at[0]]));
  }

  KILN_DEVICE void run(u64 numel) const {
    // Computed before block_index(), so that the compiler keeps it out of the threads' registers.
    const u32 most = few_or_all_blocks();
    if (!likely(block_index() < most)) {
      if (view.info == nullptr || block_index() >= kMaxViewBlocks) return;
    }
    const u32 self = thread_number();
    if (likely(takes_one_element(numel, kSingleBlocks) & (view.info == nullptr))) {
      if (self < static_cast<u32>(numel)) at32(out, self) = narrow_briefly<Out>(f(at32(in, self)));
      return;
    }
    // Emulated gfx1100, own geometry, lane instructions, without -> with this: cast_f32_f16 of 4,096
    // elements 50,176 -> 25,600. NVIDIA's kernels would take longer in the reference geometry.
    if constexpr (kTuning.small_chunks) {
      if (view.info == nullptr && takes_small_chunk(numel, kCount) && is_aligned()) {
        if (self >= static_cast<u32>(numel / kCount)) return;
        InChunk chunk;
        load(chunk, self);
        return store(chunk, self);
      }
    }
    u32 threads = blocks_up_to(view.info == nullptr ? most : kMaxViewBlocks) * block_size();
    if (!likely(!table.exists()) && (!table.has_chunks() || is_aligned())) {
      move_units(static_cast<u32>(numel), self, threads);
      return;
    }
    u64 i = self;
    const bool contiguous = view.info == nullptr || view.rank == 0;
    if (contiguous) {
      u32 working = fitting_threads<2>(numel), chunks = 0;
      if (is_aligned() && (numel / kCount) >> 31 == 0) {
        chunks = static_cast<u32>(numel / kCount);
        working = chunk_threads<2>(working, chunks / kShare);
      }
      if (threads > working) threads = working;
      if (self >= threads) return;
      move_chunks(self, threads, chunks);
      i += static_cast<u64>(chunks) * kCount;
    }
    if (i >= numel) return;
#pragma unroll 1
    do {
      const u64 from = place_of(view, i, opaque(contiguous) != 0).at[0];
      out[i] = narrow_briefly<Out>(f(in[from]));
      i += threads;
    } while (i < numel);
  }
};

template <class Out, class In, class F>
KILN_DEVICE void map_elements(u64 numel, u64 num_dims, const u64* info, Out* out, const In* in,
                              const F& f) {
  MapElements<Out, In, F>{f, {info, static_cast<u32>(num_dims)}, {info, num_dims}, out, in}.run(
      numel);
}

// ---- where ------------------------------------------------------------------------------------

// Returns the same bits, which makes the compiler load them. It would otherwise load one element
// after the condition is known. Measured on an H200, in us, without -> with this: where_u8_f32 of
// one element 1.24 -> 1.11.
template <class Bits>
KILN_DEVICE Bits force_load(Bits bits) {
  if constexpr (sizeof(Bits) == 8) {
    const u32 low = opaque(static_cast<u32>(bits)), high = opaque(static_cast<u32>(bits >> 32));
    return low | static_cast<u64>(high) << 32;
  } else {
    return static_cast<Bits>(opaque(bits));
  }
}

// out[i] = condition[place] != 0 ? x[place] : y[place], bit by bit. Contiguous arrays may have
// views.
template <u32 kOccupancy, class Bits, class Condition>
struct ChooseElements {
  static constexpr u32 kCount =
      16 / (sizeof(Bits) > sizeof(Condition) ? sizeof(Bits) : sizeof(Condition));
  // True if a chunk may repeat one element.
  static constexpr bool kRepeats = tuning::where_repeats(kCount);

  Views<3> views;
  ViewTable<3> table;
  Bits* out;
  const Condition* condition;
  const Bits* x;
  const Bits* y;

  KILN_DEVICE bool is_aligned() const {
    return ((address_of(out) | address_of(x) | address_of(y)) % (kCount * sizeof(Bits)) |
            address_of(condition) % (kCount * sizeof(Condition))) == 0;
  }
  KILN_DEVICE void move_one(u64 i, const Place<3>& place) const {
    const Condition c = condition[place.at[0]];
    const Bits a = force_load(x[place.at[1]]), b = force_load(y[place.at[2]]);
    out[i] = c != 0 ? a : b;
  }
  KILN_DEVICE void move_chunk(u64 i, const Place<3>& place, u32 repeats) const {
    Chunk<Condition, kCount> c;
    Chunk<Bits, kCount> a, b, results;
    if (!kRepeats || repeats == 0) {
      c.load(condition + place.at[0]);
      a.load(x + place.at[1]);
      b.load(y + place.at[2]);
    } else {
      c.load(condition + place.at[0], (repeats & 1) != 0);
      a.load(x + place.at[1], (repeats & 2) != 0);
      b.load(y + place.at[2], (repeats & 4) != 0);
    }
    set_chunk(results, [&](u32 j) { return c.get(j) != 0 ? a.get(j) : b.get(j); });
    results.store(out + i);
  }

  // Handles launches of contiguous arrays without views in which a thread has one element, or one
  // whole chunk. Returns false for others.
  KILN_DEVICE bool takes_one_in_order(u64 numel, u32 self) const {
    if (likely(takes_one_element(numel, kTwiceBlocks))) {
      if (self < static_cast<u32>(numel)) move_one(self, place_in_order<3>(self));
      return true;
    }
    if (static_cast<bool>(!may_have_chunk_each() | !is_aligned() | (numel % kCount != 0) |
                          !has_chunk_each(numel / kCount))) {
      return false;
    }
    if (self >= static_cast<u32>(numel / kCount)) return true;
    const u64 first = static_cast<u64>(self) * kCount;
    move_chunk(first, place_in_order<3>(first), 0);
    return true;
  }

  // Moves units `i`, `i + threads`, ... of the table.
  KILN_DEVICE void move_units(u64 numel, u32 i, u32 threads) const {
    const u32 units = static_cast<u32>(table.has_chunks() ? numel / kCount : numel);
#pragma unroll 1
    for (; i < units; i += threads) {
      const Place<3> place = table.find(i);
      if (table.has_chunks()) {
        move_chunk(static_cast<u64>(i) * kCount, place, table.bits());
      } else {
        move_one(i, place);
      }
    }
  }

  struct Shape {
    bool contiguous;
    bool rows;    // each input has rows of whole chunks, or repeats an element along each row
    u32 repeats;  // one bit for each input that repeats an element
  };
  KILN_DEVICE Shape shape() const {
    Shape shape{true, true, 0};
    u64 expected = 1;
    u32 bits = 0;
#pragma unroll 1
    for (u32 dim = views.rank; dim != 0;) {
      const bool is_innermost = dim == views.rank;
      dim = opaque(dim - 1);
      const u64 size = views.info[dim];
#pragma unroll
      for (u32 n = 0; n < 3; ++n) {
        const u64 stride = views.stride(n, dim);
        shape.contiguous = shape.contiguous && (stride == expected || size == 1);
        if (is_innermost) {
          shape.rows = shape.rows && (stride == 1 || (kRepeats && stride == 0));
          if (stride == 0) shape.repeats |= 1u << n;
        } else if ((shape.repeats >> n & 1) == 0) {
          bits |= static_cast<u32>(stride);
        }
      }
      if (is_innermost) bits |= static_cast<u32>(size);
      expected *= size;
    }
    shape.rows = shape.rows && bits % kCount == 0;
    return shape;
  }

  KILN_DEVICE void run(u64 numel) const {
    const u32 most = few_or_all_blocks();
    if (block_index() >= most) return;
    const u32 self = thread_number();
    if (!likely(views.info != nullptr)) {
      if (takes_one_in_order(numel, self)) return;
    } else if (!likely(!table.exists()) && (!table.has_chunks() || is_aligned())) {
      return move_units(numel, self, blocks_up_to(most) * block_size());
    } else if (likely(takes_one_element(numel, kTwiceBlocks))) {
      if (self < static_cast<u32>(numel)) move_one(self, place_of(views, self));
      return;
    }
    // Measured on an H200, reference geometry, in us, 512 blocks -> these: where_u8_f32 of
    // 1,000,000 elements 6.6 -> 5.6; of 1000x1000, one operand transposed, 14.0 -> 12.4.
    const u32 full = full_blocks();
    if (block_index() >= full) return;
    bool contiguous = views.info == nullptr || views.rank == 0;
    bool rows = contiguous;
    u32 repeats = 0;
    if (!contiguous) {
      const Shape found = shape();
      contiguous = found.contiguous;
      rows = found.rows || contiguous;
      repeats = contiguous ? 0 : found.repeats;
    }
    u64 i = self, end = numel;
    u32 threads = blocks_up_to(full) * block_size();
    bool chunked = false;
    if (rows) {
      u32 working = fitting_threads<kOccupancy>(numel);
      chunked = is_aligned() && (numel / kCount) >> 31 == 0;
      if (chunked) {
        end = numel / kCount;
        working = chunk_threads<kOccupancy>(working, static_cast<u32>(end));
      }
      if (threads > working) threads = working;
      if (self >= threads) return;
    }
#pragma unroll 1
    for (;;) {
#pragma unroll 1
      for (; i < end; i += threads) {
        const Views<3> again{views.info, opaque(views.rank)};
        if (chunked) {
          const u64 first = i * kCount;
          move_chunk(first,
                     contiguous ? place_in_order<3>(first)
                                : find_chunk(again, static_cast<u32>(i), log_of(kCount)),
                     repeats);
        } else {
          move_one(i, place_of(again, i, contiguous));
        }
      }
      if (end == numel || !chunked) return;
      i = end * kCount + self;
      end = numel;
      chunked = false;
    }
  }
};

template <u32 kOccupancy, class T, class Condition>
KILN_DEVICE void choose_elements(u64 numel, u64 num_dims, const u64* info, T* out,
                                 const Condition* condition, const T* x, const T* y) {
  using B = BitsOf<T>;
  ChooseElements<kOccupancy, B, Condition>{
      {info, static_cast<u32>(num_dims)}, {info, num_dims},
      reinterpret_cast<B*>(out),          condition,
      reinterpret_cast<const B*>(x),      reinterpret_cast<const B*>(y)}
      .run(numel);
}

}  // namespace kiln::families
