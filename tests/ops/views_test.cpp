// How the launches of our own tell kernels about views.
#include <catch2/catch_test_macros.hpp>
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

TEST_CASE("Dims of 2^32 elements are not made") {
  const std::size_t half = std::size_t{1} << 31;
  CHECK(of_copy({{half, 2}, {4, 2}}) == Told{2, {half, 2, 4, 2}});
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
