// The types of kernel parameters, and their spelling in abi files, kiln.json and generated headers.
//
//   type     = "ptr" | [ "const " ] element "*" | element
//   element  = bool u8 u16 u32 u64 i8 i16 i32 i64 f8 f16 bf16 f32 f64, and void before a "*"
//
// "ptr" is an address of unknown data. "const" promises that the kernel only reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/parameter_types.hpp"

namespace kiln {

struct ElementTypeInfo {
  ElementType type;
  std::string_view name;  // "u64"; empty for kUnknown
  std::uint8_t size;      // bytes; 0 for kUnknown and kVoid
  std::string_view cpp;   // "std::uint64_t": the type in a generated header
};

// In the order of ElementType.
inline constexpr ElementTypeInfo kElementTypes[] = {
    {ElementType::kUnknown, "", 0, ""},
    {ElementType::kVoid, "void", 0, "void"},
    {ElementType::kBool, "bool", 1, "bool"},
    {ElementType::kU8, "u8", 1, "std::uint8_t"},
    {ElementType::kU16, "u16", 2, "std::uint16_t"},
    {ElementType::kU32, "u32", 4, "std::uint32_t"},
    {ElementType::kU64, "u64", 8, "std::uint64_t"},
    {ElementType::kI8, "i8", 1, "std::int8_t"},
    {ElementType::kI16, "i16", 2, "std::int16_t"},
    {ElementType::kI32, "i32", 4, "std::int32_t"},
    {ElementType::kI64, "i64", 8, "std::int64_t"},
    {ElementType::kF8, "f8", 1, "::kiln::f8"},
    {ElementType::kF16, "f16", 2, "::kiln::f16"},
    {ElementType::kBf16, "bf16", 2, "::kiln::bf16"},
    {ElementType::kF32, "f32", 4, "float"},
    {ElementType::kF64, "f64", 8, "double"},
};

constexpr const ElementTypeInfo& info(ElementType type) {
  return kElementTypes[static_cast<std::size_t>(type)];
}
constexpr std::size_t size_of(ElementType type) { return info(type).size; }

// A value of an element type, or a pointer to such values. The default is an unknown type.
struct ParameterType {
  ElementType element = ElementType::kUnknown;
  bool is_pointer = false;
  bool is_const = false;  // what the pointer points to is const

  bool is_known() const { return is_pointer || element != ElementType::kUnknown; }
  bool operator==(const ParameterType& other) const {
    return element == other.element && is_pointer == other.is_pointer && is_const == other.is_const;
  }
};

// Returns the size of such a parameter in bytes; 0 if the type is unknown.
std::size_t size_of(const ParameterType& type);

// Parses a type. Returns nothing if `text` is not one.
std::optional<ParameterType> parse_parameter_type(std::string_view text);
// Returns the spelling of the type; empty if it is unknown.
std::string to_string(const ParameterType& type);
// Returns the spelling in a generated header; empty if the type, or what it points to, is unknown.
std::string cpp_spelling(const ParameterType& type);

// Returns every spelling without a "*", for messages: "ptr", "bool", "u8", ...
std::vector<std::string> parameter_type_names();

}  // namespace kiln
