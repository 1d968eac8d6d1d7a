// The record of a build: the raw input, and the input with a valid seal, so that its lines are
// reached.
#include "tests/fuzz/fuzz_target.hpp"
#include "tools/engine/state.hpp"
#include "tools/system/sealed_text.hpp"

using namespace kiln::testing;
using namespace kiln::tools;

namespace {

void round_trip(std::string_view file) {
  const std::string written = write_state(read_state(file));
  promise(write_state(read_state(written)) == written, "a state reads back otherwise");
}

}  // namespace

FUZZ_TARGET(state, data, size) {
  const std::string_view text = text_of(data, size);
  round_trip(text);
  // The version that is written is the one that is read.
  const std::string empty = write_state({});
  const std::string first = empty.substr(0, empty.find('\n'));
  const std::size_t blank = first.rfind(' ');
  const auto version = static_cast<unsigned>(std::atoi(first.c_str() + blank + 1));
  round_trip(seal(first.substr(0, blank), version, text));
}

FUZZ_SEEDS(state) {
  BuildState state;
  StepRecord& step = state.steps["compile m\tx"];
  step.ingredients = write_ingredients({{"tool", "nvcc"}, {"line\nbreak", "a\\b"}});
  step.dependencies = {{"a.cu", {}}, {"b.hpp", {}}};
  step.milliseconds = 12;
  state.finish = {{"catalog", "1"}};
  const std::string written = write_state(state);
  const std::size_t begin = written.find('\n') + 1;
  return {written, written.substr(begin, written.rfind("end ") - begin)};
}
