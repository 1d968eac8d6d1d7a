// How elementwise kernels, fills and copies are spread over a GPU: measured parameters, and kiln's
// own geometry that follows from them. Plain C++17, for device code and host programs.
#pragma once

#include "architecture.hpp"

namespace kiln::tuning {

// The cost of a function beside its memory accesses.
enum class Cost { kBrief, kLong, kLongest };

struct Elementwise {
  // Number of blocks of 1024 threads that do all the work, for every eight multiprocessors. Applies
  // to launches that have a thread for every element but do not fit on the device at once. The
  // other blocks exit early, for which the multiprocessors without a working block have room.
  unsigned working_blocks;
  // kiln's own geometry: threads per block, and 16-byte chunks per thread once there are more
  // chunks than threads on the device.
  unsigned threads;
  unsigned chunks;
  // True if a thread of a small launch takes a chunk, not an element.
  bool small_chunks;
  // True if a thread of a large launch takes a few chunks and exits. Otherwise as many threads as
  // the device holds go over all chunks. On a host these would each walk through the whole array.
  bool exits;
};

// Architectures without measurements use defaults: all resident blocks work.
constexpr Elementwise elementwise(Architecture architecture) {
  switch (architecture) {
    // Measured on an H200, reference geometry, in us, for working_blocks = 4, 5, 6, 8 (the
    // original): affine_f32 of 2^27 elements 300, 280, 286, 312 (500); usilu_bf16 of 2^28 401, 429,
    // 454, 427 (971); uexp_f32 336, 321, 340, 312.
    case Architecture::kSm90: return {5, 128, 2, false, true};
    case Architecture::kSm80:
    case Architecture::kSm100: return {5, 128, 2, false, true};
    case Architecture::kSm75:
    case Architecture::kSm86:
    case Architecture::kSm89:
    case Architecture::kSm120: return {16, 128, 2, false, true};
    case Architecture::kHost: return {16, 128, 2, true, true};
    // With AMD's compilers a 16-byte access takes few instructions, and waves of 64 lanes do better
    // with fewer threads.
    default: return {16, 128, 2, true, false};
  }
}

// Kernels that need more than 32 registers per thread, the limit at which two blocks of 1024
// threads share a multiprocessor: with 32, they would spill. Given by the beginning and end of
// their names.
// Measured on an H200, 2^22 elements, in us, two blocks -> one, in kiln's own geometry and in the
// reference geometry: bdiv_f32 20.7 -> 14.6, 26.0 -> 17.8; where_u8_u8 7.6 -> 8.0, 11.0 -> 15.9;
// uerf_fp8_e4m3, which needs no more than 32, 8.1 -> 8.9, 11.0 -> 15.1.
struct Names {
  const char* root;
  const char* suffix;
};
inline constexpr Names kAlone[] = {
    {"where_i", ""},      {"where_", "64"}, {"where_", "u8"}, {"where_", "e4m3"},
    {"where_u32_", "32"}, {"bdiv_", "u8"},  {"bdiv_", "32"},  {"bdiv_", "64"},
    {"badd_", "64"},      {"bsub_", "64"},  {"bmul_", "64"},  {"bmaximum_", "64"},
    {"bminimum_", "64"},  {"eq_", "64"},    {"ne_", "64"},    {"lt_", "64"},
    {"le_", "64"},        {"gt_", "64"},    {"ge_", "64"},
};
// Further such kernels on targets other than sm_90, for which the compiler needs a register or two
// more.
inline constexpr Names kAloneElsewhere[] = {
    {"where_u8_", "16"}, {"where_u8_", "32"}, {"where_u32_", "16"},
    {"usin_", "f32"},    {"ucos_", "f32"},
};

constexpr unsigned length(const char* text) {
  unsigned count = 0;
  while (text[count] != 0) ++count;
  return count;
}
constexpr bool stands_at(const char* name, const char* part, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    if (name[i] != part[i]) return false;
  }
  return true;
}
constexpr bool is_one_of(const Names& names, const char* name) {
  const unsigned all = length(name), root = length(names.root), suffix = length(names.suffix);
  return root + suffix <= all && stands_at(name, names.root, root) &&
         stands_at(name + all - suffix, names.suffix, suffix);
}
template <unsigned kCount>
constexpr bool is_any_of(const Names (&list)[kCount], const char* name) {
  for (const Names& each : list) {
    if (is_one_of(each, name)) return true;
  }
  return false;
}
// Number of blocks of 1024 threads of an elementwise kernel that are to share a multiprocessor.
constexpr unsigned occupancy(const char* name, Architecture architecture) {
  if (is_any_of(kAlone, name)) return 1;
  return architecture != Architecture::kSm90 && is_any_of(kAloneElsewhere, name) ? 1 : 2;
}

