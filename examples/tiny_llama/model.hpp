// A small transformer in a GGUF file, by the names that llama models use: its sizes, and a file of
// random weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/gguf/file.hpp"

struct Sizes {
  std::size_t layers = 2, width = 256, heads = 4, hidden = 512, words = 512;
  std::size_t positions = 32;  // tokens of a text, at most

  std::size_t head_size() const { return width / heads; }
};

// A GGUF file of that model. The same in every run.
std::vector<std::byte> random_model(const Sizes& sizes);

// Errors: a pair is missing, or is a size that the decoder cannot do.
kiln::Result<Sizes> sizes_of(const gguf::File& file);
