// The suite can fail: a device that does right passes every case of every kernel, and one that does
// a single thing wrong is caught.
#include "tests/kernels/suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <sstream>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/selftest/abi.hpp"
#include "tests/kernels/values.hpp"

namespace kiln::conformance {
namespace {

// A piece of memory as a fake device sees it, after it has done what the case asks.
struct Piece {
  const Operand& operand;
  std::vector<std::byte>& content;
  std::size_t first;  // byte of the first element

  std::byte* element(std::size_t i) const {
    return content.data() + first + i * size_of(operand.dtype);
  }
  Bits read(std::size_t i) const { return load(operand.dtype, element(i)); }
  void write(std::size_t i, Bits bits) const { store(operand.dtype, bits, element(i)); }
};
using Flaw = std::function<void(const Piece& inp, const Piece& out)>;

// Writes what is expected of the case that it was made for, and then what the flaw says.
class FakeExecutor final : public Executor {
 public:
  FakeExecutor(const Case& subject, Flaw flaw) : subject_(subject), flaw_(std::move(flaw)) {}

  Result<std::vector<std::byte*>> place(const std::vector<std::size_t>& sizes) override {
    memory_.clear();
    std::vector<std::byte*> addresses;
    for (const std::size_t size : sizes) {
      memory_.emplace_back(size);
      addresses.push_back(memory_.back().data());
    }
    return addresses;
  }
  Result<void> run(const ops::Launch&, std::vector<std::vector<std::byte>>& contents) override {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < contents.size(); ++i) {
      const Operand& operand = subject_.operands[i];
      pieces.push_back(
          {operand, contents[i], kGuardBytes + operand.misalignment * size_of(operand.dtype)});
      if (!operand.expected) continue;
      for (std::size_t e = 0; e < operand.count(); ++e) {
        pieces.back().write(e, operand.expected(e).example());
      }
    }
    if (flaw_) flaw_(pieces.front(), pieces.back());
    return {};
  }

 private:
  const Case& subject_;
  Flaw flaw_;
  std::vector<std::vector<std::byte>> memory_;
};

Verdict run_flawed(const Case& subject, const Flaw& flaw) {
  FakeExecutor executor(subject, flaw);
  return run_case(subject, {1, 7}, executor);
}

Case build(std::string_view module, const std::string& name) {
  for (const CaseSpec& spec : cases_of(module, name.substr(0, name.find('/')))) {
    if (spec.name == name) return spec.build(seed_for(name, 1));
  }
  FAIL("no case " << name);
  return {};
}

// The kernel's first case of some elements.
Case build_small(const AbiKernel& kernel) {
  for (const CaseSpec& spec : cases_of(kernel.module, kernel.name)) {
    if (spec.elements >= 8) return spec.build(seed_for(spec.name, 1));
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
      // Every third case, and small ones: the large differ from them in size alone.
      if (turn++ % 3 != kernels % 3 || spec.elements > 2000) continue;
      const Case subject = spec.build(seed_for(spec.name, 1));
      const Verdict verdict = run_flawed(subject, {});
      ++cases;
      if (!verdict.complaints.empty()) FAIL(spec.name << ": " << verdict.complaints[0]);
    }
  }
  CHECK(kernels >= 157);
  CHECK(cases > 2000);
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
         // The last that is written at all: a view may end before its memory does.
         for (std::size_t i = out.operand.count(); i-- > 0;) {
           const Bits before =
               load(out.operand.dtype, out.operand.content.data() + i * size_of(out.operand.dtype));
           if (out.operand.expected(i).admits(out.operand.dtype, before)) continue;
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
    const Case subject = build_small(kernel);
    for (const Named& each : flaws) {
      INFO(kernel.name << ": " << each.name);
      CHECK_FALSE(run_flawed(subject, each.flaw).complaints.empty());
    }
  }
}

