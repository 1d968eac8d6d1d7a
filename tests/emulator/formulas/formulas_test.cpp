// Compares every instruction of the emulator with its formula, group by group, and checks that
// every instruction has a formula.
#include <catch2/catch_test_macros.hpp>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"

using namespace kiln::formulas;
using kiln::emulator::Bench;

namespace {

// Instructions without a formula, and what tests them instead. Currently none.
struct Exception {
  std::string name;
  std::string reason;
};
const std::vector<Exception> kExceptions = {};

}  // namespace

TEST_CASE("instructions: moves, shifts and logic") { hold_all(bit_formulas()); }
TEST_CASE("instructions: integer arithmetic") { hold_all(integer_formulas()); }
TEST_CASE("instructions: floating-point arithmetic") { hold_all(float_formulas()); }
TEST_CASE("instructions: conversions") { hold_all(conversion_formulas()); }
TEST_CASE("instructions: packed values and dot products") { hold_all(packed_formulas()); }
TEST_CASE("instructions: products of matrices") { hold_all(matrix_formulas()); }
TEST_CASE("instructions: comparisons") { hold_all(comparison_formulas()); }
TEST_CASE("instructions: lanes that see one another") { hold_all(lane_formulas()); }
TEST_CASE("instructions: scalars") { hold_all(scalar_formulas()); }
TEST_CASE("instructions: control flow, state, and what has no effect") {
  hold_all(control_formulas());
}
TEST_CASE("instructions: loads and stores") { hold_all(memory_formulas()); }
TEST_CASE("instructions: atomic updates of global memory") { hold_all(atomic_formulas()); }
TEST_CASE("instructions: LDS") { hold_all(lds_formulas()); }

TEST_CASE("every row has a handler for both widths of waves") {
  for (const auto& [name, row] : Bench::operations().rows()) {
    INFO(name);
    CHECK(row.run32 != nullptr);
    CHECK(row.run64 != nullptr);
  }
}

TEST_CASE("no two rows have one name") {
  using namespace kiln::emulator;
  std::size_t count = 0;
  for (const auto group :
       {bit_operations, integer_operations, float_operations, conversion_operations,
        packed_operations, matrix_operations, comparison_operations, lane_operations,
        scalar_operations, control_operations, memory_operations, atomic_operations,
        lds_operations}) {
    count += group().size();
  }
  CHECK(count == Bench::operations().rows().size());
}

TEST_CASE("every instruction has a formula of its own") {
  const auto& rows = Bench::operations().rows();
  std::set<std::string> held;
  for (const Formula& formula : all_formulas()) {
    INFO(formula.name);
    CHECK(rows.contains(formula.name));
    CHECK(held.insert(formula.name).second);
  }
  std::cout << held.size() << " of " << rows.size()
            << " instructions have a formula of their own\n";
  std::set<std::string> excepted;
  for (const Exception& exception : kExceptions) {
    INFO(exception.name << ": " << exception.reason);
    CHECK(rows.contains(exception.name));
    CHECK(!held.contains(exception.name));
    CHECK(excepted.insert(exception.name).second);
  }
  std::set<std::string> names;
  for (const auto& row : rows) names.insert(row.first);
  for (const std::string& name : names) {
    if (!held.contains(name) && !excepted.contains(name))
      FAIL_CHECK(name << " has no formula in tests/emulator/formulas, and no exception either");
  }
}
