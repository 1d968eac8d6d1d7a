#include "generator/identifiers.hpp"

#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "base/text.hpp"

using kiln::generator::identifier;
using kiln::generator::target_identifier;

TEST_CASE("identifier keeps an ordinary name", "[generator]") {
  for (const char* name : {"affine_f32", "ucopy_f8_e4m3", "x", "Kernel9", "a_b_c"}) {
    CHECK(identifier(name) == name);
  }
}

TEST_CASE("identifier spells out a name that C++ or the header does not leave free", "[generator]") {
  CHECK(identifier("operator") == "operator_");
  CHECK(identifier("co_await") == "co_5fawait_");
  CHECK(identifier("find") == "find_");
  CHECK(identifier("modules") == "modules_");
  CHECK(identifier("errno") == "errno_");
  CHECK(identifier("I") == "I_");  // <complex.h>
  CHECK(identifier("_Z5scaleIfEvPT_") == "_5fZ5scaleIfEvPT_5f_");
  CHECK(identifier("scale<float>") == "scale_3cfloat_3e_");
  CHECK(identifier("a__b") == "a_5f_5fb_");
  CHECK(identifier("2d_copy") == "_32d_5fcopy_");
  CHECK(identifier("caf\xc3\xa9") == "caf_c3_a9_");
  CHECK(identifier("") == "_");
}

TEST_CASE("identifier gives every name one of its own", "[generator]") {
  // All names of up to four letters, from an alphabet with a letter for every rule.
  const std::string alphabet = "a5_f<";
  std::vector<std::string> names = {"", "operator", "operator_", "find", "find_", "find_5f_"};
  std::vector<std::string> longest = {""};
  for (int length = 1; length <= 4; ++length) {
    std::vector<std::string> longer;
    for (const std::string& name : longest) {
      for (const char c : alphabet) longer.push_back(name + c);
    }
    names.insert(names.end(), longer.begin(), longer.end());
    longest = std::move(longer);
  }
  REQUIRE(names.size() == 6 + 5 + 25 + 125 + 625);
  std::map<std::string, std::string> seen;
  for (const std::string& name : names) {
    const auto [other, is_new] = seen.emplace(identifier(name), name);
    INFO("'" << name << "' and '" << other->second << "' both become " << other->first);
    CHECK(is_new);
    CHECK((kiln::is_identifier(other->first)));
    CHECK(other->first.find("__") == std::string::npos);
  }
}

TEST_CASE("spelt_out spells every byte when asked to", "[generator]") {
  using kiln::generator::Spelling;
  CHECK(kiln::generator::spelt_out("copy") == "copy_");
  CHECK(kiln::generator::spelt_out("copy", Spelling::kEveryByte) == "_63_6f_70_79_");
}

TEST_CASE("target_identifier stays readable and distinct", "[generator]") {
  CHECK(target_identifier("gfx1030") == "gfx1030");
  CHECK(target_identifier("gfx11-generic") == "gfx11_generic");
  CHECK(target_identifier("gfx90a:sramecc-:xnack+") == "gfx90a_sramecc_off_xnack_on");
  CHECK(target_identifier("gfx90a:xnack-") == "gfx90a_xnack_off");
  CHECK(target_identifier("sm_90a") == "sm_90a");
  CHECK(target_identifier("compute_80") == "compute_80");
  CHECK(target_identifier("host:wave64") == "host_wave64");
}
