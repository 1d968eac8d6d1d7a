// Reads a kernel's parameter types from its mangled name.
//
//   name         = "_Z" function { type }           the first type of a template is what it returns
//   function     = [ "L" ] ( source [ "I" { argument } "E" ]
//                          | "N" { source | "I" { argument } "E" | substitution } "E" )
//   source       = length letters
//   type         = builtin letter | "P" type | [ "r" ] [ "V" ] [ "K" ] type | source | "N" ... "E"
//                | substitution | "T" [ n ] "_" | ( "R" | "O" ) type | "M" type type
//                | "A" [ n ] "_" type | [ "Do" ] "F" type { type } "E"
//   substitution = "S" [ base 36 ] "_"              a type or name that came before
//
// Source: Itanium C++ ABI, section 5.1, External Names. Supports only what kernels need.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "formats/parameter_type.hpp"

namespace kiln {

// Returns the types of the parameters. Structs by value, references, and pointers to functions and
// members have no known type, and a pointer to a struct is "void*". Returns nothing if `name` is not
// mangled or does not fit the grammar above.
std::optional<std::vector<ParameterType>> parameters_of_mangled_name(std::string_view name);

}  // namespace kiln
