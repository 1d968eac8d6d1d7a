#include "tools/model/plan.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln::tools;

namespace {

const Plan kPlan = {.source_root = "/src",
                    .out_root = "/out",
                    .placeholders = {{"nvcc", "/cuda/bin/nvcc"}},
                    .steps = {}};

}  // namespace

TEST_CASE("in_source_root replaces places") {
  CHECK(in_source_root("{src}/a.cu", kPlan) == "a.cu");
  CHECK(in_source_root("-I{src}", kPlan) == "-I.");
  CHECK(in_source_root("-map={out}/hip=.", kPlan) == "-map=/out/hip=.");
  CHECK(in_source_root("{nvcc}", kPlan) == "/cuda/bin/nvcc");
  CHECK(in_source_root("{other} {}", kPlan) == "{other} {}");
}

TEST_CASE("without_placeholders keeps the user's text as it is") {
  for (const char* text :
       {"", "-O3", "{src}", "-DX={src}/{out}", "{nvcc} {host-compiler}", "{{src}}", "{{}",
        "{{}src}", "{{{}out}", "{", "{src", "-DX={1,2}", "-DX={}"}) {
    INFO(text);
    CHECK(in_source_root(without_placeholders(text), kPlan) == text);
  }
  CHECK(without_placeholders("-DX={src}") == "-DX={{}src}");
  CHECK(without_placeholders("-DX={1,2} {} {A}") == "-DX={1,2} {} {A}");
}
