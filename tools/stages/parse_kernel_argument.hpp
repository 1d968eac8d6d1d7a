// A kernel argument as written on the command line.
//
//   argument  = type ":" number | "hex:" digits | "null" | buffer
//   buffer    = "buf:" type ":" count ":" contents ["@" output]
//   type      = i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64
//   contents  = zeros | ones | const=V | arange | rand[=SEED] | randint=LO,HI[,SEED] | none
//             | file=PATH                                         (the count may then be empty)
//   output    = a file that receives the bytes after the launch, or "-" to print the elements
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"

namespace kiln::tools {

enum class ElementType : std::uint8_t {
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kF16,
  kBf16,
  kF32,
  kF64
};

struct KernelArgumentText {
  bool is_buffer = false;
  bool is_written = true;  // false for the contents "none"
  std::vector<std::byte> bytes;
  ElementType type = ElementType::kU8;
  std::string input;                 // file to read the contents from, or empty
  std::optional<std::size_t> count;  // number of elements to read from it; all if empty
  std::string output;                // file for the bytes after the launch, or "-"; may be empty
};

Result<KernelArgumentText> parse_kernel_argument(std::string_view text);

std::size_t size_of(ElementType type);
// Returns the elements in `bytes`, separated by blanks.
std::string elements_text(ElementType type, const std::vector<std::byte>& bytes);

}  // namespace kiln::tools
