// out[i] = f(in[place of i]) for one input, of the output's type. The output is contiguous.
//
// In small launches a thread takes one element, in medium ones of kiln's own geometry one aligned
// 16-byte chunk. Large contiguous arrays go by chunks and single elements behind them. Large views
// go by chunks if their rows consist of whole ones, otherwise by columns (device/columns.cuh) if
// these have several elements. Views that come with a table go by its units. Results of f8 are
// looked up if a block has many elements. Expensive functions of f64 go element by element. Chunks
// are read before they are written, and not through a read-only cache, so the input may be the
// output.
#pragma once

#include "device/columns.cuh"
#include "device/dtypes.cuh"
#include "device/export.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/elements.cuh"
#include "families/inputs.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// True if results are looked up.
static_assert(kConvertsF8 == tuning::converts_f8(kArchitecture));
template <class T>
constexpr bool is_looked_up(tuning::Cost) {
  return false;
}
template <>
constexpr bool is_looked_up<f8_e4m3>(tuning::Cost cost) {
  return tuning::looks_up_f8(cost, kArchitecture);
}

// The function of a copy (families/copy.cuh).
template <class B>
struct Same {
  KILN_DEVICE B operator()(B bits) const { return bits; }
};
template <class F>
inline constexpr bool kIsSame = false;
template <class B>
inline constexpr bool kIsSame<Same<B>> = true;

// ---- plans ------------------------------------------------------------------------------------

// Properties of a kernel.
struct MapTraits {
  u32 log_chunk;          // log2 of the elements of a chunk
  bool rows;              // rows of whole chunks go by chunks
  u32 share;              // chunks per thread up to which all resident threads work
  u32 blocks;             // working blocks of 1024 threads per multiprocessor; 0: working_blocks()
  bool single_occupancy;  // a multiprocessor holds one of the kernel's blocks of 1024 threads
  u32 min_step;           // least distance in the output of neighbours that are taken together
};

// The work of a launch.
struct MapPlan {
  u32 self;     // the thread's number
  u32 threads;  // number of threads that work
  u32 chunks;   // number of chunks that they move, of a contiguous array or of rows
  bool rows;    // the view is not contiguous, but its rows consist of whole chunks
  Columns rest;
};
KILN_DEVICE MapPlan plan_map(const Views<1>& view, u64 numel, bool is_aligned, const Spread& spread,
                             MapTraits traits) {
  MapPlan plan{spread.self, spread.threads, 0, false, Columns::none()};
  if (view.info != nullptr) {
    plan.rest = plan_columns(view, numel, traits.min_step,
                             traits.rows && is_aligned ? traits.log_chunk : 0);
    plan.rows = plan.rest.dims == Columns::kRows;
    if (plan.rows) plan.rest = Columns::none();
  }
  if (plan.rest.dims == Columns::kNone && is_aligned && (numel >> traits.log_chunk) >> 31 == 0) {
    plan.chunks = static_cast<u32>(numel >> traits.log_chunk);
    if (plan.rows) return plan;
    const u32 working = working_blocks(), wanted = traits.blocks * multiprocessors();
    plan.threads = spread.threads_for(plan.chunks / traits.share, wanted == 0 ? working : wanted);
    // If a multiprocessor holds one block, surplus blocks can only exit where no block works.
    if (traits.single_occupancy && spread.has_thread_each && plan.threads > working * 1024) {
      plan.threads = working * 1024;
    }
  }
  return plan;
}

// Not inlined for sm_80, which is also shipped as PTX: inlining would put a copy into every kernel.
KILN_NOINLINE MapPlan plan_outlined(const u64* info, u32 rank, u64 numel, bool is_aligned, u32 most,
                                    MapTraits traits) {
  const Views<1> view{info, rank};
  return plan_map(view, numel, is_aligned, Spread::in_rows(numel, traits.single_occupancy, most),
                  traits);
}
KILN_NOINLINE Column column_outlined(const u64* info, u32 rank, u32 dims, u32 upper, u32 lower) {
  return find_column({info, rank}, dims, upper, lower);
}
KILN_NOINLINE u64 place_outlined(const u64* info, u32 rank, u32 i) {
  return find_element(Views<1>{info, rank}, i).at[0];
}