// Functions of one operand that lack the registers to move the rows of a view by chunks, and
// expensive ones of four bytes that lack them to compute two elements side by side.
inline constexpr Names kWithoutRows[] = {{"usin_", "bf16"}, {"ucos_", "bf16"}, {"unormcdf_", "16"}};
inline constexpr Names kWithoutPairs[] = {{"usin_", "f32"}, {"ucos_", "f32"}};
constexpr bool moves_rows(const char* name) { return !is_any_of(kWithoutRows, name); }
constexpr bool computes_pairs(const char* name) { return !is_any_of(kWithoutPairs, name); }

// True if a function's results of f8 are looked up: f8 has only 256 numbers. Measured on an H200,
// own geometry, 2^26 elements, in us, computed -> looked up: upowf 227 -> 41; uerf 93 -> 40; uexp
// 38 -> 40.
constexpr bool looks_up_f8(Cost cost, Architecture architecture) {
  return cost != Cost::kBrief || !converts_f8(architecture);
}

// Number of elements of a chunk of a cast. Conversions of f8 in software are long, and are written
// out for each element.
constexpr unsigned per_cast_chunk(unsigned out_bytes, unsigned in_bytes, bool has_f8,
                                  Architecture architecture) {
  const unsigned fit = 16 / (out_bytes > in_bytes ? out_bytes : in_bytes);
  return has_f8 && !converts_f8(architecture) && fit > 4 ? 4 : fit;
}

// True if casts move the rows of a view by chunks. Chunks of two elements would gain little.
constexpr bool casts_rows(unsigned out_bytes, unsigned in_bytes) {
  return in_bytes <= 4 && out_bytes <= 4;
}

// True if functions of one operand whose threads have a chunk each may also take the elements
// behind the last whole chunk. The code of others would be long.
constexpr bool takes_tail(Cost cost) { return cost == Cost::kBrief; }

// Kernels that cost more than their module's table says.
struct Costly {
  Names names;
  Cost cost;
};
inline constexpr Costly kCostly[] = {
    // Functions that, in the reference geometry, are fastest with two working blocks of 1024
    // threads per multiprocessor instead of one.
    // Measured on an H200, 2^22 elements, in us, one -> two, f32 and f16: unormcdf 24.4 -> 17.0,
    // 22.0 -> 15.5; upowf 21.0 -> 15.4, 18.2 -> 13.7; ugelu_erf 17.3 -> 14.0, 14.5 -> 12.0; uerf
    // 15.3 -> 13.5, 12.5 -> 10.9; ulog_f16 11.5 -> 10.6; but uexp 11.2 -> 13.3, 8.0 -> 9.1.
    {{"unormcdf_", ""}, Cost::kLongest},
    {{"upowf_", ""}, Cost::kLongest},
    {{"ugelu_erf_", ""}, Cost::kLongest},
    {{"uerf_", ""}, Cost::kLongest},
    {{"ulog_", "16"}, Cost::kLongest},
    // Divisions of small elements.
    // Measured likewise, as brief -> as long functions: urecip_bf16 9.7 -> 8.4; usqrt_f16
    // 9.4 -> 8.4; of f8, which then uses a lookup table, urecip 10.3 -> 7.9 and usqrt 9.4 -> 7.9,
    // or in kiln's own geometry 7.5 -> 4.8 and 6.3 -> 4.8.
    {{"urecip_", "16"}, Cost::kLong},
    {{"urecip_", "e4m3"}, Cost::kLong},
    {{"usqrt_", "16"}, Cost::kLong},
    {{"usqrt_", "e4m3"}, Cost::kLong},
};
constexpr Cost cost_of(const char* name, Cost cost) {
  for (const Costly& each : kCostly) {
    if (is_one_of(each.names, name)) return each.cost;
  }
  return cost;
}

