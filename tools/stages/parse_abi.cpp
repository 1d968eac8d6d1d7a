#include "tools/stages/parse_abi.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/json/json_reader.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kLargestArguments = 4096;  // bytes: what every driver takes

struct ParameterType {
  std::string_view name;
  std::uint16_t size;
  ParameterKind kind;
};
constexpr std::array<ParameterType, 15> kTypes = {{
    {"ptr", 8, ParameterKind::kPointer}, {"u8", 1, ParameterKind::kValue},
    {"u16", 2, ParameterKind::kValue},   {"u32", 4, ParameterKind::kValue},
    {"u64", 8, ParameterKind::kValue},   {"i8", 1, ParameterKind::kValue},
    {"i16", 2, ParameterKind::kValue},   {"i32", 4, ParameterKind::kValue},
    {"i64", 8, ParameterKind::kValue},   {"f8", 1, ParameterKind::kValue},
    {"f16", 2, ParameterKind::kValue},   {"bf16", 2, ParameterKind::kValue},
    {"f32", 4, ParameterKind::kValue},   {"f64", 8, ParameterKind::kValue},
    {"bool", 1, ParameterKind::kValue},
}};

const ParameterType* find_type(std::string_view name) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const ParameterType& type) { return type.name == name; });
  return found == kTypes.end() ? nullptr : &*found;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const ParameterType& type : kTypes) names.emplace_back(type.name);
  return names;
}

std::optional<std::pair<const ParameterType*, std::string>> read_parameter(
    JsonReader& reader, const Json& value, const std::string& what) {
  const std::string* text = reader.text(value, what);
  if (text == nullptr) return std::nullopt;
  const std::vector<std::string_view> words = split(*text, ' ');
  if (words.size() != 2 || words[0].empty() || !is_identifier(words[1])) {
    reader.report(value, what + " is " + quote(*text) + ", not a type and a name")
        .hint("write it like 'u64 numel'");
    return std::nullopt;
  }
  const ParameterType* type = find_type(words[0]);
  if (type == nullptr) {
    Error& error = reader.report(value, "unknown parameter type " + quote(words[0]));
    const std::string near = nearest(words[0], type_names());
    error.hint(near.empty() ? "the types are " + join(type_names(), ", ")
                            : "did you mean " + quote(near) + "?");
    return std::nullopt;
  }
  return std::pair{type, std::string(words[1])};
}

AbiKernel read_kernel(JsonReader& reader, const std::string& name, const Json& value) {
  AbiKernel kernel{name, {}};
  std::size_t end = 0;
  std::vector<std::string> names;
  const std::string of = "a parameter of kernel " + quote(name);
  reader.list(value, "the parameters of kernel " + quote(name), "strings",
              JsonReader::Empty::kAllowed, [&](const Json& item) {
    const auto parameter = read_parameter(reader, item, of);
    if (!parameter) return;
    const auto& [type, parameter_name] = *parameter;
    if (std::find(names.begin(), names.end(), parameter_name) != names.end()) {
      reader.report(item, "kernel " + quote(name) + " has two parameters called " +
                              quote(parameter_name));
      return;
    }
    names.push_back(parameter_name);
    const std::size_t offset = (end + type->size - 1) / type->size * type->size;
    end = offset + type->size;
    kernel.parameters.push_back({static_cast<std::uint16_t>(offset), type->size, type->kind});
    if (end > kLargestArguments && offset <= kLargestArguments) {
      reader.report(item, "the parameters of kernel " + quote(name) + " take more than " +
                              std::to_string(kLargestArguments) + " bytes");
    }
  });
  return kernel;
}

std::vector<AbiKernel> read_module(JsonReader& reader, const JsonMember& member) {
  std::vector<AbiKernel> kernels;
  reader.members(member.value, "module " + quote(member.key), [&](const JsonMember& kernel) {
    kernels.push_back(read_kernel(reader, kernel.key, kernel.value));
  });
  std::sort(kernels.begin(), kernels.end(),
            [](const AbiKernel& a, const AbiKernel& b) { return a.name < b.name; });
  return kernels;
}

}  // namespace

Result<Abi> parse_abi(std::string_view text, std::string_view file) {
  KILN_TRY_ASSIGN(const Json json, read_json(text, file));
  JsonReader reader{std::string(file)};
  Abi abi;
  using Need = JsonReader::Need;
  reader.object(json, "the abi file",
                {{"format", Need::kRequired, [&](const Json& value) { reader.format(value, 1); }},
                 {"modules", Need::kRequired, [&](const Json& value) {
                    reader.members(value, "'modules'", [&](const JsonMember& member) {
                      abi.emplace(member.key, read_module(reader, member));
                    });
                  }}});
  KILN_TRY(reader.finish());
  return abi;
}

}  // namespace kiln::tools
