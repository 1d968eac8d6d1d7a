// Decodes a model token by token on one device, using only kiln's kernels.
//
// A step is a list of launches, planned once. Everything that changes from step to step is in
// device memory: the token, its position, and the keys and values of earlier tokens. So a step can
// be captured into a graph, and steps need nothing from the host.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "examples/gguf/file.hpp"
#include "examples/tiny_llama/model.hpp"
#include "kiln/ops.hpp"

class Decoder {
 public:
  // Uploads the weights and plans a step. Launches go to `stream`, which must outlive the decoder.
  static kiln::Result<Decoder> make(const kiln::Device& device, const kiln::Stream& stream,
                                    const gguf::File& file);

  // The next step reads `token` at position 0, with no earlier tokens.
  kiln::Result<void> start(std::uint32_t token) const;
  // The next step reads `token` instead of the token that the last step chose.
  kiln::Result<void> set_token(std::uint32_t token) const;

  // Loads everything that a step needs, so that step() only launches kernels.
  kiln::Result<void> prepare() const;
  // Reads the token, computes its logits, and replaces it by the best next token. Returns at once.
  kiln::Result<void> step() const;
  std::size_t launches() const { return step_.size(); }
  const Sizes& sizes() const { return sizes_; }

  // The following functions wait for the steps.
  kiln::Result<std::vector<float>> logits() const;
  kiln::Result<std::uint32_t> token() const;
  // Returns the tokens that the steps chose, by position.
  kiln::Result<std::vector<std::uint32_t>> chosen() const;

 private:
  friend class Planner;
  struct Memory {
    kiln::Buffer token, position, chosen, logits;
    std::vector<kiln::Buffer> caches;  // keys and values
    std::vector<kiln::Buffer> others;  // weights, tables, and intermediate results
  };
  Decoder(kiln::Device device, const kiln::Stream& stream)
      : device_(std::move(device)), stream_(&stream), launcher_(device_, stream) {}

  kiln::Device device_;
  const kiln::Stream* stream_;
  kiln::ops::Launcher launcher_;
  Sizes sizes_;
  Memory memory_;
  std::vector<kiln::ops::Launch> step_;
};
