#include "formats/mangled_name.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;

namespace {

// Returns "u64, const f32*, ?", or "none" without an answer.
std::string parameters(std::string_view name) {
  const auto types = parameters_of_mangled_name(name);
  if (!types) return "none";
  std::string text;
  for (const ParameterType& type : *types) {
    text += (text.empty() ? "" : ", ") + (type.is_known() ? to_string(type) : "?");
  }
  return text;
}

}  // namespace

TEST_CASE("parameters_of_mangled_name reads what compilers write") {
  // Mangled by g++ 12 and clang 14 from the declarations in the comments.
  CHECK(parameters("_Z4tickv") == "");
  CHECK(parameters("_Z5scalemPKfPff") == "u64, const f32*, f32*, f32");
  CHECK(parameters("_Z3allbhtjmyacsilxfd") ==
        "bool, u8, u16, u32, u64, u64, i8, i8, i16, i32, i64, i64, f32, f64");
  // k(const __half*, __half*, __half)
  CHECK(parameters("_Z1kPK6__halfPS_S_") == "const f16*, f16*, f16");
  // k(__half*, __half*, const __half*)
  CHECK(parameters("_Z1kP6__halfS0_PKS_") == "f16*, f16*, const f16*");
  CHECK(parameters("_Z1kP13__nv_bfloat16PK13__nv_fp8_e4m3") == "bf16*, const f8*");
  CHECK(parameters("_Z1kPDF16_PKDF16bPu6__bf16") == "f16*, const bf16*, bf16*");
  // template <typename T> void scale(T*, T) with T = float
  CHECK(parameters("_Z5scaleIfEvPT_S0_") == "f32*, f32");
  // template <typename In, typename Out, int N> void cast(unsigned long, const In*, Out*)
  CHECK(parameters("_Z4castIf6__halfLi4EEvmPKT_PT0_") == "u64, const f32*, f16*");
  // a::b(const void*, a::S*, a::S)
  CHECK(parameters("_ZN1a1bEPKvPNS_1SES2_") == "const void*, void*, ?");
  // template <typename T> void a::c<T>(T const*, T const*) with T = double
  CHECK(parameters("_ZN1a1cIdEEvPKT_S3_") == "const f64*, const f64*");
  CHECK(parameters("_ZN12_GLOBAL__N_11kEPf") == "f32*");
  CHECK(parameters("_ZL1kPf") == "f32*");
  CHECK(parameters("_Z1kPPfPKPv") == "ptr, ptr");
  // k(volatile int*, const volatile float*, const volatile float*, const volatile float* const*)
  CHECK(parameters("_Z1kPViPVKfS2_PKS2_") == "i32*, const f32*, const f32*, ptr");
  // k(float* __restrict__ const*, wchar_t, char16_t, char32_t)
  CHECK(parameters("_Z1kPrKPfwDsDi") == "ptr, i32, u16, u32");
  CHECK(parameters("_Z1k3BoxIfEPS0_i") == "?, void*, i32");
  // k(float*, const int&, volatile float*, float*)
  CHECK(parameters("_Z1kPfRKiPVfS_") == "f32*, ?, f32*, f32*");
  // k(float*, void (*)(int), int) and k(float*, void (*)(int, float*) noexcept, int)
  CHECK(parameters("_Z1kPfPFviEi") == "f32*, ?, i32");
  CHECK(parameters("_Z1kPfPDoFviS_Ei") == "f32*, ?, i32");
  // k(float*, int S::*, void (S::*)(int), int S::*, int)
  CHECK(parameters("_Z1kPfM1SiMS0_FviES1_i") == "f32*, ?, ?, ?, i32");
  // k(float*, float (*)[3], float (&)[4], int)
  CHECK(parameters("_Z1kPfPA3_fRA4_fi") == "f32*, void*, ?, i32");
  // k(float*, __int128, unsigned __int128*, long double, std::nullptr_t, int)
  CHECK(parameters("_Z1kPfnPoeDni") == "f32*, ?, void*, ?, ?, i32");
}

TEST_CASE("parameters_of_mangled_name leaves alone what it does not know") {
  for (const char* name : {"",
                           "affine_f32",
                           "_Z",
                           "_Z1",
                           "_Z9short",
                           "_Z1k",
                           "_Z1kS_",
                           "_Z1kT_",
                           "_Z1kPFvv",
                           "_Z1kR",
                           "_Z1kM1S",
                           "_Z1kA3f",
                           "_Z1kz",
                           "_Z1kfv",
                           "_Z1kIJfEEvv",
                           "_Z1kIXadL_Z1fvEEEvv",
                           "_ZN1aEv.kd",
                           "_Z99999999999999999999k",
                           "_ZNE",
                           "_ZNIfEE",
                           "_Z1kIfEv",
                           "_Z1kS99999999_"}) {
    INFO(name);
    CHECK(parameters(name) == "none");
  }
  CHECK(parameters("_Z1k" + std::string(100000, 'P') + "f") == "none");
}

TEST_CASE("parameters_of_mangled_name takes a name that is cut short anywhere") {
  const std::string name = "_ZN1a4castIf6__halfLi4EEvmPKT_PNS_1SES3_";
  for (std::size_t size = 0; size < name.size(); ++size) {
    (void)parameters_of_mangled_name(name.substr(0, size));
  }
}
