#include "examples/gguf/writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "kiln/ops/scalar.hpp"

namespace gguf {
namespace {

constexpr std::size_t kAlignment = 32;

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
  std::byte raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);  // little-endian hosts
  for (const std::byte each : raw) bytes.push_back(each);
}
void append_text(std::vector<std::byte>& bytes, std::string_view text) {
  append(bytes, std::uint64_t{text.size()});
  for (const char each : text) bytes.push_back(static_cast<std::byte>(each));
}
void align(std::vector<std::byte>& bytes) {
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
}

// Stores a scale in a block and returns its rounded value.
double put_f16(std::byte* at, double value) {
  const auto scalar = kiln::ops::Scalar::from(kiln::ops::DType::kF16, value);
  std::memcpy(at, &scalar.bits, 2);
  return scalar.value();
}

double largest(const float* values, std::size_t count) {
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::fabs(double{values[i]}));
  return most;
}
int quant(double value, double scale, int least, int most) {
  if (scale == 0) return std::clamp(0, least, most);
  return std::clamp(static_cast<int>(std::lround(value / scale)), least, most);
}
void add_bits(std::byte& byte, int bits) { byte |= static_cast<std::byte>(bits); }

void put_q8_0(std::byte* block, const float* values) {
  const double d = put_f16(block, largest(values, 32) / 127);
  for (std::size_t i = 0; i < 32; ++i) {
    block[2 + i] = static_cast<std::byte>(quant(values[i], d, -127, 127));
  }
}

void put_q4_0(std::byte* block, const float* values) {
  const double d = put_f16(block, largest(values, 32) / 8);
  for (std::size_t i = 0; i < 32; ++i) {
    const int bits = quant(values[i], d, -8, 7) + 8;
    add_bits(block[2 + i % 16], i < 16 ? bits : bits << 4);
  }
}

// Eight runs of 32 values, d * scale * quant - dmin * minimum. Scales and minima have 6 bits.
void put_q4_k(std::byte* block, const float* values) {
  double scales[8], minima[8];
  for (std::size_t run = 0; run < 8; ++run) {
    const auto [least, most] = std::minmax_element(values + 32 * run, values + 32 * run + 32);
    minima[run] = std::max(0.0, -double{*least});
    scales[run] = (std::max(0.0, double{*most}) + minima[run]) / 15;
  }
  const double d = put_f16(block, *std::max_element(scales, scales + 8) / 63);
  const double dmin = put_f16(block + 2, *std::max_element(minima, minima + 8) / 63);
  for (std::size_t run = 0; run < 8; ++run) {
    const int scale = quant(scales[run], d, 0, 63), minimum = quant(minima[run], dmin, 0, 63);
    std::byte* const packed = block + 4;
    if (run < 4) {
      add_bits(packed[run], scale);
      add_bits(packed[run + 4], minimum);
    } else {
      add_bits(packed[run + 4], (scale & 15) | (minimum & 15) << 4);
      add_bits(packed[run - 4], scale >> 4 << 6);
      add_bits(packed[run], minimum >> 4 << 6);
    }
    for (std::size_t i = 0; i < 32; ++i) {
      const int bits = quant(values[32 * run + i] + dmin * minimum, d * scale, 0, 15);
      add_bits(block[16 + run / 2 * 32 + i], run % 2 == 0 ? bits : bits << 4);
    }
  }
}

// Sixteen runs of 16 values, d * scale * (quant - 32). Scales are signed bytes.
void put_q6_k(std::byte* block, const float* values) {
  double scales[16];
  for (std::size_t run = 0; run < 16; ++run) scales[run] = largest(values + 16 * run, 16) / 31;
  const double d = put_f16(block + 208, *std::max_element(scales, scales + 16) / 127);
  for (std::size_t i = 0; i < 256; ++i) {
    const int scale = quant(scales[i / 16], d, 0, 127);
    block[192 + i / 16] = static_cast<std::byte>(scale);
    const int bits = quant(values[i], d * scale, -32, 31) + 32;
    const std::size_t half = i / 128, in_half = i % 128;
    const int low = bits & 15, high = bits >> 4;
    add_bits(block[64 * half + in_half % 64], in_half < 64 ? low : low << 4);
    add_bits(block[128 + 32 * half + in_half % 32], high << 2 * (in_half / 32));
  }
}

}  // namespace

void Writer::add_size(std::string_view key, std::uint32_t value) {
  append_text(pairs_, key);
  append(pairs_, std::uint32_t{4});
  append(pairs_, value);
  ++pair_count_;
}

void Writer::add_text(std::string_view key, std::string_view value) {
  append_text(pairs_, key);
  append(pairs_, std::uint32_t{8});
  append_text(pairs_, value);
  ++pair_count_;
}

void Writer::add_tensor(std::string_view name, const std::vector<std::uint64_t>& dims,
                        std::uint32_t type, const std::vector<std::byte>& data) {
  append_text(tensors_, name);
  append(tensors_, static_cast<std::uint32_t>(dims.size()));
  for (const std::uint64_t dim : dims) append(tensors_, dim);
  append(tensors_, type);
  append(tensors_, std::uint64_t{data_.size()});
  data_.insert(data_.end(), data.begin(), data.end());
  align(data_);
  ++tensor_count_;
}

std::vector<std::byte> Writer::bytes() const {
  std::vector<std::byte> file;
  append(file, std::uint32_t{0x46554747});  // "GGUF"
  append(file, std::uint32_t{3});
  append(file, tensor_count_);
  append(file, pair_count_);
  file.insert(file.end(), pairs_.begin(), pairs_.end());
  file.insert(file.end(), tensors_.begin(), tensors_.end());
  align(file);
  file.insert(file.end(), data_.begin(), data_.end());
  return file;
}

kiln::Result<void> write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  if (stream.flush()) return {};
  return kiln::Error{kiln::ErrorCode::kEnvironment, "cannot write '" + path + "'"};
}

std::vector<std::byte> quantize(kiln::ops::BlockFormat format, const std::vector<float>& values) {
  using kiln::ops::BlockFormat;
  const kiln::ops::BlockFormatInfo& info = kiln::ops::info(format);
  std::vector<std::byte> blocks(values.size() / info.values * info.bytes);
  for (std::size_t i = 0; i < values.size() / info.values; ++i) {
    std::byte* const block = blocks.data() + i * info.bytes;
    const float* const of_block = values.data() + i * info.values;
    switch (format) {
      case BlockFormat::kQ4_0: put_q4_0(block, of_block); break;
      case BlockFormat::kQ8_0: put_q8_0(block, of_block); break;
      case BlockFormat::kQ4_K: put_q4_k(block, of_block); break;
      default: put_q6_k(block, of_block); break;
    }
  }
  return blocks;
}

}  // namespace gguf
