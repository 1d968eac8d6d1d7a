// Decodes a model token by token on one device, by kiln's kernels alone.
//
// A step is a list of launches, planned once. All that changes from step to step is in device
// memory: the token, its position, keys and values of the tokens before. So a step can be captured
// into a graph, and steps need nothing from the host.
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
  // Uploads the weights and plans a step; launches go to `stream`, which must outlive the decoder.
  static kiln::Result<Decoder> make(const kiln::Device& device, const kiln::Stream& stream,
                                    const gguf::File& file);

  // The next step reads `token` at position 0, with nothing before it.
  kiln::Result<void> start(std::uint32_t token) const;
  // The next step reads `token` in place of the one that the last step chose.
  kiln::Result<void> set_token(std::uint32_t token) const;

  // Loads what a step needs: then step() is launches and nothing else.
  kiln::Result<void> prepare() const;
  // Reads the token, and leaves its logits, and their best token in its place. Returns at once.
  kiln::Result<void> step() const;
  std::size_t launches() const { return step_.size(); }
  const Sizes& sizes() const { return sizes_; }

  // These wait for the steps.
  kiln::Result<std::vector<float>> logits() const;
  kiln::Result<std::uint32_t> token() const;
  // The tokens that the steps chose, by position.
  kiln::Result<std::vector<std::uint32_t>> chosen() const;

 private:
  friend class Planner;
  struct Memory {
    kiln::Buffer token, position, chosen, logits;
    std::vector<kiln::Buffer> caches;  // keys and values
    std::vector<kiln::Buffer> others;  // weights, tables, what passes from launch to launch
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
