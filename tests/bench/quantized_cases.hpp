// What the families of quantized weights have in common: operands of blocks, and cases that are
// matrices. Dims of a matrix: rows, columns; of products of many vectors then these.
#pragma once

#include <cstddef>
#include <string>

#include "kiln/ops/quantized.hpp"
#include "tests/bench/family_rows.hpp"

namespace kiln::bench {

// The format in a kernel's name, which spells Q4_K q4_K, q4_k or q4k.
ops::BlockFormat format_of(const Kernel& kernel);

// Values of a format, of which the first `used` are read.
Operand blocks(ops::BlockFormat format, std::size_t values, std::size_t used = Operand::kAll);
// Rows of Q8_1, as the products read them.
Operand activations(std::size_t rows, std::size_t columns);
Operand floats(ops::DType dtype, std::size_t count);
// What the activations are made of by another launch.
Operand only_before(std::size_t count);
Operand ids_below(std::size_t count, std::size_t places, Numbers numbers = Numbers::kRandom);

// Rows of 256 to 4,096 columns; two rows at least, since the original's products of several vectors
// write rows by two.
BenchCase matrix_case(std::string kernel, std::size_t count);
// By 64 vectors, in whole tiles of 128 rows.
BenchCase tiles_case(std::string kernel, std::size_t count);

}  // namespace kiln::bench