// ---- launches ---------------------------------------------------------------------------------

// Not members of the family, so that they are compiled once for all kernels.

// The place of a column, or of a view's element in small launches.
inline constexpr bool kMapsOutlined = kArchitecture == tuning::Architecture::kSm80;
template <bool kOutlined>
KILN_DEVICE Column column_of(const Views<1>& view, u32 dims, u32 upper, u32 lower) {
  if constexpr (kOutlined) return column_outlined(view.info, view.rank, dims, upper, lower);
  return find_column(view, dims, upper, lower);
}
template <bool kOutlined>
KILN_DEVICE u64 small_place(const Views<1>& view, u32 i) {
  if constexpr (kOutlined) return place_outlined(view.info, view.rank, i);
  return find_element(view, i).at[0];
}

// Number of blocks up to which each thread takes one element of a view. Columns would take longer.
inline constexpr u32 kMapViewBlocks = tuning::view_blocks(kMachine, false);
static_assert(kMapViewBlocks <= kMaxBlocks && kMapViewBlocks * 1024 <= kSmallIndex);
KILN_DEVICE u32 view_blocks() { return block_size() == 1024 ? kMapViewBlocks : kMaxBlocks; }
// True if each thread takes at most one element of a view.
KILN_DEVICE bool takes_one_of_view(u64 numel) {
  return takes_one_element(numel, view_blocks(), kSmallIndex);
}

// ---- the family -------------------------------------------------------------------------------

// `kOccupancy` blocks of 1024 threads share a multiprocessor. Registers suffice to move rows of
// whole chunks by chunks (`kByRows`), and to compute an expensive function of two elements side by
// side (`kByPairs`).
template <tuning::Cost kCost, u32 kOccupancy, bool kByRows, bool kByPairs, class T, class F>
struct Map {
  static constexpr bool kBrief = kCost == tuning::Cost::kBrief;
  static constexpr bool kByTable = is_looked_up<T>(kCost);
  static constexpr bool kOutlined = kMapsOutlined && !kIsSame<F>;
  static constexpr u32 kCount = 16 / sizeof(T);
  // Expensive functions need all multiprocessors.
  static constexpr u32 kBlocks = kBrief ? 0 : kCost == tuning::Cost::kLongest ? 2 : 1;
  // Three results of eight bytes are less than memory writes at once. Measured on an H100,
  // 16x224x224x3 with channels first, in us, neighbours together -> singly: uneg_f64 45.4 -> 28.4;
  // four-byte elements 24.2 -> 28.0.
  static constexpr u32 kMinStep = sizeof(T) == 8 ? 4 : 1;
  static constexpr MapTraits kTraits{log_of(kCount), kByRows,         share_of(kCount),
                                     kBlocks,        kOccupancy == 1, kMinStep};
  // Words of a chunk that are computed side by side. A loop goes over the others, or compilers
  // would write out both chunks of move_chunks(). Emulated gfx1100, lane instructions, two -> four
  // elements side by side: affine_f32 of 4,096 elements 22,528 -> 12,288. Measured on an H200,
  // reference geometry, 2^24 elements, in us, one -> two of an expensive function: ugelu_f32
  // 48.6 -> 42.1; usilu_f32 44.0 -> 40.0; uexp_f32 37.3 -> 38.1.
  static constexpr u32 kBriefWords = kTuning.small_chunks ? sizeof(T) : sizeof(T) == 4 ? 2 : 1;
  static constexpr bool kPairs = kByPairs && sizeof(T) == 4 && kCost == tuning::Cost::kLong;
  static constexpr u32 kLongWords = kPairs && !kTuning.small_chunks ? 2 : 1;
  static constexpr u32 kWords = sizeof(T) == 8 ? 2 : kBrief ? kBriefWords : kLongWords;
  // The same for a thread's only chunk. Measured on an H200, own geometry, in us, one -> two -> four
  // words: ugelu_f32 of 2^20 elements 2.89 -> 2.72 -> 2.60; ugelu_f16 of 2^21 2.85 -> 2.71 -> 2.65.
  static constexpr u32 kOnlyWords = kTuning.small_chunks ? kWords : kBrief ? 4 : 2;

