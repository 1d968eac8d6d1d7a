// What kernels compute, in words: the rows of docs/KERNELS.md. The words stand beside the
// references that hold the kernels to them; which kernels there are, and of which types, the
// kernels' tables say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::conformance {

// All kernels of one root. Texts are Markdown; an empty one leaves its cell empty.
struct Contract {
  std::string_view root;
  std::string formula;
  std::string computed;  // the types that it is computed and accumulated in
  std::string bound;     // error beside the rounding to the element
  std::string special;   // NaN, infinities, -0, overflow
  // Where the formula comes from, unless it is evident; what is kept of the original kernels, and
  // what is mended.
  std::string notes;
};
using Contracts = std::vector<Contract>;

// `computed` of what has f64 and other floats: see the head of the generated part.
inline constexpr const char* kFloatsIn = "f64 in f64, the others in f32";

// The generated part of docs/KERNELS.md: a table for each module. Kernels without a contract are
// there too, with empty cells.
std::string describe_kernels();

// Roots that are in the kernels' tables and in no contract.
std::vector<std::string> without_contract();

}  // namespace kiln::conformance
