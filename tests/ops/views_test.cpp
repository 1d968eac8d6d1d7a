// The view arguments of kiln's own launches.
#include "kernels/tuning/views.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kiln/ops/binary.hpp"
#include "kiln/ops/unary.hpp"
#include "ops/src/view_table.hpp"
#include "places.hpp"

using namespace kiln;
using namespace kiln::ops;

namespace {

struct Told {
  std::size_t rank;
  std::vector<std::size_t> block;
  bool operator==(const Told& other) const { return rank == other.rank && block == other.block; }
};

std::size_t num_dims_of(const Launch& launch) {
  std::size_t num_dims = 0;
  std::memcpy(&num_dims, launch.arguments[1].data(), sizeof num_dims);
  return num_dims;
}

// Returns the rank and the block of `views` views, without a table behind it.
Told told(const Launch& launch, std::size_t views = 1) {
  const std::size_t rank = num_dims_of(launch) & 0xFFFFFFFF;
  Told result{rank, {launch.layout.begin(), launch.layout.end()}};
  if (!result.block.empty()) result.block.resize((1 + views) * rank);
  return result;
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
  CHECK(told(plan(call, Gpu{}).value(), 2) == Told{2, {2, 12, 12, 1, 0, 1}});
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

TEST_CASE("Views fill the device by elements, groups or tiles") {
  // 402,056 elements: rows that do not consist of chunks, and rows of one chunk each.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{50257, 8}, {17, 1}}) == Grid{1056, 256});
  CHECK(grid_of(UnaryOp::kCopy, DType::kU8, {{50257, 8}, {16, 1}}) == Grid{528, 512});
  CHECK(grid_of(UnaryOp::kCopy, DType::kF16, {{50257, 8}, {16, 1}}) == Grid{393, 128});
  // 393,216 elements, transposed: large blocks read only once what neighbours share; tiles, if
  // there are enough of them.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{768, 512}, {1, 768}}) == Grid{768, 512});
  CHECK(grid_of(UnaryOp::kCopy, DType::kF32, {{768, 512}, {1, 768}}) == Grid{384, 256});
  CHECK(grid_of(UnaryOp::kCopy, DType::kU8, {{768, 512}, {1, 768}}) == Grid{768, 512});
  // Lines in which tiles of bytes are not whole words.
  CHECK(grid_of(UnaryOp::kCopy, DType::kF16, {{1025, 511}, {1, 1025}}) == Grid{1023, 512});
  // 2^20 elements, for functions: transposed views in groups of eight, others by elements.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{1024, 1024}, {1, 1024}}) == Grid{512, 256});
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{1024, 1025}, {2048, 1}}) == Grid{1056, 256});
  // 12,288,000 elements: as many blocks as work.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{3000, 4096}, {8193, 1}}) == Grid{4096, 256});
  CHECK(grid_of(UnaryOp::kExp, DType::kF16, {{3000, 4096}, {8193, 1}}) == Grid{4096, 256});
}

TEST_CASE("Rows of whole aligned chunks have a thread for each chunk") {
  const Layout rows{{512, 1024}, {2048, 1}};
  alignas(16) const std::array<float, 4> memory{};
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, rows) == Grid{1024, 128});
  CHECK(grid_of(UnaryOp::kExp, DType::kF16, rows) == Grid{512, 128});
  CHECK(grid_of(UnaryOp::kCopy, DType::kF16, rows) == Grid{512, 128});
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{50257, 8}, {16, 1}}) == Grid{786, 128});
  // At most as many threads as the device holds.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, {{3000, 4096}, {8192, 1}}) == Grid{1056, 256});
  CHECK(grid_of(UnaryOp::kNegate, DType::kF64, rows) == Grid{2048, 128});
  CHECK(grid_of(UnaryOp::kSin, DType::kBF16, rows) == Grid{512, 128});
  // By elements: misaligned rows.
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, rows, memory.data() + 1) == Grid{1056, 256});
}

namespace {

// A table, read as kernels/tuning/views.hpp describes it.
struct Table {
  std::uint32_t known;
  std::vector<std::uint32_t> words;
  std::size_t of_entry;

