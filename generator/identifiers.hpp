// C++ identifiers for arbitrary names.
//
// An ordinary name is kept. A name is ordinary if it is a C++ identifier and no keyword, is not
// used by the header itself or by a well-known macro, neither starts nor ends with '_', and does
// not contain "__". Every other name is spelt out:
//
//   each byte that is no letter or digit, and a leading digit, becomes '_' and two hexadecimal digits;
//   one '_' is added at the end.
//
//   affine_f32 -> affine_f32        _Z5scaleIfEvPT_ -> _5fZ5scaleIfEvPT_5f_
//   operator   -> operator_         operator_       -> operator_5f_
//   find       -> find_             scale<float>    -> scale_3cfloat_3e_
//
// The mapping is injective: an ordinary name never ends with '_', and a spelt-out name always does.
// So two names of a module never collide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::generator {

std::string identifier(std::string_view name);

// True for macros of compilers and common C headers, such as "linux" and "I".
bool is_macro(std::string_view name);

// Spells out any name, even an ordinary one. kEveryByte also spells out letters and digits, for
// when the shorter spelling is taken. Spellings of the two kinds never collide.
enum class Spelling : std::uint8_t { kShort, kEveryByte };
std::string spelt_out(std::string_view name, Spelling spelling = Spelling::kShort);

// Returns a readable identifier for a target. Distinct targets have distinct identifiers:
// "gfx90a:sramecc-:xnack+" -> "gfx90a_sramecc_off_xnack_on", "gfx11-generic" -> "gfx11_generic".
std::string target_identifier(std::string_view target);

// "app_gpu" -> "APP_GPU", for macros and constants.
std::string upper_case(std::string_view name);

}  // namespace kiln::generator
