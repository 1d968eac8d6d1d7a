// Runs one case on one device: memory, launch, judgement.
#include <algorithm>
#include <cstring>

#include "suite.hpp"
#include "values.hpp"

namespace kiln::conformance {
namespace {

constexpr std::size_t kComplaintsShown = 3;

void judge_guards(const Operand& operand, std::size_t first, const std::vector<std::byte>& before,
                  const std::vector<std::byte>& after, std::vector<std::string>& complaints) {
  const auto first_difference = [&](std::size_t from, std::size_t to) {
    const auto begin = after.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = after.begin() + static_cast<std::ptrdiff_t>(to);
    const auto other = before.begin() + static_cast<std::ptrdiff_t>(from);
    return from + static_cast<std::size_t>(std::mismatch(begin, end, other).first - begin);
  };
  const std::size_t end = first + operand.content.size();
  if (const std::size_t at = first_difference(0, first); at != first) {
    complaints.push_back(operand.name + ": written " + std::to_string(first - at) +
                         " bytes before its start");
  }
  if (const std::size_t at = first_difference(end, after.size()); at != after.size()) {
    complaints.push_back(operand.name + ": written " + std::to_string(at - end + 1) +
                         " bytes after its end");
  }
}

// Complains about elements that `expected_of` does not permit.
template <typename ExpectedOf>
void judge_elements(const Operand& operand, const std::byte* after, const ExpectedOf& expected_of,
                    std::string_view suffix, std::vector<std::string>& complaints) {
  const std::size_t width = size_of(operand.dtype);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < operand.count(); ++i) {
    const Bits actual = load(operand.dtype, after + i * width);
    const Expected& expected = expected_of(i);
    if (expected.admits(operand.dtype, actual)) continue;
    if (++wrong > kComplaintsShown) continue;
    complaints.push_back(operand.name + "[" + std::to_string(i) +
                         "]: " + show(operand.dtype, actual) + ", expected " +
                         expected.describe(operand.dtype) + std::string(suffix));
  }
  if (wrong > kComplaintsShown) {
    complaints.push_back(operand.name + ": " + std::to_string(wrong) + " of " +
                         std::to_string(operand.count()) + " elements are wrong");
  }
}

}  // namespace

PreparedCase prepare(Case subject, const Seed& seed) {
  PreparedCase prepared;
  Random random(seed.own);
  for (const Operand& operand : subject.operands) {
    PreparedCase::Placed placed;
    placed.first = kGuardBytes + operand.misalignment * size_of(operand.dtype);
    const std::size_t behind = operand.ends_memory ? 0 : kGuardBytes;
    placed.before = poison(placed.first + operand.content.size() + behind, random);
    std::copy(operand.content.begin(), operand.content.end(),
              placed.before.begin() + static_cast<std::ptrdiff_t>(placed.first));
    // Stores a NaN of f16 and bf16 next to the elements. Additions to pairs of elements must not
    // change its bits.
    const std::size_t end = placed.first + operand.content.size();
    for (const std::size_t at : {placed.first - 2, end}) {
      if (at + 2 <= placed.before.size()) store(DType::kF16, 0x7fa5, placed.before.data() + at);
    }
    if (operand.expected) placed.expected = operand.expected();
    for (std::size_t e = 0; e < placed.expected.size(); ++e) {
      const Bits unwritten =
          load(operand.dtype, operand.content.data() + e * size_of(operand.dtype));
      prepared.values += placed.expected[e].admits(operand.dtype, unwritten) ? 0 : 1;
    }
    prepared.placed.push_back(std::move(placed));
  }
  prepared.subject = std::move(subject);
  return prepared;
}

Verdict run_case(const PreparedCase& prepared, Executor& executor) {
  const std::vector<Operand>& operands = prepared.subject.operands;
  std::vector<PieceSize> sizes;
  std::vector<std::vector<std::byte>> contents;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::vector<std::byte>& before = prepared.placed[i].before;
    sizes.push_back({before.size(), operands[i].ends_memory});
    contents.push_back(before);
  }
  const auto failed = [](const Error& error, bool device_failed) {
    Verdict verdict{{error.message}, device_failed};
    for (const Note& note : error.notes) verdict.complaints.push_back(note.text);
    return verdict;
  };
  const auto pieces = executor.place(sizes);
  if (!pieces) return failed(pieces.error(), true);
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    addresses.push_back((*pieces)[i] + prepared.placed[i].first);
  }
  const auto launch = prepared.subject.launch(addresses, executor.gpu());
  if (!launch) return failed(launch.error(), false);
  if (const auto ran = executor.run(*launch, contents); !ran) return failed(ran.error(), true);

  Verdict verdict;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    const PreparedCase::Placed& placed = prepared.placed[i];
    const std::byte* const before = placed.before.data() + placed.first;
    const std::byte* const after = contents[i].data() + placed.first;
    judge_guards(operand, placed.first, placed.before, contents[i], verdict.complaints);
    if (operand.expected) {
      judge_elements(
          operand, after, [&](std::size_t e) -> const Expected& { return placed.expected[e]; }, "",
          verdict.complaints);
    } else if (std::memcmp(before, after, operand.content.size()) != 0) {
      judge_elements(
          operand, after,
          [&](std::size_t e) {
            return Expected::exactly(load(operand.dtype, before + e * size_of(operand.dtype)));
          },
          ": an input was changed", verdict.complaints);
    }
  }
  return verdict;
}

}  // namespace kiln::conformance
