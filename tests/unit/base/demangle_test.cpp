#include "base/demangle.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;

TEST_CASE("mangled names are shown as a person would write them") {
  CHECK(demangled("_Z5saxpyIfEvifPKT_PS0_") == "saxpy<float>");
  CHECK(demangled("_Z5tiledIfLi4EEvPT_") == "tiled<float, 4>");
  CHECK(demangled("_Z5countv") == "count");
  CHECK(demangled("_ZN2ns5saxpyIdEEvPT_") == "ns::saxpy<double>");
  CHECK(demangled("_ZN12_GLOBAL__N_15innerEPf") == "(anonymous namespace)::inner");
  CHECK(demangled("_Z5applyIPFffEEvT_Pf") == "apply<float (*)(float)>");
  CHECK(with_demangled("_Z5countv") == "_Z5countv (count)");
}

TEST_CASE("other names are none, whatever an image calls its kernels") {
  for (const char* name : {"", "saxpy", "_Z", "_Z5sax", "_Zzzzz", "Z5countv"}) {
    CHECK(demangled(name).empty());
    CHECK(with_demangled(name) == name);
  }
  CHECK(demangled("_Z" + std::string(5000, 'P')).empty());
}

TEST_CASE("is_written_as knows an instance of a template by what the source says") {
  CHECK(matches_readable_name("_Z5saxpyIfEvifPKT_PS0_", "saxpy<float>"));
  CHECK(matches_readable_name("_Z5saxpyIfEvifPKT_PS0_", "saxpy< float >"));
  CHECK(matches_readable_name("_Z5tiledIfLj4EEvPT_", "tiled<float, 4u>"));
  CHECK(matches_readable_name("_Z5tiledIfLj4EEvPT_", "tiled<float,4>"));
  CHECK(matches_readable_name("_Z5saxpyIjEvPT_", "saxpy<unsigned int>"));
  CHECK(matches_readable_name("_Z5saxpyI6__halfEvPT_", "saxpy<__half>"));
  CHECK(matches_readable_name("_ZN2ns5saxpyIdEEvPT_", "ns::saxpy<double>"));
  CHECK(matches_readable_name("_Z5countv", "count"));
  CHECK_FALSE(matches_readable_name("_Z5saxpyIfEvifPKT_PS0_", "saxpy<double>"));
  CHECK_FALSE(matches_readable_name("_Z5tiledIfLj4EEvPT_", "tiled<float,8>"));
  CHECK_FALSE(matches_readable_name("_Z2k4IfEvPT_", "k<float>"));
  CHECK_FALSE(matches_readable_name("saxpy", "saxpy"));
  CHECK_FALSE(matches_readable_name("_Z5countv", ""));
}