// Blocks of 128 threads of a grid that has rows of blocks along y. All of them work in any kernel.
inline constexpr unsigned kRowOfBlocks = 512;

// Maximum number of blocks that do work, however many are launched. Further blocks exit early,
// which is cheapest if one comparison decides it. As many blocks of 128 threads as the GPU holds,
// rounded up to a power of two.
constexpr unsigned max_blocks(const Machine& machine) {
  unsigned blocks = kRowOfBlocks;
  while (blocks * 128 < machine.multiprocessors * machine.threads) blocks *= 2;
  return blocks;
}

// Maximum number of blocks of 1024 threads, or of as many threads in smaller blocks, in which each
// thread takes one element of a view. In larger launches a thread takes a group of elements. `rows`
// is for kernels that move whole chunks, whose groups cost less.
// Measured on an H200, reference geometry, in us, an element and a group: uexp_f32 of 8x512x4x64
// permuted 9.1, 12.6, of 2x64x64x160 channels first 14.1, 15.1, of 1300x1500 transposed 17.5, 14.5;
// badd_f32 of 2x56x56x128 channels first 10.6, 11.6, of 1024x1024 transposed 11.7, 8.9.
constexpr unsigned view_blocks(const Machine& machine, bool rows) {
  const unsigned fit = fitting_blocks(largest_for(machine));
  const unsigned wanted = rows ? 5 * fit / 2 : 5 * fit;
  return wanted < 2048 ? wanted : 2048;
}

// How large grids grow: along x, or by rows of blocks along y, since surplus blocks along x exit
// early (families/map.cuh).
enum class Grid { kLine, kRows };

struct Launch {
  unsigned blocks;
  unsigned threads;
  unsigned rows = 1;  // of blocks, along y
};

// Launches that are larger than what the device holds at once, but not much.
struct Medium {
  bool single_occupancy;  // a multiprocessor holds one of the kernel's blocks of 1024 threads
  unsigned chunks;        // maximum number of chunks for each thread that the device holds
  unsigned threads = 0;   // of a block; 0: 128 or 256
};

// A device to launch on.
struct Spread {
  const Machine& machine;
  unsigned multiprocessors;