  // The same for chunks of a table.
  static constexpr u32 kUnitWords = kBrief || sizeof(T) == 8 ? 2 : 1;

  const F& f;
  Views<1> view;
  ViewTable<1> table;
  T* out;
  const T* given;  // null: the output is the input

  KILN_DEVICE const T* in() const { return given == nullptr ? out : given; }
  KILN_DEVICE T result(T x) const { return narrow_briefly<T>(f(x)); }

  // Returns the results of a word's elements, two by one conversion.
  KILN_DEVICE u32 results_of_pair(u32 word) const {
    const auto element = [&](u32 bits) { return bit_cast<T>(static_cast<BitsOf<T>>(bits)); };
    return narrow_pair_briefly<T>(f(element(word)), f(element(word >> 8 * sizeof(T))));
  }
  KILN_DEVICE u32 results(u32 word) const {
    if constexpr (sizeof(T) == 4) {
      return bits_of(result(bit_cast<T>(word)));
    } else if constexpr (sizeof(T) == 2) {
      return results_of_pair(word);
    } else {
      return results_of_pair(word) | results_of_pair(word >> 16) << 16;
    }
  }
  // Returns the bits of the result of eight bytes.
  KILN_DEVICE u64 long_result(u32 low, u32 high) const {
    return bits_of(result(bit_cast<T>(low | static_cast<u64>(high) << 32)));
  }
  // Computes and stores a chunk, `kSide` words side by side. Each step drops the first words and
  // appends their results.
  template <u32 kSide = kWords>
  KILN_DEVICE void move_chunk(Words chunk, T* to) const {
    if constexpr (kIsSame<F>) return store_16_bytes(to, chunk);
    u32(&word)[4] = chunk.word;
#pragma unroll 1
    for (u32 step = 0; step < 4 / kSide; ++step) {
      if constexpr (sizeof(T) == 8 && kSide == 4) {
        const u64 a = long_result(word[0], word[1]), b = long_result(word[2], word[3]);
        chunk = {{static_cast<u32>(a), static_cast<u32>(a >> 32), static_cast<u32>(b),
                  static_cast<u32>(b >> 32)}};
      } else if constexpr (sizeof(T) == 8) {
        const u64 bits = long_result(word[0], word[1]);
        chunk = {{word[2], word[3], static_cast<u32>(bits), static_cast<u32>(bits >> 32)}};
      } else if constexpr (kSide == 4) {
        chunk = {{results(word[0]), results(word[1]), results(word[2]), results(word[3])}};
      } else if constexpr (kSide == 2) {
        chunk = {{word[2], word[3], results(word[0]), results(word[1])}};
      } else {
        chunk = {{word[1], word[2], word[3], results(word[0])}};
      }
    }
    store_16_bytes(to, chunk);
  }

  // Moves chunks `i`, `i + threads`, ...: two at a time of a contiguous array, one at a time of
  // rows.
  KILN_DEVICE void move_chunks(u32 i, u32 threads, u32 end, bool rows) const {
#pragma unroll 1
    while (i < end) {
      u64 place = static_cast<u64>(i) * kCount;
      const bool by_rows = kByRows && opaque(rows) != 0;
      if (by_rows) place = find_chunk(view, i, log_of(kCount)).at[0];
      Words chunk = load_16_bytes(in() + place), next;
      u32 count = 1;
      if (!by_rows && end - i > threads) {
        next = load_16_bytes(in() + static_cast<u64>(i + threads) * kCount);
        count = 2;
      }
#pragma unroll 1
      for (;;) {
        move_chunk(chunk, out + static_cast<u64>(i) * kCount);
        i += threads;
        if (--count == 0) break;
        chunk = next;
      }
    }
  }

