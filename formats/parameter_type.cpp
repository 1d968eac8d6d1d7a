#include "formats/parameter_type.hpp"

#include <algorithm>
#include <iterator>

namespace kiln {
namespace {

constexpr std::string_view kAnyPointer = "ptr";
constexpr std::string_view kConst = "const ";

std::string spelling(const ParameterType& type, std::string_view element) {
  if (element.empty()) return {};
  std::string text(type.is_const ? kConst : std::string_view());
  text += element;
  if (type.is_pointer) text += '*';
  return text;
}

}  // namespace

std::size_t size_of(const ParameterType& type) {
  return type.is_pointer ? sizeof(std::uint64_t) : size_of(type.element);
}

std::optional<ParameterType> parse_parameter_type(std::string_view text) {
  ParameterType type;
  if (text == kAnyPointer) {
    type.is_pointer = true;
    return type;
  }
  type.is_const = text.substr(0, kConst.size()) == kConst;
  if (type.is_const) text.remove_prefix(kConst.size());
  type.is_pointer = !text.empty() && text.back() == '*';
  if (type.is_pointer) text.remove_suffix(1);
  const auto found = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                  [&](const ElementTypeInfo& info) { return info.name == text; });
  if (text.empty() || found == std::end(kElementTypes)) return std::nullopt;
  type.element = found->type;
  const bool is_only_pointee = type.element == ElementType::kVoid || type.is_const;
  if (!type.is_pointer && is_only_pointee) return std::nullopt;
  return type;
}

std::string to_string(const ParameterType& type) {
  if (type.is_pointer && type.element == ElementType::kUnknown) return std::string(kAnyPointer);
  return spelling(type, info(type.element).name);
}

std::string cpp_spelling(const ParameterType& type) { return spelling(type, info(type.element).cpp); }

std::vector<std::string> parameter_type_names() {
  std::vector<std::string> names = {std::string(kAnyPointer)};
  for (const ElementTypeInfo& info : kElementTypes) {
    if (info.size != 0) names.emplace_back(info.name);
  }
  return names;
}

}  // namespace kiln
