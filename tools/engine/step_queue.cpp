#include "tools/engine/step_queue.hpp"

#include <limits>

namespace kiln::tools {

StepQueue::StepQueue(const std::vector<Step>& steps) : seconds_(steps.size()) {
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    Siblings& all = siblings_[{steps[i].kind, steps[i].module, steps[i].unit}];
    all.steps.push_back(i);
    of_.push_back(&all);
  }
}

// Orders steps from the longest to the shortest.
StepQueue::Place StepQueue::place(std::uint32_t step) const {
  const std::optional<std::uint64_t>& known = seconds_[step] ? seconds_[step] : of_[step]->seconds;
  return {known ? std::numeric_limits<std::uint64_t>::max() - *known : 0, step};
}

void StepQueue::took(std::uint32_t step, std::uint64_t milliseconds) {
  const std::uint64_t seconds = milliseconds / 1000;
  Siblings& all = *of_[step];
  std::vector<std::uint32_t> moved;
  for (const std::uint32_t one : all.steps) {
    if (ready_.erase(place(one)) != 0) moved.push_back(one);
  }
  seconds_[step] = seconds;
  if (!all.seconds || *all.seconds < seconds) all.seconds = seconds;
  for (const std::uint32_t one : moved) ready_.insert(place(one));
}

void StepQueue::push(std::uint32_t step) { ready_.insert(place(step)); }

std::uint32_t StepQueue::pop() { return ready_.extract(ready_.begin()).value().second; }

}  // namespace kiln::tools
