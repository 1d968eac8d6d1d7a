// docs/KERNELS.md agrees with the tables and the references.
#include "tests/kernels/contracts.hpp"

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/golden.hpp"

namespace kiln::conformance {
namespace {

TEST_CASE("docs/KERNELS.md describes every kernel as tables and references do") {
  std::ostringstream file;
  file << std::ifstream(KILN_GOLDEN_DIR "/KERNELS.md", std::ios::binary).rdbuf();
  const std::string text = file.str();
  const std::size_t mark = text.find("<!-- The rest is generated");
  REQUIRE(mark != std::string::npos);
  const std::size_t end = text.find("-->\n", mark);
  REQUIRE(end != std::string::npos);
  testing::check_golden("KERNELS.md", text.substr(0, end + 4) + describe_kernels());
}

TEST_CASE("every operation of the tables says what it computes") {
  CHECK(without_contract() == std::vector<std::string>{});
}

}  // namespace
}  // namespace kiln::conformance
