#include <catch2/catch_test_macros.hpp>

#include "tools/engine/state.hpp"
#include "tools/system/sealed_text.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

const Ingredients kIngredients = {
    {"kind", "compile"}, {"argument", "-DX=\"a\tb\nc\\\""}, {"argument", ""}};

BuildState sample() {
  BuildState state;
  StepRecord& compile = state.steps["compile affine sm_80"];
  compile.ingredients = write_ingredients(kIngredients);
  compile.dependencies = {{"/usr/include/a b.h", sha256("1")}, {"{src}/x\ny.cuh", sha256("2")}};
  compile.output = sha256("image");
  compile.log = sha256("");
  compile.milliseconds = 1234;
  StepRecord& hipify = state.steps["hipify affine"];
  hipify.ingredients = write_ingredients({{"kind", "hipify"}});
  hipify.dependencies = {{"{src}/x\ny.cuh", sha256("2")}};
  hipify.output = sha256("text");
  state.finish = {{"header", sha256("h").hex()}};
  return state;
}

bool equal(const BuildState& a, const BuildState& b) { return write_state(a) == write_state(b); }

}  // namespace

TEST_CASE("state is read back as it was written") {
  const BuildState state = sample();
  const BuildState read = read_state(write_state(state));
  REQUIRE(read.steps.size() == 2);
  const StepRecord& compile = read.steps.at("compile affine sm_80");
  const StepRecord& expected = state.steps.at("compile affine sm_80");
  CHECK(compile.ingredients == expected.ingredients);
  CHECK(read_ingredients(compile.ingredients) == kIngredients);
  CHECK(compile.dependencies == expected.dependencies);
  CHECK(compile.output == expected.output);
  CHECK(compile.log == expected.log);
  CHECK(compile.milliseconds == 1234);
  CHECK(read.steps.at("hipify affine").dependencies.size() == 1);
  CHECK(read.finish == state.finish);
  CHECK(equal(read, state));
}

TEST_CASE("state holds what steps have in common once") {
  BuildState state = sample();
  StepRecord& other = state.steps["compile affine sm_90"];
  other = state.steps["compile affine sm_80"];
  other.ingredients += write_ingredients({{"kind", "compile"}, {"argument", "-O3"}});
  const std::string file = write_state(state);
  CHECK(file.find("is kind\tcompile\n") == file.rfind("is kind\tcompile\n"));
  const BuildState read = read_state(file);
  CHECK(read.steps.at("compile affine sm_90").ingredients == other.ingredients);
  const auto& [first, second] = std::pair(read.steps.at("compile affine sm_80").dependencies,
                                          read.steps.at("compile affine sm_90").dependencies);
  CHECK(first.id() == second.id());
}

TEST_CASE("state is empty when a step names ingredients that are not there") {
  const std::string file = write_state(sample());
  const std::size_t begin = file.find('\n') + 1;
  const std::string lines = file.substr(begin, file.rfind("end ") - begin);
  const std::string right = "\nhas 0-2\n";
  REQUIRE(lines.find(right) != std::string::npos);
  for (const std::string& wrong :
       {std::string("\nhas 0-9\n"), std::string("\nhas 2-0\n"), std::string("\nhas 0\n"),
        std::string("\nhas 0-x\n"), std::string("\nhas 0-18446744073709551615\n")}) {
    std::string changed = lines;
    changed.replace(changed.find(right), right.size(), wrong);
    CAPTURE(wrong);
    CHECK(read_state(seal("kiln-state", 2, changed)).steps.empty());
    CHECK_FALSE(read_state(seal("kiln-state", 2, lines)).steps.empty());
  }
}

TEST_CASE("state is empty when cut at any byte") {
  const std::string file = write_state(sample());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const BuildState read = read_state(std::string_view(file).substr(0, size));
    CAPTURE(size);
    CHECK((read.steps.empty() && read.finish.empty()));
  }
}

TEST_CASE("state is empty when any byte is changed") {
  const std::string file = write_state(sample());
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    CAPTURE(i);
    CHECK(read_state(changed).steps.empty());
  }
}
