#include <catch2/catch_test_macros.hpp>

#include "tools/engine/step_queue.hpp"

using namespace kiln::tools;

namespace {

// Returns steps for two sources with three targets each, and then a step of another kind.
std::vector<Step> some_steps() {
  std::vector<Step> steps;
  for (std::uint16_t unit = 0; unit < 2; ++unit) {
    for (const char* target : {"gfx1100", "sm_80", "sm_90"}) {
      Step& step = steps.emplace_back();
      step.module = "module";
      step.unit = unit;
      step.target = target;
    }
  }
  Step& packing = steps.emplace_back();
  packing.kind = StepKind::kFatbin;
  packing.module = "module";
  return steps;
}

std::vector<std::uint32_t> drain(StepQueue& queue) {
  std::vector<std::uint32_t> order;
  while (!queue.empty()) order.push_back(queue.pop());
  return order;
}

void push_all(StepQueue& queue) {
  for (std::uint32_t i = 0; i < 7; ++i) queue.push(i);
}

}  // namespace

TEST_CASE("steps of which nothing is known start in the plan's order") {
  const std::vector<Step> steps = some_steps();
  StepQueue queue(steps);
  push_all(queue);
  CHECK(drain(queue) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("the step that took longest last time starts first, and seconds alone count") {
  const std::vector<Step> steps = some_steps();
  StepQueue queue(steps);
  const std::uint64_t took[] = {2900, 10'000, 2100, 40, 30, 9'000, 3'000};
  for (std::uint32_t i = 0; i < 7; ++i) queue.record_duration(i, took[i]);
  push_all(queue);
  CHECK(drain(queue) == std::vector<std::uint32_t>{1, 5, 6, 0, 2, 3, 4});
}

TEST_CASE("what one target's step takes tells of the same source for other targets") {
  const std::vector<Step> steps = some_steps();
  StepQueue queue(steps);
  push_all(queue);
  CHECK(queue.pop() == 0);
  queue.record_duration(0, 5'000);
  CHECK(queue.pop() == 3);  // the other source is unknown
  queue.record_duration(3, 20'000);
  CHECK(queue.pop() == 6);
  queue.record_duration(6, 1);
  CHECK(queue.pop() == 4);
  queue.record_duration(4, 1'000);  // its sibling may still take as long as the longest step
  CHECK(drain(queue) == std::vector<std::uint32_t>{5, 1, 2});
}