  bool has_chunks() const { return (known & tuning::ViewTable::kChunks) != 0; }
  bool has_groups() const { return (known & tuning::ViewTable::kGroups) != 0; }
  std::uint32_t place(std::uint32_t unit, std::size_t view) const {
    const std::uint32_t* entry = words.data() + (has_groups() ? of_entry : 0);
    std::uint32_t place = unit * entry[2 + view];
    for (std::uint32_t step = 1; step <= (known >> tuning::ViewTable::kLogSteps & 15); ++step) {
      entry += of_entry;
      unit = static_cast<std::uint32_t>((std::uint64_t{unit} * entry[0] >> 32) >> entry[1]);
      place += unit * entry[2 + view];
    }
    return place;
  }
};

Table table_of(const Launch& launch, std::size_t views) {
  const std::size_t num_dims = num_dims_of(launch);
  const auto count = static_cast<unsigned>(views);
  Table table{static_cast<std::uint32_t>(num_dims >> 32), {}, 0};
  table.of_entry = tuning::ViewTable::words_of_entry(count + (table.has_groups() ? 1 : 0));
  const std::size_t start = tuning::ViewTable::start(count, num_dims & 0xFFFFFFFF);
  CHECK(start % 2 == 0);
  for (std::size_t i = start; i < launch.layout.size(); ++i) {
    table.words.push_back(static_cast<std::uint32_t>(launch.layout[i]));
    table.words.push_back(static_cast<std::uint32_t>(launch.layout[i] >> 32));
  }
  return table;
}

Launch sum_of(const Layout& lhs, const Layout& rhs) {
  Binary call;
  call.dtype = DType::kF16;
  call.lhs_layout = lhs;
  call.rhs_layout = rhs;
  return plan(call, Gpu{"sm_90", 132}).value();
}

}  // namespace

TEST_CASE("A table locates every unit of its views") {
  struct Case {
    Layout lhs, rhs;
    std::uint32_t unit;  // elements
  };
  const Case cases[] = {
      {{{601, 303}, {303, 1}}, {{601, 303}, {1000, 1}}, 1},
      {{{3, 7, 65, 129}, {58695, 8385, 129, 1}}, {{3, 7, 65, 129}, {0, 1, 7, 455}}, 1},
      {{{511, 512}, {1024, 1}}, {{511, 512}, {0, 1}}, 8},
      {{{511, 512}, {1024, 1}}, {{511, 512}, {8, 0}}, 8},
      {{{20011, 3, 8}, {48, 8, 1}}, {{20011, 3, 8}, {8, 0, 1}}, 8},  // rows of one chunk
  };
  for (const Case& each : cases) {
    const Table table = table_of(sum_of(each.lhs, each.rhs), 2);
    REQUIRE(table.known != 0);
    CHECK(table.has_chunks() == (each.unit != 1));
    std::uint64_t count = 1;
    for (const std::size_t size : each.lhs.dims) count *= size;
    bool are_right = true;
    for (std::uint32_t i = 0; i < count / each.unit; ++i) {
      are_right = are_right &&
                  table.place(i, 0) == place_in(each.lhs, std::uint64_t{i} * each.unit) &&
                  table.place(i, 1) == place_in(each.rhs, std::uint64_t{i} * each.unit);
    }
    CHECK(are_right);
  }
  // Rows and groups that overlap begin at any element.
  const Layout dense{{704, 2, 512}, {1024, 512, 1}};
  CHECK_FALSE(table_of(sum_of({{704, 2, 512}, {1, 1, 1}}, dense), 2).has_chunks());
  CHECK_FALSE(table_of(sum_of({{704, 2, 512}, {1, 1, 704}}, dense), 2).has_groups());
  // The second view's rows repeat one element.
  const Table repeats = table_of(sum_of(cases[3].lhs, cases[3].rhs), 2);
  CHECK(repeats.known >> tuning::ViewTable::kLogBits == 2);
}

