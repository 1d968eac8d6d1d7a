// A small transformer in a GGUF file with the tensor names of llama models: its sizes, and a file
// with random weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/gguf/file.hpp"

struct Sizes {
  std::size_t layers = 2, width = 256, heads = 4, hidden = 512, words = 512;
  std::size_t positions = 32;  // most tokens of a text

  std::size_t head_size() const { return width / heads; }
};

// Returns a GGUF file of that model. It is the same in every run.
std::vector<std::byte> random_model(const Sizes& sizes);

// Errors: a pair is missing, or has a size that the decoder does not support.
kiln::Result<Sizes> sizes_of(const gguf::File& file);
