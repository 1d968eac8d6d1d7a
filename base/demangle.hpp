// The names of templates and overloads as people write them. Uses the Itanium C++ ABI, through
// abi::__cxa_demangle of the standard library.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// True if a compiler made the name from a function and its parameter types. Names of extern "C"
// functions are not mangled.
constexpr bool is_mangled(std::string_view name) { return name.substr(0, 2) == "_Z"; }

// "_Z5saxpyIfEvifPKT_PS0_" -> "saxpy<float>", without return type and parameters. Empty if the name
// is not mangled.
std::string demangled(std::string_view name);

// Returns "saxpy<float>", or the name itself if it is not mangled.
std::string readable_name(std::string_view name);

// Returns "name (saxpy<float>)", or just the name if it is not mangled. For messages and tables.
std::string with_demangled(std::string_view name);

// True if people would write the mangled `name` as `written`: "saxpy<float>", "tiled<float,4>".
// Ignores blanks and suffixes of numbers.
bool matches_readable_name(std::string_view name, std::string_view written);

}  // namespace kiln
