// A device that does what a case requires, and then applies a flaw.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/kernels/suite.hpp"

namespace kiln::conformance {

// A piece of memory as the device sees it, after doing what the case requires.
struct Piece {
  const Operand& operand;
  const std::vector<Expected>& expected;
  std::vector<std::byte>& content;
  std::size_t first;  // byte of the first element

  std::byte* element(std::size_t i) const {
    return content.data() + first + i * size_of(operand.dtype);
  }
  Bits read(std::size_t i) const { return load(operand.dtype, element(i)); }
  void write(std::size_t i, Bits bits) const { store(operand.dtype, bits, element(i)); }
  float number(std::size_t i) const { return static_cast<float>(decode(operand.dtype, read(i))); }
  void write_number(std::size_t i, Real value) const { write(i, encode(operand.dtype, value)); }
  std::size_t count() const { return operand.count(); }
};
using Flaw = std::function<void(const Piece& inp, const Piece& out)>;

// Returns the verdict of the suite on such a device.
Verdict run_flawed(const PreparedCase& subject, const Flaw& flaw);

// Returns the verdict of the suite on a device that computes by itself. `model` reads and writes
// the operands, in the order of the case. The outputs contain poison.
using Model = std::function<void(const std::vector<Piece>& operands)>;
Verdict run_model(const PreparedCase& subject, const Model& model);

// Returns the case with that name, "ugelu_f16/transposed/33x65/own". Fails the test if there is
// none.
PreparedCase build(std::string_view module, const std::string& name);

}  // namespace kiln::conformance
