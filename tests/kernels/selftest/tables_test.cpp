// Compares the kernels' tables with kernels/abi.json, which is written independently, and tests
// what is derived from the tables.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <set>

#include "ops/src/own_kernels.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/selftest/abi.hpp"

namespace kiln::conformance {
namespace {

using Names = std::set<std::string>;

Names names_in_tables() {
  Names names;
  for (const ops::OwnKernel& own : ops::kOwnKernels) {
    names.insert(std::string(own.module) + "." + std::string(own.name));
  }
  return names;
}

// Returns the kernels of the ABI that belong to a module of the tables.
Names names_in_abi(const Names& tables) {
  Names names;
  for (const AbiKernel& each : abi_kernels()) {
    const auto first = tables.lower_bound(each.module + ".");
    const bool has_table = first != tables.end() && first->starts_with(each.module + ".");
    if (has_table) names.insert(each.module + "." + each.name);
  }
  return names;
}

std::vector<std::string> missing(const Names& from, const Names& wanted) {
  std::vector<std::string> names;
  std::set_difference(wanted.begin(), wanted.end(), from.begin(), from.end(),
                      std::back_inserter(names));
  return names;
}

TEST_CASE("every module that the suite has a family for has a table") {
  for (const Family& family : kFamilies) {
    INFO(family.module);
    CHECK(std::any_of(std::begin(ops::kOwnKernels), std::end(ops::kOwnKernels),
                      [&](const ops::OwnKernel& own) { return own.module == family.module; }));
  }
}

TEST_CASE("tables state the kernels of the ABI, and those alone") {
  const Names tables = names_in_tables();
  CHECK(tables.size() == std::size(ops::kOwnKernels));  // no duplicates
  // The ABI kernels that partial modules lack are omitted.
  CHECK(missing(tables, names_in_abi(tables)) == std::vector<std::string>{});
  CHECK(missing(names_in_abi(tables), tables) == std::vector<std::string>{});
}

TEST_CASE("a kernel left out of a table, and a dtype left out of a row, are named") {
  Names tables = names_in_tables();
  const Names abi = names_in_abi(tables);
  tables.erase("unary.ugelu_bf16");  // a dtype
  tables.erase("binary.badd_f32");
  tables.insert("unary.usoftsign_f32");  // a row that the ABI does not know
  CHECK(missing(tables, abi) == std::vector<std::string>{"binary.badd_f32", "unary.ugelu_bf16"});
  CHECK(missing(names_in_abi(tables), tables) == std::vector<std::string>{"unary.usoftsign_f32"});
}

TEST_CASE("a dtype is in host programs what the tables say") {
#define KILN_ROW(type, enumerator, ...)                            \
  CHECK(sizeof(ops::storage::type) == size_of(ops::dtypes::type)); \
  CHECK(ops::info(ops::dtypes::type).dtype == ops::dtypes::type);  \
  ops::with_storage_of(ops::dtypes::type, [](auto element) {       \
    CHECK(std::is_same_v<decltype(element), ops::storage::type>);  \
  });
  KILN_EACH_DTYPE(KILN_ROW)
#undef KILN_ROW
}

TEST_CASE("the tables say which kernels represent their family") {
  for (const char* name : {"ucopy_f32", "uneg_f16", "upowf_f64", "upowf_fp8_e4m3"}) {
    INFO(name);
    CHECK(represents_family("unary", name));
  }
  for (const char* name : {"ucopy_u32", "uneg_bf16", "uabs_f32", "uexp_f32", "unone_f32"}) {
    INFO(name);
    CHECK_FALSE(represents_family("unary", name));
  }
  // Each access pattern has exactly one representative.
  Names ways, represented;
  for (const ops::OwnKernel& own : ops::kOwnKernels) {
    const std::string way = std::string(own.family) + " " +
                            std::to_string(static_cast<int>(own.cost)) + " " +
                            std::to_string(size_of(own.dtype));
    ways.insert(way);
    if (represents_family(own.module, own.name)) represented.insert(way);
  }
  CHECK(ways == represented);
}

}  // namespace
}  // namespace kiln::conformance