TEST_CASE("A table locates every group of neighbours") {
  struct Case {
    Layout lhs, rhs;
    std::uint32_t dense;  // one bit for each view
  };
  const Case cases[] = {
      {{{1024, 1001}, {1, 1024}}, {{1024, 1001}, {1001, 1}}, 1},
      {{{1024, 1001}, {1, 1024}}, {{1024, 1001}, {1, 1024}}, 3},
      {{{9, 72, 90, 61}, {395280, 5490, 61, 1}}, {{9, 72, 90, 61}, {0, 1, 4392, 72}}, 2},
  };
  for (const Case& each : cases) {
    const Table table = table_of(sum_of(each.lhs, each.rhs), 2);
    REQUIRE(table.has_groups());
    CHECK((table.known >> tuning::ViewTable::kLogBits & 3) == each.dense);
    std::uint64_t count = 1;
    for (const std::size_t size : each.lhs.dims) count *= size;
    CHECK(table.words[0] * std::uint64_t{8} == count);
    std::vector<bool> is_written(count);
    bool are_right = true;
    for (std::uint32_t i = 0; i < table.words[0]; ++i) {
      for (std::uint32_t k = 0; k < 8; ++k) {
        const std::uint64_t element = table.place(i, 2) + std::uint64_t{k} * table.words[1];
        are_right = are_right && element < count && !is_written[element] &&
                    table.place(i, 0) + k * table.words[2] == place_in(each.lhs, element) &&
                    table.place(i, 1) + k * table.words[3] == place_in(each.rhs, element);
        if (are_right) is_written[element] = true;
      }
    }
    CHECK(are_right);
  }
}

TEST_CASE("A table divides every number below 2^31 by any size") {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 2; size < 2000; ++size) sizes.push_back(size);
  for (std::uint32_t log = 11; log < 31; ++log) {
    for (const std::uint32_t near : {0u, 1u, 2u}) sizes.push_back((1u << log) - 1 + near);
  }
  for (const std::uint32_t size : {1000003u, 715827883u, 1431655765u, 2147483647u}) {
    sizes.push_back(size);
  }
  ViewBlock block{{2, 0, 1, 1}, 2};
  bool are_right = true;
  for (const std::uint32_t size : sizes) {
    if (size > 0x7FFFFFFF / 2) continue;  // two rows have fewer than 2^31 units
    block.block[1] = size;
    LayoutBlock layout = block.block;
    REQUIRE(append_table(layout, block, 1, {}) != 0);
    const auto multiplier = static_cast<std::uint32_t>(layout[6]);  // of the first step
    const auto shift = static_cast<std::uint32_t>(layout[6] >> 32);
    const std::uint32_t last = 0x7FFFFFFF / size * size;
    for (const std::uint32_t n : {0u, 1u, size - 1, size, size + 1, last - 1, last, 0x7FFFFFFFu}) {
      are_right =
          are_right && (static_cast<std::uint64_t>(n) * multiplier >> 32) >> shift == n / size;
    }
  }
  CHECK(are_right);
}

TEST_CASE("Views without a table have the grid of threads that plan") {
  // Rows that are 2^32 elements apart.
  const Layout apart{{2, 1024, 1024}, {std::size_t{1} << 32, 2048, 1}};
  CHECK(grid_of(UnaryOp::kExp, DType::kF32, apart) == Grid{264, 1024});
  CHECK(told(sum_of(apart, apart), 2) ==
        Told{3, {2, 1024, 1024, 1ull << 32, 2048, 1, 1ull << 32, 2048, 1}});
  CHECK(num_dims_of(sum_of(apart, apart)) == 3);
}

TEST_CASE("There is no table where a number would need more bits") {
  const auto known = [](std::size_t rows, std::size_t columns, std::size_t stride) {
    const ViewBlock block{{rows, columns, stride, 1}, 2};
    LayoutBlock layout = block.block;
    const std::uint32_t result = append_table(layout, block, 1, {});
    CHECK((result != 0) == (layout.size() != 4));
    return result;
  };
  CHECK(known(65536, 32767, 65536) != 0);
  CHECK(known(65536, 32768, 65536) == 0);  // 2^31 units
  CHECK(known(2, 3, 0xFFFFFFFF - 2) != 0);
  CHECK(known(2, 3, 0xFFFFFFFF - 1) == 0);  // a place of 2^32
  CHECK(known(0, 3, 5) == 0);               // no unit
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
