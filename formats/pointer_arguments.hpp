// The pointer arguments of a launch, and how messages of devices that know their buffers name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace kiln {

// In the order of the kernel's parameters. Empty for an argument that is not a pointer.
using PointerArguments = std::vector<std::optional<std::uint64_t>>;

struct BufferExtent {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

// Returns a name such as "argument 2 (a buffer of 4096 bytes)". Arguments count from 1.
inline std::string describe_buffer(const BufferExtent& buffer, const PointerArguments& arguments) {
  const std::string size = "a buffer of " + counted(buffer.bytes, "byte");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] && *arguments[i] - buffer.begin <= buffer.bytes) {
      return "argument " + std::to_string(i + 1) + " (" + size + ")";
    }
  }
  return size + " that is no argument";
}

// Returns a text such as "64 bytes past the end of argument 2 (a buffer of 4096 bytes)".
inline std::string describe_address(const BufferExtent& buffer, std::uint64_t address,
                                    const std::string& name) {
  const std::uint64_t end = buffer.begin + buffer.bytes;
  if (address < buffer.begin) return counted(buffer.begin - address, "byte") + " before " + name;
  if (address >= end) return counted(address - end, "byte") + " past the end of " + name;
  return counted(address - buffer.begin, "byte") + " into " + name;
}

// Returns a text such as "arguments 2, 4 are null"; empty if none is null.
inline std::string null_arguments(const PointerArguments& arguments) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == 0) numbers.push_back(std::to_string(i + 1));
  }
  if (numbers.empty()) return {};
  return (numbers.size() == 1 ? "argument " : "arguments ") + join(numbers, ", ") +
         (numbers.size() == 1 ? " is null" : " are null");
}

}  // namespace kiln
