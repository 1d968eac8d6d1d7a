// Common to the families of quantized weights: operands of blocks, and cases that are matrices.
// Dims of a matrix are rows and columns; products of many vectors have the vectors as a third dim.
#pragma once

#include <cstddef>
#include <string>

#include "kiln/ops/quantized.hpp"
#include "tests/bench/family_rows.hpp"

namespace kiln::bench {

// Returns the format in a kernel's name, where Q4_K is spelt q4_K, q4_k or q4k.
ops::BlockFormat format_of(const Kernel& kernel);

// Returns an operand of `values` values of a format, of which the first `used` are read.
Operand blocks(ops::BlockFormat format, std::size_t values, std::size_t used = Operand::kAll);
// Returns rows of Q8_1, which the products read.
Operand activations(std::size_t rows, std::size_t columns);
Operand floats(ops::DType dtype, std::size_t count);
// Returns the values from which another launch makes the activations.
Operand only_before(std::size_t count);
Operand ids_below(std::size_t count, std::size_t places, Numbers numbers = Numbers::kRandom);

// Returns a case with rows of 256 to 4,096 columns. There are at least two rows, because the
// original's products of several vectors write two rows at a time.
BenchCase matrix_case(std::string kernel, std::size_t count);
// Returns a case of 64 vectors, in whole tiles of 128 rows.
BenchCase tiles_case(std::string kernel, std::size_t count);

}  // namespace kiln::bench
