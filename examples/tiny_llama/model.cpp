#include "examples/tiny_llama/model.hpp"

#include <cmath>
#include <cstring>
#include <string>

#include "examples/gguf/writer.hpp"

namespace {

using kiln::ops::BlockFormat;

// Numbers from -1 to 1.
class Random {
 public:
  float next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(static_cast<double>(state_ >> 40) / (1 << 23) - 1);
  }
  std::vector<float> values(std::size_t count, float center, float reach) {
    std::vector<float> list(count);
    for (float& each : list) each = center + reach * next();
    return list;
  }

 private:
  std::uint64_t state_ = 1;
};

struct ModelWriter {
  gguf::Writer writer;
  Random random;

  // Products of the matrix with values around 1 have values around 1.
  void add_matrix(const std::string& name, BlockFormat format, std::size_t rows,
                  std::size_t columns) {
    const float reach = std::sqrt(3.0F / static_cast<float>(columns));
    writer.add_tensor(name + ".weight", {columns, rows}, kiln::ops::info(format).gguf_type,
                      gguf::quantize(format, random.values(rows * columns, 0, reach)));
  }
  void add_norm(const std::string& name, std::size_t width) {
    const std::vector<float> values = random.values(width, 1, 0.1F);
    std::vector<std::byte> bytes(width * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    writer.add_tensor(name + ".weight", {width}, gguf::kF32, bytes);
  }
};

}  // namespace

std::vector<std::byte> random_model(const Sizes& sizes) {
  ModelWriter model;
  gguf::Writer& writer = model.writer;
  const auto add_size = [&](const char* key, std::size_t value) {
    writer.add_size(key, static_cast<std::uint32_t>(value));
  };
  writer.add_text("general.architecture", "llama");
  add_size("llama.block_count", sizes.layers);
  add_size("llama.embedding_length", sizes.width);
  add_size("llama.attention.head_count", sizes.heads);
  add_size("llama.feed_forward_length", sizes.hidden);
  add_size("llama.vocab_size", sizes.words);
  add_size("llama.context_length", sizes.positions);

  const std::size_t width = sizes.width, hidden = sizes.hidden;
  model.add_matrix("token_embd", BlockFormat::kQ8_0, sizes.words, width);
  for (std::size_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    model.add_norm(block + "attn_norm", width);
    model.add_matrix(block + "attn_q", BlockFormat::kQ4_K, width, width);
    model.add_matrix(block + "attn_k", BlockFormat::kQ4_K, width, width);
    model.add_matrix(block + "attn_v", BlockFormat::kQ6_K, width, width);
    model.add_matrix(block + "attn_output", BlockFormat::kQ4_0, width, width);
    model.add_norm(block + "ffn_norm", width);
    model.add_matrix(block + "ffn_gate", BlockFormat::kQ4_K, hidden, width);
    model.add_matrix(block + "ffn_up", BlockFormat::kQ4_K, hidden, width);
    model.add_matrix(block + "ffn_down", BlockFormat::kQ6_K, width, hidden);
  }
  model.add_norm("output_norm", width);
  model.add_matrix("output", BlockFormat::kQ6_K, sizes.words, width);
  return writer.bytes();
}

kiln::Result<Sizes> sizes_of(const gguf::File& file) {
  Sizes sizes;
  const struct {
    const char* key;
    std::size_t& size;
  } keys[] = {
      {"llama.block_count", sizes.layers},         {"llama.embedding_length", sizes.width},
      {"llama.attention.head_count", sizes.heads}, {"llama.feed_forward_length", sizes.hidden},
      {"llama.vocab_size", sizes.words},           {"llama.context_length", sizes.positions}};
  for (const auto& each : keys) {
    const auto size = file.size(each.key);
    if (!size) return size.error();
    each.size = *size;
  }
  if (sizes.width % (2 * sizes.heads) != 0) {
    return kiln::Error{kiln::ErrorCode::kInvalidInput, std::to_string(sizes.width) +
                                                           " values make no even " +
                                                           std::to_string(sizes.heads) + " heads"};
  }
  return sizes;
}
