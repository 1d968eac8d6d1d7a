#include "tests/kernels/selftest/fake_device.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/values.hpp"

namespace kiln::conformance {
namespace {

class FakeExecutor final : public Executor {
 public:
  FakeExecutor(const PreparedCase& subject, Model model)
      : subject_(subject), model_(std::move(model)) {}

  Result<std::vector<std::byte*>> place(const std::vector<PieceSize>& sizes) override {
    memory_.clear();
    std::vector<std::byte*> addresses;
    for (const PieceSize& size : sizes) {
      memory_.emplace_back(size.bytes);
      addresses.push_back(memory_.back().data());
    }
    return addresses;
  }
  Result<void> run(const ops::Launch&, std::vector<std::vector<std::byte>>& contents) override {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < contents.size(); ++i) {
      const PreparedCase::Placed& placed = subject_.placed[i];
      pieces.push_back({subject_.subject.operands[i], placed.expected, contents[i], placed.first});
    }
    model_(pieces);
    return {};
  }

 private:
  const PreparedCase& subject_;
  Model model_;
  std::vector<std::vector<std::byte>> memory_;
};

}  // namespace

Verdict run_flawed(const PreparedCase& subject, const Flaw& flaw) {
  return run_model(subject, [&](const std::vector<Piece>& operands) {
    for (const Piece& operand : operands) {
      for (std::size_t e = 0; e < operand.expected.size(); ++e) {
        operand.write(e, operand.expected[e].example());
      }
    }
    if (flaw) flaw(operands.front(), operands.back());
  });
}

Verdict run_model(const PreparedCase& subject, const Model& model) {
  FakeExecutor executor(subject, model);
  return run_case(subject, executor);
}

PreparedCase build(std::string_view module, const std::string& name) {
  for (const CaseSpec& spec :
       cases_of(module, name.substr(0, name.find('/')), {.everything = true})) {
    const Seed seed = seed_for(name, 1);
    if (spec.name == name) return prepare(spec.build(seed), seed);
  }
  FAIL("no case " << name);
  return {};
}

}  // namespace kiln::conformance