  // Moves columns, or the elements of a contiguous array from `start` on.
  KILN_DEVICE void move_columns(const Columns& columns, u64 numel, u64 start, u32 i,
                                u32 threads) const {
    u32 upper = 0;
#pragma unroll 1
    for (;; i += threads) {
#pragma unroll 1
      while (i >= columns.inner) {
        i -= columns.inner;
        ++upper;
      }
      const u32 dims = opaque(columns.dims);  // hidden, or each kind would get its own code
      const u64 first = start + static_cast<u64>(upper) * columns.inner + i;
      if (first >= numel || (upper != 0 && Columns::split(dims) == 0)) return;
      Column column{first, first, 0, 0, 1};
      if (dims != Columns::kNone) {
        column = column_of<kOutlined>(view, dims, upper, i);
        if (column.count == 0) continue;
        if (Columns::split(dims) != 0) column.to = first;
      }
      const T* from = in() + column.at;
      T* to = out + column.to;
      T next = *from;
#pragma unroll 1
      for (;;) {
        const T x = next;
        if (--column.count != 0) {
          from += column.step;
          next = *from;
        }
        *to = result(x);
        if (column.count == 0) break;
        to += column.to_step;
      }
    }
  }

  // True if large views may go by single elements. The most expensive functions lack the registers
  // for the loop, and take longer than finding elements.
  static constexpr bool kLoopsSingly = kCost != tuning::Cost::kLongest;

  // Moves elements `i`, `i + threads`, ... of a view of fewer than 2^31. Small views go this way, and
  // large ones that have no columns of several elements, which takes fewer instructions than columns
  // of one. Measured on an H100, reference geometry, in us, as columns -> this: uneg_f32 of
  // 12x224x224x3 with two dims swapped 22.8 -> 14.6, of 16x1024x32x32 180 -> 110; ucopy_f32 of
  // 16x224x224x3 28.3 -> 17.5.
  KILN_DEVICE void move_singles(u64 numel, u32 i, u32 threads) const {
#pragma unroll 1
    for (; i < static_cast<u32>(numel); i += threads) {
      out[i] = result(in()[small_place<kOutlined>(view, i)]);
    }
  }

  static constexpr bool kIsLongest = kCost == tuning::Cost::kLongest;
  static constexpr bool kIsWide = sizeof(T) == 8 && !kIsSame<F>;
  static constexpr u32 kThrice = 3 * kFitBlocks;
  static constexpr u32 kHalfMore =
      kTwiceBlocks < 3 * kFitBlocks / 2 ? kTwiceBlocks : 3 * kFitBlocks / 2;
  // Number of blocks that do work in large launches. One-byte types have too few chunks to keep
  // every multiprocessor busy. Measured on an H200, reference geometry, in us, 660 blocks -> these:
  // uneg_f16 of 2^20 elements 3.50 -> 3.20; uneg_f32 of 2^20 4.48 -> 4.20; uneg_f64 of 700,000
  // 4.88 -> 4.65.
  static constexpr u32 kWorkingBlocks = sizeof(T) == 1 || kIsWide ? kTwiceBlocks
                                        : kIsLongest              ? kThrice
                                        : kBrief                  ? kFitBlocks
                                                                  : kHalfMore;
  // Maximum number of blocks for one element per thread. Measured on an H200, reference geometry, in
  // us, by chunks -> singly, operands in the cache; in memory: uneg_f32 of 524,288 elements
  // 2.72 -> 2.34; 3.48 -> 3.71. uneg_f16 of 383,617 2.48 -> 2.04; 2.97 -> 3.02. ugelu_f32 of 786,432
  // 3.94 -> 3.44; 4.46 -> 4.93. ucopy_f16 of 524,288 2.29 -> 2.10; 2.80 -> 3.35.
  static constexpr u32 single_blocks() {
    if (kTuning.small_chunks) return kWorkingBlocks;
    if (sizeof(T) == 1) return kIsLongest ? kThrice : kTwiceBlocks;
    if (kIsSame<F>) return kFitBlocks;
    if (kIsWide || kIsLongest) return kThrice;
    if (kBrief) return sizeof(T) == 4 ? kTwiceBlocks : kHalfMore;
    return sizeof(T) == 4 ? kThrice : kTwiceBlocks;
  }
  static constexpr u32 kSingleBlocks = single_blocks();

