#include "generator/templates.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/demangle.hpp"
#include "base/text.hpp"
#include "generator/identifiers.hpp"

namespace kiln::generator {
namespace {

struct Spelling {
  std::string_view demangled, cpp;
};

// What compilers call types, and how every program can.
constexpr std::array<Spelling, 22> kTypes = {{
    {"bool", "bool"},
    {"char", "char"},
    {"signed char", "signed char"},
    {"unsigned char", "unsigned char"},
    {"short", "short"},
    {"unsigned short", "unsigned short"},
    {"int", "int"},
    {"unsigned int", "unsigned int"},
    {"long", "long"},
    {"unsigned long", "unsigned long"},
    {"long long", "long long"},
    {"unsigned long long", "unsigned long long"},
    {"float", "float"},
    {"double", "double"},
    {"_Float16", "::kiln::f16"},
    {"__half", "::kiln::f16"},
    {"__nv_bfloat16", "::kiln::bf16"},
    {"__hip_bfloat16", "::kiln::bf16"},
    {"__bf16", "::kiln::bf16"},
    {"__nv_fp8_e4m3", "::kiln::f8"},
    {"__hip_fp8_e4m3", "::kiln::f8"},
    {"void", "void"},
}};

// Of a number, by what stands behind it: "4u".
constexpr std::array<Spelling, 6> kSuffixes = {{{"", "int"},
                                                {"u", "unsigned int"},
                                                {"l", "long"},
                                                {"ul", "unsigned long"},
                                                {"ll", "long long"},
                                                {"ull", "unsigned long long"}}};

template <std::size_t kCount>
std::optional<std::string_view> find(const std::array<Spelling, kCount>& table,
                                     std::string_view text) {
  const auto found = std::ranges::find(table, text, &Spelling::demangled);
  return found == table.end() ? std::nullopt : std::optional(found->cpp);
}

// The parameter that an argument is for, and the argument: {"typename", "float"}, {"int", "4"}.
using Argument = std::pair<std::string, std::string>;

std::optional<Argument> read_argument(std::string_view text) {
  if (const auto type = find(kTypes, text)) return Argument{"typename", *type};
  if (text == "true" || text == "false") return Argument{"bool", text};
  std::string_view type;
  if (text.starts_with('(')) {  // "(char)4"
    const std::size_t close = std::min(text.find(')'), text.size() - 1);
    type = find(kTypes, text.substr(1, close - 1)).value_or("");
    text.remove_prefix(close + 1);
    if (type.empty() || type.starts_with("::")) return std::nullopt;
  }
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find_first_not_of(kDigits, sign), text.size());
  if (end == sign) return std::nullopt;
  const auto by_suffix = find(kSuffixes, text.substr(end));
  if (!by_suffix || (!type.empty() && end != text.size())) return std::nullopt;
  // The least of all numbers is none that C++ can write: it is a sum.
  if (sign != 0 && text.substr(1, end - 1).size() >= 19) return std::nullopt;
  return Argument{type.empty() ? *by_suffix : type, text};
}

// "saxpy<float, 4>" -> "saxpy" and its arguments.
struct Instance {
  std::string name;
  std::vector<Argument> arguments;
};

std::optional<Instance> read_instance(std::string_view text) {
  const std::size_t open = text.find('<');
  if (open == std::string_view::npos || !text.ends_with('>')) return std::nullopt;
  Instance instance{std::string(text.substr(0, open)), {}};
  if (identifier(instance.name) != instance.name) return std::nullopt;
  text = text.substr(open + 1, text.size() - open - 2);
  // What holds brackets or commas of its own is no argument that is read.
  for (const std::string_view one : split(text, ',')) {
    const std::optional<Argument> argument = read_argument(trim(one));
    if (!argument) return std::nullopt;
    instance.arguments.push_back(*argument);
  }
  return instance;
}

}  // namespace

std::vector<KernelTemplate> templates_of(const Module& module) {
  std::map<std::string, KernelTemplate> found;
  std::set<std::string> ambiguous;
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    const std::string& name = module.kernels[i].name;
    if (!name.starts_with("_Z")) {
      ambiguous.insert(name);
      continue;
    }
    const std::optional<Instance> instance = read_instance(demangled(name));
    if (!instance) continue;
    std::vector<std::string> parameters, arguments;
    for (const auto& [parameter, argument] : instance->arguments) {
      parameters.push_back(parameter);
      arguments.push_back(argument);
    }
    const auto [at, is_new] =
        found.try_emplace(instance->name, KernelTemplate{instance->name, parameters, {}});
    KernelTemplate& known = at->second;
    const bool is_known = std::ranges::find(known.instances, arguments,
                                            &TemplateInstance::arguments) != known.instances.end();
    if (known.parameters != parameters || is_known) ambiguous.insert(instance->name);
    known.instances.push_back({std::move(arguments), i});
  }
  std::vector<KernelTemplate> templates;
  for (auto& [name, one] : found) {
    if (!ambiguous.contains(name)) templates.push_back(std::move(one));
  }
  return templates;
}

}  // namespace kiln::generator
