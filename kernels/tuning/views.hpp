// How strided views are walked. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// A line is kLine neighbours in the innermost dim, one for each of as many threads. A thread takes
// the same element of kLines lines.
inline constexpr unsigned kLogLine = 5, kLine = 1 << kLogLine;
inline constexpr unsigned kLogLines = 2, kLines = 1 << kLogLines;
// Number of elements from which rows go by lines. In shorter ones, most threads would have a single
// element, or none. Measured on an H200, reference geometry, 4x112x113x33 with two dims swapped, in
// us, by lines -> singly: uneg_f32 22 -> 15, of which the original takes 19.
inline constexpr unsigned kLeastForLines = 48;
// Maximum number of neighbours in another dim that a thread takes together.
inline constexpr unsigned kNeighbours = 8;

// Kernels that move rows by chunks may fill a chunk with one element that is repeated along a row.
// Operations of two operands lack the registers for results of four bytes, and so do comparisons.
// Measured on an H200, own geometry, bmul_bf16 of 32768x8192 by columns of one element, in us,
// element by element -> by chunks: 886 -> 402.
constexpr bool binary_repeats(unsigned out_bytes, unsigned in_bytes) {
  return out_bytes == in_bytes && out_bytes != 4;
}
// For `where`, chunks of two elements would gain little.
constexpr bool where_repeats(unsigned per_chunk) { return per_chunk > 2; }

// A launch helper may tell a kernel more about its views than the ABI's block does, so that no
// thread finds it out again: a table behind the block, announced in the upper half of num_dims.
// That half is 0 if there is no table.
//
// A table locates the units of the views, fewer than 2^31: elements, whole chunks of their rows, or
// groups of as many elements as a chunk has, which are neighbours in a dim other than the innermost.
// All places are below 2^32. Chunks begin where wide accesses may, and so do groups in the views in
// which they are dense.
//
// Units count in row-major order. Of groups, the dim that is cut counts first. Their table has the
// output as one more view.
//
// Unit i is at i * first in a view. Each step replaces i by i / size, which is the number of the
// row that holds it, and adds i * next. `first` is the distance between neighbours of the innermost
// dim. `next` is the distance between rows, less what `first` or the former step has already
// counted for a whole row; it may be negative. All arithmetic is modulo 2^32.
struct ViewTable {
  // The upper half of num_dims: kExists, whether units are chunks, the number of steps, one bit for
  // each view whose rows repeat one element, or in which groups are dense, and whether units are
  // groups.
  static constexpr unsigned kExists = 1, kChunks = 2, kLogSteps = 2, kMaxSteps = 15;
  static constexpr unsigned kLogBits = 6, kGroups = 1 << 9;

  // The entries of a table follow one another in units of sixteen bytes, as 32-bit numbers:
  //   of groups, their number, and the distance between neighbours in the output and in each view
  //   0, 0, and `first` of each view
  //   for each step a multiplier, a shift, and `next` of each view.
  // For i below 2^31, i / size is (i * multiplier >> 32) >> shift.
  static constexpr unsigned words_of_entry(unsigned views) { return (2 + views + 3) / 4 * 4; }
  // Where the table begins, in words of 64 bits: behind the block, at a multiple of sixteen bytes.
  static constexpr unsigned long long start(unsigned views, unsigned long long rank) {
    const unsigned long long block = (1 + views) * rank;
    return block + block % 2;
  }
};

}  // namespace kiln::tuning