  // True if all blocks share work of less than a chunk for each thread. Code for sm_80 lacks the
  // registers. Measured on an H200, reference geometry, in us, by the first blocks -> by all:
  // unormcdf_f16 of 700,000 elements 6.17 -> 4.64; but of 2,000,000, a chunk for almost every
  // thread, 8.47 -> 8.86.
  static constexpr bool kScatters =
      kCost == tuning::Cost::kLongest && kArchitecture != tuning::Architecture::kSm80;

  static_assert(kWorkingBlocks <= kMaxBlocks && kSingleBlocks <= kMaxBlocks);
  KILN_DEVICE static u32 max_blocks() { return block_size() == 1024 ? kWorkingBlocks : kMaxBlocks; }

  // True if both arrays are aligned for chunks.
  KILN_DEVICE bool is_aligned() const { return (address_of(out) | address_of(in())) % 16 == 0; }

  // True if threads behind the last element exit at once. They do not if a block meets to fill a
  // table, nor on AMD, where that does not speed up the other waves.
  static constexpr bool kMayEnd = !kByTable && !kTuning.small_chunks;

  // Entry point of every thread. Exits early if the thread has no work, computes one element if the
  // launch has a thread for each, and otherwise calls `further`. A large launch in the reference
  // geometry takes as long as its blocks need to exit, most of them at the first check. A small
  // launch takes as long as its checks wait for each other.
  //
  // Measured on an H200, reference geometry, in us: uneg_f16 of 2^27 elements without the first
  // check -> with it 177 -> 166; affine_f32 of one element if every thread checks for a surplus
  // block -> here 1.05 -> 0.97.
  template <class Further>
  KILN_DEVICE void start(u64 numel, const Further& further) const {
    if (block_index() >= kMaxBlocks) return;
    const bool may_be_surplus = block_index() >= kWorkingBlocks;
    if (may_be_surplus && block_size() == 1024 &&
        ((kTuning.small_chunks && view.info == nullptr) ||
         block_count() > (view.info == nullptr ? kSingleBlocks : kMapViewBlocks))) {
      return;
    }
    if ((kSingleBlocks > kWorkingBlocks || !may_be_surplus) && block_count() <= kSingleBlocks) {
      if (kMayEnd && thread_number() >= numel) return;
      if ((view.info == nullptr) & (block_count() * block_size() >= numel)) {
        const u32 mine = thread_number();
        if (kMayEnd || mine < static_cast<u32>(numel)) at32(out, mine) = result(at32(in(), mine));
        return;
      }
    }
    further();
  }

  // For expensive functions of f64. They take longer than memory and need the registers, so no
  // thread of the reference geometry exits early. Measured on an H200, reference geometry, in us,
  // by chunks -> singly: ugelu_f64 of 2^20 elements 10.8 -> 7.8.
  KILN_DEVICE void run_singly(u64 numel) const {
    const u64 threads = launched_threads();
    u64 i = static_cast<u64>(block_index()) * block_size() + thread_index();
#pragma unroll 1
    for (; i < numel; i += threads) {
      out[i] = result(in()[view.info == nullptr ? i : find_element(view, i).at[0]]);
    }
  }

