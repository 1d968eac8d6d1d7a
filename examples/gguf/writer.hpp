// Writes the files that file.hpp reads, and quantizes values for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ops/quantized.hpp"
#include "kiln/result.hpp"

namespace gguf {

class Writer {
 public:
  void add_size(std::string_view key, std::uint32_t value);
  void add_text(std::string_view key, std::string_view value);
  void add_tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                  const std::vector<std::byte>& data);

  std::vector<std::byte> bytes() const;

 private:
  std::uint64_t pair_count_ = 0, tensor_count_ = 0;
  std::vector<std::byte> pairs_, tensors_, data_;
};

kiln::Result<void> write_file(const std::string& path, const std::vector<std::byte>& bytes);

// Quantizes values to blocks of Q4_0, Q8_0, Q4_K or Q6_K. Scales come from the largest values, and
// values are rounded to the nearest quant. Programs that quantize models search for better scales.
std::vector<std::byte> quantize(kiln::ops::BlockFormat format, const std::vector<float>& values);

}  // namespace gguf
