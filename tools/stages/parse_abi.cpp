#include "tools/stages/parse_abi.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/parse_integer.hpp"
#include "base/text.hpp"
#include "formats/parameter_type.hpp"
#include "tools/json/json_reader.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kMaxArgumentBytes = 4096;  // bytes that every driver accepts

// C's names of the types.
constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kTypesOfC = {
    {{"char", "i8"},          {"signed char", "i8"},         {"unsigned char", "u8"}, {"short", "i16"},
     {"unsigned short", "u16"}, {"int", "i32"},              {"unsigned", "u32"},     {"unsigned int", "u32"},
     {"long", "i64"},         {"unsigned long", "u64"},      {"long long", "i64"},    {"unsigned long long", "u64"},
     {"size_t", "u64"},       {"float", "f32"},              {"double", "f64"},       {"half", "f16"},
     {"__half", "f16"},       {"__nv_bfloat16", "bf16"},     {"uint8_t", "u8"},       {"uint32_t", "u32"},
     {"int64_t", "i64"},      {"uint64_t", "u64"}}};

// "const int*" -> "const i32*"; empty if it is not a type of C.
std::string type_of_c(std::string_view spelling) {
  constexpr std::string_view kConst = "const ";
  const bool is_const = spelling.starts_with(kConst);
  if (is_const) spelling.remove_prefix(kConst.size());
  const bool is_pointer = spelling.ends_with('*');
  if (is_pointer) spelling.remove_suffix(1);
  for (const auto& [c, kiln] : kTypesOfC) {
    if (c != trim(spelling)) continue;
    return std::string(is_const ? kConst : "") + std::string(kiln) + (is_pointer ? "*" : "");
  }
  return {};
}

struct Declared {
  ParameterType type;  // unknown for a struct
  std::size_t size = 0, alignment = 0;
  std::string name;
};

// Parses "f32[6]", a struct with the size of six f32 and the alignment of one. Returns its size and
// alignment.
std::optional<std::pair<std::size_t, std::size_t>> parse_struct(std::string_view spelling) {
  const std::size_t bracket = spelling.find('[');
  if (bracket == std::string_view::npos || !spelling.ends_with(']')) return std::nullopt;
  const std::optional<ParameterType> element = parse_parameter_type(spelling.substr(0, bracket));
  const auto count =
      parse_integer<std::size_t>(spelling.substr(bracket + 1, spelling.size() - bracket - 2));
  const std::size_t size = element && !element->is_pointer ? size_of(*element) : 0;
  if (size == 0 || !count || *count == 0 || *count > kMaxArgumentBytes) return std::nullopt;
  return std::pair{*count * size, size};
}

std::optional<Declared> read_parameter(JsonReader& reader, const Json& value, const std::string& what) {
  const std::string* text = reader.text(value, what);
  if (text == nullptr) return std::nullopt;
  const std::size_t blank = text->rfind(' ');
  std::string spelling = text->substr(0, blank == std::string::npos ? 0 : blank);
  std::string name = text->substr(blank + 1);
  if (name.starts_with('*')) {  // "f32 *x" is "f32* x"
    name.erase(0, 1);
    spelling += '*';
  }
  if (spelling.empty() || !is_identifier(name)) {
    reader.report(value, what + " is " + quote(*text) + ", not a type and a name")
        .hint("write it like 'u64 numel' or 'const f32* input'");
    return std::nullopt;
  }
  if (const auto layout = parse_struct(spelling)) {
    return Declared{{}, layout->first, layout->second, name};
  }
  const std::optional<ParameterType> type = parse_parameter_type(spelling);
  if (!type) {
    Error& error = reader.report(value, "unknown parameter type " + quote(spelling));
    std::string near = type_of_c(spelling);
    if (near.empty()) near = nearest(spelling, parameter_type_names());
    error.hint(near.empty() ? "the types are " + join(parameter_type_names(), ", ") +
                                  "; a '*' after one makes a pointer to it, 'const' before that "
                                  "one that is only read through; 'f32[6]' is a struct of 24 bytes, aligned as f32"
                            : "did you mean " + quote(near) + "?");
    return std::nullopt;
  }
  return Declared{*type, size_of(*type), size_of(*type), name};
}

AbiKernel read_kernel(JsonReader& reader, const JsonMember& member) {
  const std::string& name = member.key;
  AbiKernel kernel{name, {}, reader.where(member)};
  std::size_t end = 0;
  std::vector<std::string> names;
  const std::string what = "a parameter of kernel " + quote(with_demangled(name));
  reader.list(
      member.value, "the parameters of kernel " + quote(with_demangled(name)), "strings",
      JsonReader::Empty::kAllowed, [&](const Json& item) {
        const auto parameter = read_parameter(reader, item, what);
        if (!parameter) return;
        const auto& [type, size, alignment, parameter_name] = *parameter;
        if (std::find(names.begin(), names.end(), parameter_name) != names.end()) {
          reader.report(item, "kernel " + quote(with_demangled(name)) +
                                  " has two parameters called " + quote(parameter_name));
          return;
        }
        names.push_back(parameter_name);
        const std::size_t offset = (end + alignment - 1) / alignment * alignment;
        end = offset + size;
        kernel.parameters.push_back(
            {.layout = {static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(size),
                        type.is_pointer ? ParameterKind::kPointer : ParameterKind::kValue},
             .type = type,
             .name = parameter_name});
        if (end > kMaxArgumentBytes && offset <= kMaxArgumentBytes) {
          reader.report(item, "the parameters of kernel " + quote(with_demangled(name)) +
                                  " take more than " + std::to_string(kMaxArgumentBytes) +
                                  " bytes");
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
