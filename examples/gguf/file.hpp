// A GGUF file: named tensors and facts about them.
//
//    0  magic      "GGUF"
//    4  version    u32, 3
//    8  tensors    u64, their number
//   16  pairs      u64, their number
//   24  the pairs: key (a string), type of the value (u32), value
//       the tensors: name (a string), number of dims (u32, up to 4), dims (u64 each), type (u32),
//                    first byte (u64), counted from the beginning of the data
//       zeros to a multiple of the alignment
//       the data of each tensor, at a multiple of the alignment
//
// All numbers are little-endian. A string is its length (u64) and its bytes. An array is the type
// of its elements (u32), their number (u64), and the elements. The alignment is the pair
// "general.alignment" (u32), or 32. The first dim is the length of a row, whose values are
// contiguous. Source: the GGUF specification, ggml/docs/gguf.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kiln/ops/quantized.hpp"
#include "kiln/result.hpp"

namespace gguf {

struct Tensor {
  std::string name;
  std::vector<std::uint64_t> dims;  // the first one is the length of a row
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  // offset of its first byte in the data

  std::size_t columns() const;
  std::size_t rows() const;  // product of all other dims
};

// Returns the quantized format for a type, if kiln has one.
std::optional<kiln::ops::BlockFormat> format_of(std::uint32_t type);

// For arrays, only the number of elements is kept.
struct ArrayOf {
  std::uint64_t elements = 0;
};
using Value = std::variant<std::uint64_t, std::int64_t, double, bool, std::string, ArrayOf>;

// Errors (kInvalidInput) name the file and what is wrong in it.
class File {
 public:
  // `name` is used in messages.
  static kiln::Result<File> parse(std::vector<std::byte> bytes, std::string name);
  static kiln::Result<File> read(const std::string& path);

  const std::map<std::string, Value>& pairs() const { return pairs_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // Returns a number above 0. The error says that there is none with this name.
  kiln::Result<std::size_t> size(const std::string& key) const;

  // The error says that there is no such tensor, and lists the existing ones.
  kiln::Result<const Tensor*> tensor(std::string_view name) const;
  // Returns the bytes of a tensor in a quantized format or f32 (type 0). Errors: another type, rows
  // that are not whole blocks, or data beyond the end of the file.
  kiln::Result<std::vector<std::byte>> data(const Tensor& tensor) const;

 private:
  kiln::Error wrong(std::string message) const;

  std::string name_;
  std::vector<std::byte> bytes_;
  std::size_t data_begin_ = 0;
  std::map<std::string, Value> pairs_;
  std::vector<Tensor> tensors_;
};

inline constexpr std::uint32_t kF32 = 0;  // the type of plain values

}  // namespace gguf
