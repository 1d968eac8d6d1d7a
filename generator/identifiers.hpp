// C++ identifiers for names that were never meant to be any.
//
// An ordinary name keeps its spelling. A name is ordinary when it is a C++ identifier, no keyword, no
// name that the header itself or a well-known macro uses, neither starts nor ends with '_', and has no
// "__" in it. Every other name is spelt out:
//
//   each byte that is no letter or digit, and a leading digit, becomes '_' and two hexadecimal digits;
//   one '_' is added at the end.
//
//   affine_f32 -> affine_f32        _Z5scaleIfEvPT_ -> _5fZ5scaleIfEvPT_5f_
//   operator   -> operator_         operator_       -> operator_5f_
//   find       -> find_             scale<float>    -> scale_3cfloat_3e_
//
// The rule is injective, because an ordinary name never ends with '_' and a spelt-out one always does:
// two names of a module never meet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::generator {

std::string identifier(std::string_view name);

// A name spelt out, be it ordinary or not; with kEveryByte also its letters and digits, for when the
// shorter spelling is taken. No name's spellings of the two kinds meet.
enum class Spelling : std::uint8_t { kShort, kEveryByte };
std::string spelt_out(std::string_view name, Spelling spelling = Spelling::kShort);

// An identifier for a target, readable and distinct for distinct targets:
// "gfx90a:sramecc-:xnack+" -> "gfx90a_sramecc_off_xnack_on", "gfx11-generic" -> "gfx11_generic".
std::string target_identifier(std::string_view target);

}  // namespace kiln::generator
