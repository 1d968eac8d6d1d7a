// The names that compilers give to templates and overloads, as a person would write them. Itanium C++
// ABI, by abi::__cxa_demangle of the standard library.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Whether a compiler made the name of a function and its parameters' types; one of extern "C" is as it is.
constexpr bool is_mangled(std::string_view name) { return name.substr(0, 2) == "_Z"; }

// "_Z5saxpyIfEvifPKT_PS0_" -> "saxpy<float>", without the type that it returns and its parameters.
// Empty for what is no mangled name.
std::string demangled(std::string_view name);

// "saxpy<float>", or the name itself where it is not mangled.
std::string readable_name(std::string_view name);

// "name (saxpy<float>)", or the name alone where it is not mangled: for messages and tables.
std::string with_demangled(std::string_view name);

// Whether a person would write the mangled `name` so: "saxpy<float>", "tiled<float,4>". Blanks, and the
// letters behind a number, do not count.
bool is_written_as(std::string_view name, std::string_view written);

}  // namespace kiln