  constexpr unsigned long long resident() const {
    return static_cast<unsigned long long>(multiprocessors) * machine.threads;
  }
  // Maximum number of elements that kernels take one per thread in two rounds of blocks
  // (families/spread.cuh).
  constexpr unsigned long long twice() const {
    const unsigned long long most = max_blocks(machine) / 8 * 1024ull;
    return 2 * resident() < most ? 2 * resident() : most;
  }
  // Maximum number of elements of a view that kernels which move whole chunks take one per thread,
  // in blocks of 256.
  constexpr unsigned long long few_of_view() const {
    const unsigned long long here = 5 * resident() / 2;
    const unsigned long long kernels = view_blocks(machine, true) * 1024ull;
    const unsigned long long blocks = max_blocks(machine) * 256ull;
    const unsigned long long least = kernels < blocks ? kernels : blocks;
    return here < least ? here : least;
  }
  constexpr Launch over(unsigned long long threads, unsigned block) const {
    const unsigned long long blocks = (threads + block - 1) / block;
    const unsigned long long fit = resident() / block;  // kernels loop over the rest
    return {static_cast<unsigned>(blocks < 1 ? 1 : blocks > fit ? fit : blocks), block};
  }
  // A thread for each element, in as few blocks as give `wanted` multiprocessors one each.
  constexpr Launch one_each(unsigned long long elements, unsigned wanted) const {
    unsigned block = 128;
    while (block < 1024 && elements > static_cast<unsigned long long>(block) * wanted) block *= 2;
    return over(elements, block);
  }
  constexpr Launch one_each(unsigned long long elements) const {
    return one_each(elements, multiprocessors);
  }
  // A thread for each element, however many there are. For functions that take longer than memory,
  // and for small views. On a host, threads are iterations of a loop, so one_each() serves.
  // Measured on an H200, in us, one_each() -> this: upowf_f64 of 200,000 elements 4.1 -> 3.7, of
  // 2^24 163 -> 142, of 4096x4096 transposed 220 -> 190. Blocks of 512 and 1024 threads -> this:
  // uexp_f32 of 59,136 elements permuted 2.3 -> 2.2, of 302,592 4.2 -> 3.7.
  constexpr Launch singly(unsigned long long elements) const {
    if (machine.architecture == Architecture::kHost) return one_each(elements);
    const unsigned block = elements > 128ull * multiprocessors ? 256 : 128;
    return {static_cast<unsigned>((elements + block - 1) / block), block};
  }

