// The view arguments of kiln's own launches.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kiln/ops/binary.hpp"
#include "kiln/ops/unary.hpp"

using namespace kiln;
using namespace kiln::ops;

namespace {

struct Told {
  std::size_t rank;
  std::vector<std::size_t> block;
  bool operator==(const Told& other) const { return rank == other.rank && block == other.block; }
};

Told told(const Launch& launch) {
  std::size_t rank = 0;
  std::memcpy(&rank, launch.arguments[1].data(), sizeof(rank));
  return {rank, {launch.layout.begin(), launch.layout.end()}};
}

Told of_copy(const Layout& layout, Geometry geometry = Geometry::kOwn) {
  Unary call;
  call.dtype = DType::kF32;
  call.layout = layout;
  call.geometry = geometry;
  return told(plan(call, Gpu{}).value());
}

}  // namespace

TEST_CASE("Dims that a view walks as one are told as one") {
  CHECK(of_copy({{2, 3, 4}, {24, 8, 2}}) == Told{1, {24, 2}});
  CHECK(of_copy({{2, 3, 4}, {100, 4, 1}}) == Told{2, {2, 12, 100, 1}});
  CHECK(of_copy({{2, 3, 4}, {1, 2, 6}}) == Told{3, {2, 3, 4, 1, 2, 6}});
  CHECK(of_copy({{5, 2, 3}, {1, 0, 0}}) == Told{2, {5, 6, 1, 0}});
  CHECK(of_copy({{5, 2, 3}, {0, 0, 0}}) == Told{1, {30, 0}});
}

TEST_CASE("Dims of size 1 are not told, whatever their strides") {
  CHECK(of_copy({{1, 7, 1, 4}, {99, 8, 77, 1}}) == Told{2, {7, 4, 8, 1}});
  CHECK(of_copy({{3, 1, 4}, {4, 77, 1}}).block.empty());  // contiguous
}

TEST_CASE("Dims of 2^31 elements are not made") {
  CHECK(of_copy({{65536, 32768}, {65536, 2}}) == Told{2, {65536, 32768, 65536, 2}});
  CHECK(of_copy({{65535, 32768}, {65536, 2}}) == Told{1, {65535 * 32768, 2}});
}

TEST_CASE("Two views are merged where both walk the dims as one") {
  Binary call;
  call.dtype = DType::kF32;
  call.lhs_layout = {{2, 3, 4}, {12, 4, 1}};
  call.rhs_layout = {{2, 3, 4}, {0, 4, 1}};
  CHECK(told(plan(call, Gpu{}).value()) == Told{2, {2, 12, 12, 1, 0, 1}});
}

TEST_CASE("The original's geometry is told what the caller gave") {
  CHECK(of_copy({{2, 3, 4}, {24, 8, 2}}, Geometry::kReference) == Told{3, {2, 3, 4, 24, 8, 2}});
}

namespace {

struct Grid {
  std::uint32_t blocks, threads;
  bool operator==(const Grid& other) const {
    return blocks == other.blocks && threads == other.threads;
  }
};

Grid grid_of(UnaryOp op, DType dtype, const Layout& layout, const void* inp = nullptr) {
  Unary call;
  call.inp = inp;
  call.op = op;
  call.dtype = dtype;
  call.layout = layout;
  Gpu gpu;
  gpu.target = "sm_90";
  gpu.multiprocessors = 132;
  const Launch launch = plan(call, gpu).value();
  return {launch.grid.x, launch.block.x};
}

}  // namespace

TEST_CASE("Views of a few hundred thousand elements have a thread for each, or full groups") {
  // 402,056 elements: rows that do not consist of chunks, and rows of one chunk each.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{50257, 8}, {17, 1}}) == Grid{1571, 256});
  CHECK(grid_of(UnaryOp::kCopy, DType::kU8, {{50257, 8}, {16, 1}}) == Grid{786, 512});
  CHECK(grid_of(UnaryOp::kCopy, DType::kF16, {{50257, 8}, {16, 1}}) == Grid{393, 128});
  // 393,216 elements, transposed: large blocks read only once what neighbours share; tiles, if
  // there are enough of them.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{768, 512}, {1, 768}}) == Grid{768, 512});
  CHECK(grid_of(UnaryOp::kCopy, DType::kF32, {{768, 512}, {1, 768}}) == Grid{384, 256});
  CHECK(grid_of(UnaryOp::kCopy, DType::kU8, {{768, 512}, {1, 768}}) == Grid{768, 512});
  // Lines in which tiles of bytes are not whole words.
  CHECK(grid_of(UnaryOp::kCopy, DType::kF16, {{1025, 511}, {1, 1025}}) == Grid{1023, 512});
  // 2^20 elements, for functions: transposed views in groups of eight, views along lines with one
  // element a thread.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{1024, 1024}, {1, 1024}}) == Grid{512, 256});
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{1024, 1025}, {2048, 1}}) == Grid{2050, 512});
  // 12,288,000 elements: as many threads as the device holds.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{3000, 4096}, {8193, 1}}) == Grid{2112, 128});
}

TEST_CASE("Rows of whole aligned chunks have a thread for each chunk") {
  const Layout rows{{512, 1024}, {2048, 1}};
  alignas(16) const std::array<float, 4> memory{};
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, rows) == Grid{512, 256});
  CHECK(grid_of(UnaryOp::kExp, DType::kF16, rows) == Grid{512, 128});
  CHECK(grid_of(UnaryOp::kCopy, DType::kF16, rows) == Grid{512, 128});
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{50257, 8}, {16, 1}}) == Grid{393, 256});
  // At most as many threads as the device holds.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{3000, 4096}, {8192, 1}}) == Grid{264, 1024});
  // A thread for each element: of eight bytes, of misaligned rows, and in functions without
  // registers for rows.
  CHECK(grid_of(UnaryOp::kNegate, DType::kF64, rows) == Grid{2048, 256});
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, rows, memory.data() + 1) == Grid{2048, 256});
  CHECK(grid_of(UnaryOp::kSin, DType::kBF16, rows) == Grid{2048, 256});
}

TEST_CASE("A view that is not contiguous is not computed in place") {
  alignas(16) std::array<float, 16> memory{};
  Unary call;
  call.op = UnaryOp::kNegate;
  call.dtype = DType::kF32;
  call.layout = {{4, 4}, {1, 4}};
  call.out = memory.data();
  for (const void* inp :
       {static_cast<const void*>(nullptr), static_cast<const void*>(memory.data())}) {
    call.inp = inp;
    const Result<Launch> refused = plan(call, Gpu{});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text() ==
          "a view that is not contiguous cannot be computed in place\n"
          "note: its elements would be written over before they are read\n"
          "hint: write to other memory");
  }
  call.layout = {{4, 4}};
  CHECK(plan(call, Gpu{}));
}