  static constexpr bool kTakesTail = tuning::takes_tail(kCost);
  // Handles launches with a thread for each whole chunk. Returns false for others. On AMD these are
  // small, and each instruction counts.
  KILN_DEVICE bool takes_one_chunk(u64 numel) const {
    if constexpr (kTuning.small_chunks) {
      if (view.info != nullptr || !takes_small_chunk(numel, kCount) || !is_aligned()) return false;
      const u32 first = thread_number() * kCount;
      if (first < static_cast<u32>(numel)) {
        move_chunk(load_16_bytes(&at32(in(), first)), &at32(out, first));
      }
      return true;
    }
    if (!may_have_chunk_each()) return false;
    u32 rest = static_cast<u32>(address_of(out) | address_of(in())) % 16;
    if (!kTakesTail) rest |= static_cast<u32>(numel) % kCount;
    if (static_cast<bool>((view.info != nullptr) | (rest != 0) | (block_count_y() != 1) |
                          !has_chunk_each(numel / kCount))) {
      return false;
    }
    const u32 mine = thread_number();
    if (mine < static_cast<u32>(numel / kCount)) {
      const u64 first = static_cast<u64>(mine) * kCount;
      move_chunk<kOnlyWords>(load_16_bytes(in() + first), out + first);
    }
    if constexpr (kTakesTail) {
      u64 i = numel / kCount * kCount + mine;
#pragma unroll 1
      for (; i < numel; i += block_count() * block_size()) out[i] = result(in()[i]);
    }
    return true;
  }

  // True if there is a table, and its units may be accessed.
  KILN_DEVICE bool has_table() const {
    return table.exists() && (!table.has_chunks() || is_aligned());
  }

  // Moves the units of the table by `threads` threads.
  KILN_DEVICE void move_units(u64 numel, u32 threads) const {
    const u32 units = static_cast<u32>(table.has_chunks() ? numel / kCount : numel);
    u32 i = thread_number();
    if (i >= threads) return;
#pragma unroll 1
    for (; i < units; i += threads) {
      const T* from = in() + table.find(i).at[0];
      if (table.has_chunks()) {
        move_chunk<kUnitWords>(load_16_bytes(from), out + static_cast<u64>(i) * kCount);
      } else {
        out[i] = result(*from);
      }
    }
  }

  // Handles launches without a table that start() and takes_one_chunk() do not.
  KILN_DEVICE void run_further(u64 numel) const {
    u32 i = thread_number(), threads = 1u << 31;
    if (view.info == nullptr || !takes_one_of_view(numel)) {
      const MapPlan plan = planned(numel);
      if (plan.self >= plan.threads) return;
      if (!kLoopsSingly || plan.rest.dims != Columns::kSingle) return run_planned(plan, numel);
      i = plan.self;
      threads = plan.threads;
    }
    move_singles(numel, i, threads);
  }
  // Handles launches whose threads take more than one element.
  KILN_DEVICE void run_many(u64 numel) const {
    const MapPlan plan = planned(numel);
    if (plan.self >= plan.threads) return;
    if (!kLoopsSingly || plan.rest.dims != Columns::kSingle) return run_planned(plan, numel);
    move_singles(numel, plan.self, plan.threads);
  }
  // Threads without work have a number that is not below `threads`.
  KILN_DEVICE MapPlan planned(u64 numel) const {
    if constexpr (kOutlined) {
      return plan_outlined(view.info, view.rank, numel, is_aligned(), max_blocks(), kTraits);
    }
    const Spread spread = Spread::in_rows(numel, kTraits.single_occupancy, max_blocks());
    if (spread.is_surplus()) return {0, 0, 0, false, Columns::none()};
    return plan_map(view, numel, is_aligned(), spread, kTraits);
  }
  KILN_DEVICE void run_planned(const MapPlan& plan, u64 numel) const {
    u32 mine = plan.self;
    if (kScatters && plan.chunks != 0 && plan.chunks <= plan.threads / 3 * 2) {
      mine = scattered_number(mine, plan.threads);
    }
    move_chunks(mine, plan.threads, plan.chunks, plan.rows);
    move_columns(plan.rest, numel, static_cast<u64>(plan.chunks) * kCount, mine, plan.threads);
  }

