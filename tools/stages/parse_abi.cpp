#include "tools/stages/parse_abi.hpp"

#include <algorithm>
#include <optional>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/parameter_type.hpp"
#include "tools/json/json_reader.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kLargestArguments = 4096;  // bytes: what every driver takes

std::optional<std::pair<ParameterType, std::string>> read_parameter(JsonReader& reader,
                                                                   const Json& value,
                                                                   const std::string& what) {
  const std::string* text = reader.text(value, what);
  if (text == nullptr) return std::nullopt;
  const std::size_t blank = text->rfind(' ');
  const std::string spelling = text->substr(0, blank == std::string::npos ? 0 : blank);
  const std::string name = text->substr(blank + 1);
  if (spelling.empty() || !is_identifier(name)) {
    reader.report(value, what + " is " + quote(*text) + ", not a type and a name")
        .hint("write it like 'u64 numel' or 'const f32* input'");
    return std::nullopt;
  }
  const std::optional<ParameterType> type = parse_parameter_type(spelling);
  if (!type) {
    Error& error = reader.report(value, "unknown parameter type " + quote(spelling));
    const std::string near = nearest(spelling, parameter_type_names());
    error.hint(near.empty() ? "the types are " + join(parameter_type_names(), ", ") +
                                  "; a '*' after one makes a pointer to it, 'const' before that "
                                  "one that is only read through"
                            : "did you mean " + quote(near) + "?");
    return std::nullopt;
  }
  return std::pair{*type, name};
}

AbiKernel read_kernel(JsonReader& reader, const JsonMember& member) {
  const std::string& name = member.key;
  AbiKernel kernel{name, {}, reader.where(member)};
  std::size_t end = 0;
  std::vector<std::string> names;
  const std::string of = "a parameter of kernel " + quote(name);
  reader.list(member.value, "the parameters of kernel " + quote(name), "strings",
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
    const std::size_t size = size_of(type);
    const std::size_t offset = (end + size - 1) / size * size;
    end = offset + size;
    kernel.parameters.push_back(
        {.place = {static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(size),
                   type.is_pointer ? ParameterKind::kPointer : ParameterKind::kValue},
         .type = type,
         .name = parameter_name});
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
    kernels.push_back(read_kernel(reader, kernel));
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
