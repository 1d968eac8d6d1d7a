// The suite can fail: a correct device passes every case of every kernel, and a device with a
// single fault is caught.
#include "tests/kernels/suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <sstream>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/selftest/abi.hpp"
#include "tests/kernels/selftest/fake_device.hpp"
#include "tests/kernels/values.hpp"

namespace kiln::conformance {
namespace {

// Returns the first case of the kernel that has some elements.
PreparedCase build_small(const AbiKernel& kernel) {
  for (const CaseSpec& spec : cases_of(kernel.module, kernel.name)) {
    if (spec.elements >= 8) return prepare(spec.build(seed_for(spec.name, 1)), {1, 7});
  }
  FAIL("no case of " << kernel.name);
  return {};
}

TEST_CASE("suite passes a device that does right in every case of every kernel") {
  std::size_t cases = 0, kernels = 0;
  for (const AbiKernel& kernel : abi_kernels()) {
    ++kernels;
    std::size_t turn = 0;
    for (const CaseSpec& spec : cases_of(kernel.module, kernel.name)) {
      // Takes every third case, and only small ones: large cases differ only in size.
      if (turn++ % 3 != kernels % 3 || spec.elements > 2000) continue;
      const PreparedCase subject = prepare(spec.build(seed_for(spec.name, 1)), {1, 7});
      const Verdict verdict = run_flawed(subject, {});
      ++cases;
      if (!verdict.complaints.empty()) FAIL(spec.name << ": " << verdict.complaints[0]);
    }
  }
  CHECK(kernels >= 157);
  CHECK(cases > 1000);
}

TEST_CASE("suite gives every case a name of its own") {
  for (const AbiKernel& kernel : abi_kernels()) {
    std::vector<std::string> names;
    for (const CaseSpec& spec : cases_of(kernel.module, kernel.name)) names.push_back(spec.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) FAIL("twice: " << *twice);
  }
}

TEST_CASE("suite catches each flaw in every kernel") {
  struct Named {
    const char* name;
    Flaw flaw;
  };
  const Named flaws[] = {
      {"leaves the last element out",
       [](const Piece&, const Piece& out) {
         // The last element that is written: a view may end before its memory does.
         for (std::size_t i = out.operand.count(); i-- > 0;) {
           const Bits before =
               load(out.operand.dtype, out.operand.content.data() + i * size_of(out.operand.dtype));
           if (out.expected[i].admits(out.operand.dtype, before)) continue;
           return out.write(i, before);
         }
       }},
      {"writes one element past the end",
       [](const Piece&, const Piece& out) {
         out.write(out.operand.count(), ~out.read(out.operand.count()));
       }},
      {"writes one element before the start",
       [](const Piece&, const Piece& out) {
         std::byte* before = out.element(0) - size_of(out.operand.dtype);
         *before = ~*before;
       }},
      {"writes the last byte of the guard band",
       [](const Piece&, const Piece& out) { out.content.back() = ~out.content.back(); }},
  };
  for (const AbiKernel& kernel : abi_kernels()) {
    const PreparedCase subject = build_small(kernel);
    for (const Named& each : flaws) {
      INFO(kernel.name << ": " << each.name);
      CHECK_FALSE(run_flawed(subject, each.flaw).complaints.empty());
    }
  }
}

TEST_CASE("suite catches a changed input, a lost NaN, a lost sign and an error above the bound") {
  const PreparedCase copy = build("unary", "ucopy_f32/contiguous/n=1025/own");
  CHECK_FALSE(run_flawed(copy, [](const Piece& inp, const Piece&) {
                inp.write(9, ~inp.read(9));
              }).complaints.empty());

  const PreparedCase relu = build("unary", "urelu_f16/all-values/own");
  const Verdict lost =
      run_flawed(relu, [](const Piece&, const Piece& out) { out.write(0x7e00, 0); });
  REQUIRE(lost.complaints.size() == 1);
  CHECK(lost.complaints[0] == "out[32256]: 0x0000 (0), expected NaN");

  const PreparedCase negated = build("unary", "uneg_bf16/all-values/own");
  const Verdict unsigned_zero =
      run_flawed(negated, [](const Piece&, const Piece& out) { out.write(0, 0); });
  REQUIRE(unsigned_zero.complaints.size() == 1);
  CHECK(unsigned_zero.complaints[0] == "out[0]: 0x0000 (0), expected 0x8000 (-0)");

  const PreparedCase root = build("unary", "usqrt_f16/all-values/own");
  CHECK_FALSE(run_flawed(root, [](const Piece&, const Piece& out) {
                out.write(0x4000, out.read(0x4000) + 1);
              }).complaints.empty());
  // A kernel must not write between the elements of a strided view.
  const PreparedCase strided = build("fill", "const_set_f32/stepped/1023/own");
  CHECK_FALSE(run_flawed(strided, [](const Piece&, const Piece& out) {
                out.write(1, ~out.read(1));
              }).complaints.empty());
}

TEST_CASE("suite leaves nothing behind an operand that ends the memory") {
  const PreparedCase subject =
      build("quantized", "dequantize_block_q4_0_f32/blocks=1/at-the-end/reference");
  const PreparedCase::Placed& blocks = subject.placed[0];
  CHECK(blocks.before.size() == blocks.first + 18);
  CHECK(subject.placed[1].before.size() == subject.placed[1].first + 32 * 4 + kGuardBytes);
  CHECK(run_flawed(subject, nullptr).complaints.empty());
  CHECK_FALSE(run_flawed(subject, [](const Piece& in, const Piece&) {
                in.write(in.count() - 1, in.read(in.count() - 1) ^ 1);
              }).complaints.empty());
}

// The suite builds its cases itself, so this executor can only fail or do nothing.
class BrokenExecutor final : public Executor {
 public:
  explicit BrokenExecutor(bool answers) : answers_(answers) {}
  Result<std::vector<std::byte*>> place(const std::vector<PieceSize>& sizes) override {
    std::vector<std::byte*> places(sizes.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = storage_ + 16 * i;
    return places;
  }
  Result<void> run(const ops::Launch&, std::vector<std::vector<std::byte>>&) override {
    if (answers_) return {};
    return Error{ErrorCode::kDriver, "the device is gone", {}, {}};
  }

 private:
  bool answers_;
  alignas(16) std::byte storage_[16 * 16] = {};
};

SuiteDevice device_of(const std::string& id, bool answers) {
  return {id, "kiln_conformance --device " + id + " --seed 1",
          [answers] { return std::make_unique<BrokenExecutor>(answers); }};
}

TEST_CASE("suite says on which device a case fails, and how to run it there alone") {
  SuiteOptions options;
  options.patterns = {"ugelu_f16/transposed/33x65/reference"};
  std::ostringstream out;
  const Summary summary =
      run_suite({{"unary", "ugelu_f16"}}, {device_of("fake:0", true), device_of("fake:1", true)},
                options, {}, out);
  REQUIRE(summary.devices.size() == 2);
  CHECK(summary.devices[1].run == 1);
  CHECK(summary.devices[1].failed == 1);
  CHECK(out.str().find("FAILED on fake:1: ugelu_f16/transposed/33x65/reference\n") !=
        std::string::npos);
  CHECK(out.str().find("again: kiln_conformance --device fake:1 --seed 1 --case "
                       "'ugelu_f16/transposed/33x65/reference'\n") != std::string::npos);
  CHECK_FALSE(conclude(summary, options, out));
  CHECK(out.str().find("fake:1: cases run: 1, failed: 1; ") != std::string::npos);
}

TEST_CASE(
    "suite makes a case once for all devices, and tells the same with any number of threads") {
  const std::vector<DeclaredKernel> kernels = {
      {"affine", "affine_u8"}, {"unary", "uneg_f8_e4m3"}, {"unary", "usqr_f16"}};
  std::string told[2];
  for (const unsigned jobs : {1u, 3u}) {
    SuiteOptions options;
    options.jobs = jobs;
    options.patterns = {"*/contiguous/*"};
    std::ostringstream out;
    const Summary summary = run_suite(
        kernels, {device_of("fake:0", true), device_of("fake:1", true)}, options, {}, out);
    CHECK(summary.devices[0].run == summary.devices[1].run);
    told[jobs == 1 ? 0 : 1] = out.str();
  }
  CHECK(told[0] == told[1]);
}

TEST_CASE("suite runs each case on one of the devices that share it, the first on all") {
  const std::vector<DeclaredKernel> kernel = {{"unary", "usqr_f16"}};
  const SuiteOptions options;
  std::ostringstream out;
  const std::size_t all =
      run_suite(kernel, {device_of("fake:0", true)}, options, {}, out).devices[0].run;
  std::vector<SuiteDevice> sharers = {device_of("fake:0", true), device_of("fake:1", true)};
  for (unsigned turn = 0; turn < 2; ++turn) {
    sharers[turn].sharers = 2;
    sharers[turn].turn = turn;
  }
  const Summary summary = run_suite(kernel, sharers, options, {}, out);
  REQUIRE(all > 8);
  CHECK(summary.devices[0].run + summary.devices[1].run == all + 1);
  for (const DeviceSummary& each : summary.devices) {
    CHECK(each.run > all / 4);
    CHECK(each.covered == 1);
  }
}

TEST_CASE("suite fails when a declared kernel has no case, and names it") {
  SuiteOptions options;
  std::ostringstream out;
  const Summary summary = run_suite({{"unary", "unew_f32"}, {"other", "other_f32"}},
                                    {device_of("fake:0", true)}, options, {}, out);
  CHECK(summary.declared == 2);
  CHECK(summary.devices[0].covered == 0);
  CHECK_FALSE(conclude(summary, options, out));
  CHECK(out.str().find("fake:0: not covered: unew_f32\n") != std::string::npos);
  CHECK(out.str().find("kernels covered / kernels declared: 0 / 2;") != std::string::npos);
}

TEST_CASE("suite counts a kernel as covered only when values of it were compared") {
  SuiteOptions options;
  std::ostringstream out;
  const Summary summary =
      run_suite({{"unary", "usqr_f16"}}, {device_of("fake:0", false), device_of("fake:1", true)},
                options, {{"fake:1", "*/c*", "it is a fake"}, {"fake:1", "*s/*", ""}}, out);
  // The first device never answered. On the second, each case that ran was judged.
  CHECK(summary.devices[0].covered == 0);
  CHECK(summary.devices[0].run != 0);
  CHECK(summary.devices[1].covered == 1);
}

TEST_CASE("suite leaves a device alone that stopped answering, and goes on with the others") {
  SuiteOptions options;
  std::ostringstream out;
  const Summary summary =
      run_suite({{"unary", "uexp_f8_e4m3"}, {"unary", "ulog_f8_e4m3"}},
                {device_of("fake:0", false), device_of("fake:1", true)}, options, {}, out);
  CHECK(summary.devices[0].stopped);
  CHECK(summary.devices[0].failed == 8);
  CHECK_FALSE(summary.devices[1].stopped);
  CHECK(summary.devices[1].run > 8);
  CHECK_FALSE(conclude(summary, options, out));
}

TEST_CASE("suite gives the reason for each case that it skips") {
  SuiteOptions options;
  options.selection.max_elements = 100;
  std::ostringstream out;
  const Summary summary = run_suite({{"unary", "ucopy_u8"}}, {device_of("fake:1", true)}, options,
                                    {{"fake:*", "ucopy_u8/contiguous/*", "it is a fake"}}, out);
  CHECK(summary.devices[0].skipped.count("it is a fake") == 1);
  CHECK(summary.devices[0].skipped.count("larger than --max-elements 100") == 1);
  conclude(summary, options, out);
  CHECK(out.str().find("cases: it is a fake\n") != std::string::npos);
}

TEST_CASE("suite patterns let a star stand for any letters") {
  CHECK(matches("*", ""));
  CHECK(matches("ugelu_*", "ugelu_f16/all-values/own"));
  CHECK(matches("*/own", "ugelu_f16/all-values/own"));
  CHECK(matches("u*_f16/*/own", "ugelu_f16/all-values/own"));
  CHECK_FALSE(matches("ugelu", "ugelu_f16"));
  CHECK_FALSE(matches("*/reference", "ugelu_f16/all-values/own"));
}

TEST_CASE("suite takes the cases that match one of several patterns, and all without any") {
  SuiteOptions options;
  CHECK(is_chosen(options, "ugelu_f16/all-values/own"));
  CHECK(takes_every_case(options));
  options.patterns = {"ugelu_*", "*/reference"};
  CHECK(is_chosen(options, "ugelu_f16/all-values/own"));
  CHECK(is_chosen(options, "usqr_f16/all-values/reference"));
  CHECK_FALSE(is_chosen(options, "usqr_f16/all-values/own"));
  CHECK_FALSE(takes_every_case(options));
  options.patterns.push_back("*");
  CHECK(takes_every_case(options));
}

}  // namespace
}  // namespace kiln::conformance