  // Contiguous arrays, `per_chunk` elements to a chunk. Small arrays give half of the
  // multiprocessors a block. `single_occupancy` says that a multiprocessor holds only one of the
  // kernel's blocks of 1024 threads. Measured on an H200, 2^14 elements, in us, 128 blocks -> 64:
  // affine_f32 1.27 -> 1.21; badd_f16 1.33 -> 1.26; cast_bf16_f16 1.31 -> 1.25.
  constexpr Launch contiguous(unsigned long long elements, unsigned per_chunk,
                              bool single_occupancy = false) const {
    return contiguous(elements, per_chunk, single_occupancy,
                      elementwise(machine.architecture).threads);
  }
  constexpr Launch contiguous(unsigned long long elements, unsigned per_chunk,
                              bool single_occupancy, unsigned block) const {
    const Elementwise row = elementwise(machine.architecture);
    const unsigned long long chunks = (elements + per_chunk - 1) / per_chunk;
    if (elements <= (single_occupancy ? 1024ull * multiprocessors : resident())) {
      return row.small_chunks ? one_each(chunks) : one_each(elements, (multiprocessors + 1) / 2);
    }
    return over(chunks <= resident() ? chunks : (chunks + row.chunks - 1) / row.chunks, block);
  }
  // The same for kernels that take any number of blocks. Each thread of a large array moves a few
  // chunks and exits, so that at any time all blocks access neighbouring memory. Measured on an
  // H200, own geometry, in us, resident threads over all chunks -> threads that exit: affine_f32
  // 2^28 543 -> 511; uexp_f16 2^28 277 -> 255; badd_f32 2^28 773 -> 734; cast_f32_f64 2^28 848 ->
  // 785. One chunk a thread in place of two: affine_f32 507; cast_f32_f64 787; cast_f32_f16 367 ->
  // 392.
  constexpr Launch exiting(unsigned long long elements, unsigned per_chunk, bool single_occupancy,
                           bool is_long, Grid grid) const {
    const Elementwise row = elementwise(machine.architecture);
    const Launch resident_blocks = contiguous(elements, per_chunk, single_occupancy, row.threads);
    const unsigned long long chunks = elements / per_chunk;
    if (chunks <= 4 * resident()) return resident_blocks;
    // A thread of a kernel that computes long takes four chunks. Measured in us, resident threads,
    // two chunks, four: H200, upowf_f32 2^28 618, 686, 616; badd_f8_e4m3 2^28 211, 213, 199; H100,
    // unormcdf_f32 2^27 411, 397, 365.
    return exiting(chunks, is_long ? 4 : row.chunks, row.threads, grid, resident_blocks);
  }
  // Aligned contiguous arrays, for kernels that ask has_chunk_each() (families/spread.cuh): a
  // thread for each chunk in medium launches, `otherwise` in others.
  // Measured on an H200, own geometry, in us, resident threads over all chunks -> a thread for
  // each, operands in the cache; in memory: uneg_f32 of 2^20 elements 2.85 -> 2.51; 4.24 -> 3.92.
  // ugelu_f32 of 2^20 3.71 -> 2.66; 4.44 -> 3.96. Blocks of 128 -> 256 threads: uneg_f16 of 2^22
  // 3.64 -> 3.56.
  constexpr Launch chunked(unsigned long long elements, unsigned per_chunk, const Medium& medium,
                           const Launch& otherwise) const {
    const unsigned long long chunks = elements / per_chunk;
    const unsigned block = medium.threads != 0 ? medium.threads : chunks <= resident() ? 128 : 256;
    const unsigned long long most = 1ull * max_blocks(machine) * block;
    if (elements <= (medium.single_occupancy ? 1024ull * multiprocessors : resident()) ||
        chunks > medium.chunks * resident() || chunks > most ||
        elementwise(machine.architecture).small_chunks) {
      return otherwise;
    }
    return {static_cast<unsigned>((chunks + block - 1) / block), block};
  }
  // Strided views: at most as many threads as the device holds.
  constexpr Launch strided(unsigned long long elements, unsigned block) const {
    if (elements <= resident()) return one_each(elements);
    const unsigned long long groups = (elements + 3) / 4;
    return over(groups < resident() ? groups : resident(), block);
  }
  constexpr Launch strided(unsigned long long elements) const {
    return strided(elements, elementwise(machine.architecture).threads);
  }
  // The same for a copy kernel, whose blocks have shared memory to transpose tiles, equally much in
  // any block. If the view is transposed, a block is one team of threads. Otherwise blocks are
  // large enough to fill a multiprocessor.
  constexpr Launch copied(unsigned long long elements, bool turned) const {
    return strided(elements, turned ? 256 : kCopyThreads);
  }
  // The same for contiguous arrays. Measured on an H200, ucopy_f32, in us, blocks of 128 -> 512:
  // 600,000 elements 3.69 -> 3.25; 1,000,000 4.80 -> 4.02; 2^22 10.9 -> 10.3; 2^26 141 -> 139. A
  // large array goes by blocks that exit, as exiting() has them. Measured on an H200, ucopy_f16, in
  // us, 2^28 elements: by resident blocks 276, by blocks of 128 threads that exit 286, of 256 259.
  constexpr Launch copied_contiguous(unsigned long long elements, unsigned per_chunk) const {
    const Launch resident_blocks = contiguous(elements, per_chunk, false, kCopyThreads);
    const unsigned long long chunks = elements / per_chunk;
    if (chunks <= 8 * resident()) return resident_blocks;
    return exiting(chunks, 2, 256, Grid::kRows, resident_blocks);
  }
  static constexpr unsigned kCopyThreads = 512;

 private:
  // A thread for every `each` chunks, or `resident_blocks` if the architecture prefers those.
  constexpr Launch exiting(unsigned long long chunks, unsigned each, unsigned block, Grid grid,
                           const Launch& resident_blocks) const {
    if (!elementwise(machine.architecture).exits || chunks >> 31 != 0) return resident_blocks;
    const unsigned long long of_block = 1ull * each * block;
    const unsigned long long blocks = (chunks + of_block - 1) / of_block;
    const unsigned rows =
        grid == Grid::kRows ? static_cast<unsigned>((blocks + kRowOfBlocks - 1) / kRowOfBlocks) : 1;
    return {static_cast<unsigned>((blocks + rows - 1) / rows), block, rows};
  }
};

}  // namespace kiln::tuning
