#include "tools/engine/step_queue.hpp"

#include <limits>

namespace kiln::tools {

StepQueue::StepQueue(const std::vector<Step>& steps) : seconds_(steps.size()) {
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    Siblings& siblings = siblings_[{steps[i].kind, steps[i].module, steps[i].unit}];
    siblings.steps.push_back(i);
    siblings_of_.push_back(&siblings);
  }
}

// Orders steps from the longest to the shortest.
StepQueue::Rank StepQueue::rank(std::uint32_t step) const {
  const std::optional<std::uint64_t>& known =
      seconds_[step] ? seconds_[step] : siblings_of_[step]->seconds;
  return {known ? std::numeric_limits<std::uint64_t>::max() - *known : 0, step};
}

void StepQueue::record_duration(std::uint32_t step, std::uint64_t milliseconds) {
  const std::uint64_t seconds = milliseconds / 1000;
  Siblings& siblings = *siblings_of_[step];
  std::vector<std::uint32_t> moved;
  for (const std::uint32_t sibling : siblings.steps) {
    if (ready_.erase(rank(sibling)) != 0) moved.push_back(sibling);
  }
  seconds_[step] = seconds;
  if (!siblings.seconds || *siblings.seconds < seconds) siblings.seconds = seconds;
  for (const std::uint32_t sibling : moved) ready_.insert(rank(sibling));
}

void StepQueue::push(std::uint32_t step) { ready_.insert(rank(step)); }

std::uint32_t StepQueue::pop() { return ready_.extract(ready_.begin()).value().second; }

}  // namespace kiln::tools
