// Random cases: the seed alone determines them, every kernel has some, a correct device passes
// them, and faults of a device are caught by them.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "tests/kernels/draw.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/selftest/abi.hpp"
#include "tests/kernels/selftest/fake_device.hpp"

namespace kiln::conformance {
namespace {

std::vector<std::string> names_of(std::string_view module, std::string_view kernel,
                                  const Selection& selection) {
  std::vector<std::string> names;
  for (const CaseSpec& spec : cases_of(module, kernel, selection)) names.push_back(spec.name);
  return names;
}

PreparedCase prepared(const CaseSpec& spec, std::uint64_t seed) {
  const Seed own = seed_for(spec.name, seed);
  return prepare(spec.build(own), own);
}

TEST_CASE("random cases are the same for the same seed, and differ for another") {
  for (const AbiKernel& kernel : abi_kernels()) {
    INFO(kernel.name);
    const Selection few{.random = 3, .seed = 7}, more{.random = 6, .seed = 7};
    const std::vector<std::string> names = names_of(kernel.module, kernel.name, more);
    CHECK(names_of(kernel.module, kernel.name, more) == names);
    // The first cases do not depend on the number of cases.
    CHECK(names_of(kernel.module, kernel.name, few) ==
          std::vector<std::string>(names.begin(), names.begin() + 3));
    CHECK(names_of(kernel.module, kernel.name, {.random = 6, .seed = 8}) != names);
  }
}

TEST_CASE("a random case has the same data each time") {
  const Selection selection{.random = 4, .seed = 3};
  const std::vector<CaseSpec> first = cases_of("indexing", "ia_u32_f16", selection);
  const std::vector<CaseSpec> again = cases_of("indexing", "ia_u32_f16", selection);
  REQUIRE(first.size() == 4);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const PreparedCase a = prepared(first[i], 3), b = prepared(again[i], 3);
    REQUIRE(a.placed.size() == b.placed.size());
    for (std::size_t p = 0; p < a.placed.size(); ++p) {
      CHECK(a.placed[p].before == b.placed[p].before);
    }
    CHECK(a.subject.name == first[i].name);
  }
}

TEST_CASE("every kernel has random cases within the limit, and the helpers take them") {
  for (const std::size_t most : {std::size_t{1} << 12, std::size_t{1} << 16}) {
    for (const AbiKernel& kernel : abi_kernels()) {
      INFO(kernel.name << ", " << most);
      const std::vector<CaseSpec> cases =
          cases_of(kernel.module, kernel.name, {.random = 2, .max_elements = most, .seed = 5});
      CHECK(cases.size() == 2);
      for (const CaseSpec& spec : cases) {
        INFO(spec.name);
        CHECK(spec.name.starts_with(kernel.name + "/random="));
        CHECK(spec.elements <= most);
        if (spec.elements > 4096) continue;
        const Case made = spec.build({1, 1});
        const auto launch = made.launch(std::vector<void*>(made.operands.size(), nullptr));
        if (!launch) FAIL(launch.error().message);
        CHECK(launch->kernel.text() == kernel.name);
      }
    }
  }
}

TEST_CASE("a correct device passes random cases, and one that leaves an element out does not") {
  for (const AbiKernel& kernel : abi_kernels()) {
    for (const CaseSpec& spec :
         cases_of(kernel.module, kernel.name, {.random = 2, .max_elements = 2048, .seed = 2})) {
      INFO(spec.name);
      const PreparedCase subject = prepared(spec, 2);
      CHECK(run_flawed(subject, {}).complaints.empty());
      if (subject.values == 0) continue;
      const Verdict verdict = run_flawed(subject, [](const Piece&, const Piece& out) {
        for (std::size_t i = 0; i < out.operand.count(); ++i) {
          const Bits before =
              load(out.operand.dtype, out.operand.content.data() + i * size_of(out.operand.dtype));
          if (!out.expected[i].admits(out.operand.dtype, before)) return out.write(i, before);
        }
      });
      CHECK_FALSE(verdict.complaints.empty());
    }
  }
}

// True if neighbours along the last dim of a launch's view are whole chunks of 16 bytes apart.
bool steps_by_chunks(const ops::Launch& launch, DType dtype) {
  if (launch.layout.empty()) return false;
  std::size_t num_dims = 0;
  std::memcpy(&num_dims, launch.arguments[1].data(), sizeof num_dims);
  const std::size_t rank = num_dims & 0xFFFFFFFF;  // a table may follow the block
  if (rank == 0) return false;
  const std::size_t stride = launch.layout[2 * rank - 1];
  return stride != 0 && stride * size_of(dtype) % 16 == 0;
}

TEST_CASE("random views reveal a copy that is wrong only where elements are whole chunks apart") {
  for (const auto& [kernel, dtype] :
       {std::pair<std::string, DType>{"ucopy_f32", DType::kF32}, {"ucopy_u8", DType::kU8}}) {
    std::size_t caught = 0, cases = 0;
    for (const CaseSpec& spec :
         cases_of("unary", kernel, {.random = 200, .max_elements = 4096, .seed = 1})) {
      const PreparedCase subject = prepared(spec, 1);
      const auto launch =
          subject.subject.launch(std::vector<void*>(subject.subject.operands.size(), nullptr));
      REQUIRE(launch);
      ++cases;
      if (!steps_by_chunks(*launch, dtype)) continue;
      const Verdict verdict = run_flawed(
          subject, [](const Piece&, const Piece& out) { out.write(0, out.read(0) ^ 1); });
      caught += verdict.complaints.empty() ? 0 : 1;
    }
    CHECK(cases == 200);
    CHECK(caught >= 3);
  }
}

TEST_CASE("drawn views are of every kind and reach only so far") {
  std::size_t dense = 0, repeated = 0, overlapping = 0, transposed = 0, apart = 0, offset = 0;
  constexpr std::size_t kDraws = 2000, kLimit = 4096;
  Draw draw(1, kLimit);
  for (std::size_t i = 0; i < kDraws; ++i) {
    const NamedLayout view = draw.view(draw.dims(2, 5));
    REQUIRE(count_of(view.layout) <= kLimit);
    REQUIRE(extent_of(view.layout) <= 4 * kLimit);
    const ops::Extents strides = ops::strides_of(view.layout);
    const std::size_t* const smallest = std::min_element(strides.begin(), strides.end());
    dense += ops::is_contiguous(view.layout) ? 1 : 0;
    repeated += *smallest == 0 ? 1 : 0;
    overlapping += *smallest != 0 && extent_of(view.layout) < count_of(view.layout) ? 1 : 0;
    transposed += strides[strides.rank() - 1] > strides[0] ? 1 : 0;
    apart += *smallest > 1 ? 1 : 0;
    offset += view.offset != 0 ? 1 : 0;
  }
  for (const std::size_t count : {dense, repeated, overlapping, transposed, apart, offset}) {
    CHECK(count > kDraws / 50);
  }
}

TEST_CASE("drawn sizes are of every magnitude, and often next to a multiple of a wave") {
  std::size_t small = 0, large = 0, next = 0;
  constexpr std::size_t kDraws = 2000, kMost = 65536;
  Draw draw(1, kMost);
  for (std::size_t i = 0; i < kDraws; ++i) {
    const std::size_t size = draw.size(kMost);
    REQUIRE((size >= 1 && size <= kMost));
    small += size < 256 ? 1 : 0;
    large += size > kMost / 4 ? 1 : 0;
    next += size > 256 && (size + 1) % 32 <= 2 ? 1 : 0;
  }
  CHECK(small > kDraws / 3);
  CHECK(large > kDraws / 20);
  CHECK(next > kDraws / 8);
}

}  // namespace
}  // namespace kiln::conformance
