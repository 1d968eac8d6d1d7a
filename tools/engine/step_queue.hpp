// Which of the steps that can start goes next: the longest, so that no core is left with a long one at the
// end.
//
// What a step will take is what it took last time; else what another target's step of the same source
// took, in this build or an earlier one. A step of which nothing is known goes before all others: it may be
// the longest, and tells of its siblings. Times count in whole seconds, and equals go in the plan's order:
// short steps are not worth another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/model/plan.hpp"

namespace kiln::tools {

// Of one thread at a time. Steps are named by their position in the plan, which outlives the queue.
class StepQueue {
 public:
  explicit StepQueue(const std::vector<Step>& steps);

  // What the step took, now or last time.
  void took(std::uint32_t step, std::uint64_t milliseconds);

  void push(std::uint32_t step);
  bool empty() const { return ready_.empty(); }
  std::uint32_t pop();  // of one that is not empty

 private:
  // Steps that do the same to one source, each for its target.
  struct Siblings {
    std::vector<std::uint32_t> steps;
    std::optional<std::uint64_t> seconds;  // of the longest that is known
  };
  using Place = std::pair<std::uint64_t, std::uint32_t>;  // least first

  Place place(std::uint32_t step) const;

  std::map<std::tuple<StepKind, std::string_view, std::uint16_t>, Siblings> siblings_;
  std::vector<Siblings*> of_;
  std::vector<std::optional<std::uint64_t>> seconds_;
  std::set<Place> ready_;
};

}  // namespace kiln::tools