TEST_CASE("suite catches a changed input, a lost NaN, a lost sign and an error above the bound") {
  const Case copy = build("unary", "ucopy_f32/contiguous/n=1025/own");
  CHECK_FALSE(run_flawed(copy, [](const Piece& inp, const Piece&) {
                inp.write(9, ~inp.read(9));
              }).complaints.empty());

  const Case relu = build("unary", "urelu_f16/all-values/own");
  const Verdict lost =
      run_flawed(relu, [](const Piece&, const Piece& out) { out.write(0x7e00, 0); });
  REQUIRE(lost.complaints.size() == 1);
  CHECK(lost.complaints[0] == "out[32256]: 0x0000 (0), expected NaN");

  const Case negated = build("unary", "uneg_bf16/all-values/own");
  const Verdict unsigned_zero =
      run_flawed(negated, [](const Piece&, const Piece& out) { out.write(0, 0); });
  REQUIRE(unsigned_zero.complaints.size() == 1);
  CHECK(unsigned_zero.complaints[0] == "out[0]: 0x0000 (0), expected 0x8000 (-0)");

  const Case root = build("unary", "usqrt_f16/all-values/own");
  CHECK_FALSE(run_flawed(root, [](const Piece&, const Piece& out) {
                out.write(0x4000, out.read(0x4000) + 1);
              }).complaints.empty());
  const Case wave = build("unary", "usin_f16/all-values/own");
  CHECK(run_flawed(wave, [](const Piece&, const Piece& out) {
          out.write(0x4000, out.read(0x4000) + 1);
        }).complaints.empty());
  CHECK_FALSE(run_flawed(wave, [](const Piece&, const Piece& out) {
                out.write(0x4000, out.read(0x4000) + 3);
              }).complaints.empty());

  // What lies between the elements of a strided view is not the kernel's to write.
  const Case strided = build("fill", "const_set_f32/stepped/1023/own");
  CHECK_FALSE(run_flawed(strided, [](const Piece&, const Piece& out) {
                out.write(1, ~out.read(1));
              }).complaints.empty());
}

// Runs whatever case it is given as FakeExecutor does: the suite builds its cases itself, so this
// one can only fail or do nothing.
class BrokenExecutor final : public Executor {
 public:
  explicit BrokenExecutor(bool answers) : answers_(answers) {}
  Result<std::vector<std::byte*>> place(const std::vector<std::size_t>& sizes) override {
    return std::vector<std::byte*>(sizes.size(), storage_);
  }
  Result<void> run(const ops::Launch&, std::vector<std::vector<std::byte>>&) override {
    if (answers_) return {};
    return Error{ErrorCode::kDriver, "the device is gone", {}, {}};
  }

 private:
  bool answers_;
  std::byte storage_[1] = {};
};

TEST_CASE("suite says how to run a failing case alone") {
  SuiteOptions options;
  options.device = "fake:0";
  options.pattern = "ugelu_f16/transposed/33x65/own";
  options.rerun = "kiln_conformance --device fake:0 --seed 1";
  BrokenExecutor idle(true);
  std::ostringstream out;
  const Summary summary = run_suite({{"unary", "ugelu_f16"}}, options, {}, idle, out);
  CHECK(summary.run == 1);
  CHECK(summary.failed == 1);
  CHECK(out.str().find("again: kiln_conformance --device fake:0 --seed 1 --case "
                       "'ugelu_f16/transposed/33x65/own'\n") != std::string::npos);
  CHECK_FALSE(conclude(summary, options, out));
}

TEST_CASE("suite fails when a declared kernel has no case") {
  SuiteOptions options;
  BrokenExecutor idle(true);
  std::ostringstream out;
  const Summary summary =
      run_suite({{"unary", "unew_f32"}, {"cast", "cast_f32_f16"}}, options, {}, idle, out);
  CHECK(summary.declared == 2);
  CHECK(summary.covered == 0);
  CHECK_FALSE(conclude(summary, options, out));
  CHECK(out.str().find("not covered: unew_f32\n") != std::string::npos);
  CHECK(out.str().find("kernels covered / kernels declared: 0 / 2\n") != std::string::npos);
}

TEST_CASE("suite stops when the device stops answering") {
  SuiteOptions options;
  options.device = "fake:0";
  BrokenExecutor gone(false);
  std::ostringstream out;
  const Summary summary =
      run_suite({{"unary", "uexp_f32"}, {"unary", "ulog_f32"}}, options, {}, gone, out);
  CHECK(summary.stopped);
  CHECK(summary.failed == 8);
  CHECK_FALSE(conclude(summary, options, out));
}

TEST_CASE("suite gives the reason for each case that it skips") {
  SuiteOptions options;
  options.device = "fake:1";
  options.max_elements = 100;
  BrokenExecutor idle(true);
  std::ostringstream out;
  const Summary summary =
      run_suite({{"unary", "ucopy_u8"}}, options,
                {{"fake:*", "ucopy_u8/contiguous/*", "it is a fake"}}, idle, out);
  CHECK(summary.skipped.count("it is a fake") == 1);
  CHECK(summary.skipped.count("larger than --max-elements 100") == 1);
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

}  // namespace
}  // namespace kiln::conformance