  // Small launches on AMD, where each instruction counts, do not test for a table.
  KILN_DEVICE void run(u64 numel) const {
    start(numel, [&] {
      if (kTuning.small_chunks && takes_one_chunk(numel)) return;
      if (likely(!has_table())) {
        if (!kTuning.small_chunks && takes_one_chunk(numel)) return;
        return run_further(numel);
      }
      move_units(numel, blocks_up_to(max_blocks()) * block_size());
    });
  }
};

// Maps the bits of an f8 to the bits of its result.
struct Lookup {
  const u8* results;
  KILN_DEVICE u8 operator()(u8 bits) const { return results[bits]; }
};

// Not a member of a template, so that its name in PTX is short.
KILN_DEVICE u8* lookup_table() {
  KILN_SHARED(results, u8[256]);
  return results;
}

// Handles functions of f8 of many elements, or of views, by all threads of a block together.
template <u32 kOccupancy, class T, class Family>
KILN_DEVICE void run_by_table(const Family& family, u64 numel) {
  const Views<1>& view = family.view;
  if (view.info != nullptr && takes_one_of_view(numel)) {
    const u32 mine = thread_number();
    if (mine >= static_cast<u32>(numel)) return;
    family.out[mine] = family.result(family.in()[small_place<Family::kOutlined>(view, mine)]);
    return;
  }
  const Spread spread(numel, Family::kTraits.single_occupancy, Family::max_blocks());
  if (spread.self - thread_index() >= spread.threads) return;  // whole blocks: they meet below
  u8* const results = lookup_table();
#pragma unroll 1
  for (u32 i = thread_index(); i < 256; i += block_size()) {
    results[i] = bits_of(family.result(bit_cast<T>(static_cast<u8>(i))));
  }
  barrier();
  const Lookup lookup{results};
  const Map<tuning::Cost::kBrief, kOccupancy, true, false, u8, Lookup> looked{
      lookup, view, family.table, reinterpret_cast<u8*>(family.out),
      reinterpret_cast<const u8*>(family.given)};
  if (likely(!looked.has_table())) return looked.run_many(numel);
  looked.move_units(numel, spread.threads);
}

// `info` null means contiguous, `in` null that the output is the input. `f` takes an element and
// returns a number that narrows to T.
template <tuning::Cost kCost, u32 kOccupancy, bool kByRows, bool kByPairs, class T, class F>
KILN_DEVICE void map(u64 numel, u64 num_dims, const u64* info, T* out, const F& f, const T* in) {
  using Family = Map<kCost, kOccupancy, kByRows, kByPairs, T, F>;
  const Family family{f, {info, static_cast<u32>(num_dims)}, {info, num_dims}, out, in};
  if constexpr (Family::kByTable) {
    family.start(numel, [&] { run_by_table<kOccupancy, T>(family, numel); });
  } else if constexpr (kCost != tuning::Cost::kBrief && sizeof(T) == 8) {
    family.run_singly(numel);
  } else {
    family.run(numel);
  }
}

}  // namespace kiln::families

// Defines a kernel that applies `function` to `input` and writes to `out`. Its own parameters
// follow the three of a strided view (device/index.cuh).
#define KILN_MAP(name, cost, function, input, ...)                                         \
  inline constexpr kiln::u32 kOccupancy_##name =                                           \
      kiln::tuning::occupancy(#name, kiln::device::kArchitecture);                         \
  inline constexpr kiln::tuning::Cost kCost_##name =                                       \
      kiln::tuning::cost_of(#name, kiln::tuning::Cost::k##cost);                           \
  inline constexpr bool kByRows_##name = kiln::tuning::moves_rows(#name);                  \
  inline constexpr bool kByPairs_##name = kiln::tuning::computes_pairs(#name);             \
  KILN_BOUNDED_KERNEL(1024, kOccupancy_##name, name, kiln::u64 numel, kiln::u64 num_dims,  \
                      const kiln::u64* info, __VA_ARGS__) {                                \
    kiln::families::map<kCost_##name, kOccupancy_##name, kByRows_##name, kByPairs_##name>( \
        numel, num_dims, info, out, function, input);                                      \
  }
