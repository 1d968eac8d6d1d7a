// Chooses the next of the steps that can start: the longest, so that no long step is left for the
// end while other cores are idle.
//
// The estimate for a step is its last duration. Without one, it is the longest duration of its
// siblings, the steps of the same source for other targets, in this build or an earlier one. A step
// without any estimate goes first: it may be the longest, and its duration serves as its siblings'
// estimate. Durations are rounded down to seconds, and equal steps go in the plan's order.
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

// Not thread-safe. Steps are named by their position in the plan, which outlives the queue.
class StepQueue {
 public:
  explicit StepQueue(const std::vector<Step>& steps);

  // Records the duration of a step, now or last time.
  void record_duration(std::uint32_t step, std::uint64_t milliseconds);

  void push(std::uint32_t step);
  bool empty() const { return ready_.empty(); }
  std::uint32_t pop();  // the queue must not be empty

 private:
  // The steps of one kind for one source, one for each target.
  struct Siblings {
    std::vector<std::uint32_t> steps;
    std::optional<std::uint64_t> seconds;  // the longest known duration
  };
  using Rank = std::pair<std::uint64_t, std::uint32_t>;  // the smallest goes first

  Rank rank(std::uint32_t step) const;

  std::map<std::tuple<StepKind, std::string_view, std::uint16_t>, Siblings> siblings_;
  std::vector<Siblings*> siblings_of_;                 // by step
  std::vector<std::optional<std::uint64_t>> seconds_;  // by step
  std::set<Rank> ready_;
};

}  // namespace kiln::tools
