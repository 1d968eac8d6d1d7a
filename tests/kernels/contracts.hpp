// What kernels compute, in words: the rows of docs/KERNELS.md. The text is next to the references
// that kernels are compared with. The kernels' tables say which kernels exist, and for which types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::conformance {

// The contract of all kernels of one root. Texts are Markdown; an empty one leaves its cell empty.
struct Contract {
  std::string_view root;
  std::string formula;
  std::string computed;  // the types of the computation and of sums
  std::string bound;     // error in addition to the rounding to the element type
  std::string special;   // NaN, infinities, -0, overflow
  // The source of the formula, unless it is evident; the behaviour of the original kernels that is
  // kept, and that is corrected.
  std::string notes;
};
using Contracts = std::vector<Contract>;

// The value of `computed` for kernels of f64 and of other floats: see the beginning of the
// generated part.
inline constexpr const char* kFloatsIn = "f64 in f64, the others in f32";

// Returns the generated part of docs/KERNELS.md: a table for each module. Kernels without a
// contract have empty cells.
std::string describe_kernels();

// Returns the roots that are in the kernels' tables but have no contract.
std::vector<std::string> without_contract();

}  // namespace kiln::conformance
