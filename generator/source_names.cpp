#include "generator/source_names.hpp"

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

// Demanglers' names of types, and portable names for them.
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

// Types of numbers by their suffix: "4u".
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

// The kind of template parameter and the argument: {"typename", "float"}, {"int", "4"}.
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
  // C++ has no literal for the smallest integer.
  if (sign != 0 && text.substr(1, end - 1).size() >= 19) return std::nullopt;
  return Argument{type.empty() ? *by_suffix : type, text};
}

// "ns::saxpy<float, 4>" -> "ns", "saxpy" and its arguments; "scale" -> "", "scale" and no
// arguments.
struct Instance {
  std::string space, name;
  std::vector<Argument> arguments;
};

bool is_ordinary(std::string_view name) { return identifier(name) == name; }

std::optional<Instance> read_instance(std::string_view text) {
  const std::size_t open = std::min(text.find('<'), text.size());
  const bool is_template = open != text.size();
  if (is_template && !text.ends_with('>')) return std::nullopt;
  std::string_view path = text.substr(0, open);
  Instance instance;
  for (std::size_t colon; (colon = path.find("::")) != std::string_view::npos;) {
    if (!is_ordinary(path.substr(0, colon))) return std::nullopt;
    instance.space += (instance.space.empty() ? "" : "::") + std::string(path.substr(0, colon));
    path.remove_prefix(colon + 2);
  }
  if (!is_ordinary(path)) return std::nullopt;
  instance.name = path;
  if (!is_template) return instance;
  text = text.substr(open + 1, text.size() - open - 2);
  // Arguments with brackets or commas of their own are not supported.
  for (const std::string_view part : split(text, ',')) {
    const std::optional<Argument> argument = read_argument(trim(part));
    if (!argument) return std::nullopt;
    instance.arguments.push_back(*argument);
  }
  return instance;
}

// "ns::saxpy" and {"::kiln::f16", "unsigned int", "-4l"} -> "ns_saxpy_f16_unsigned_int_minus_4"
std::string in_words(const SourceName& source, const SourceInstance& instance) {
  std::string name = source.space.empty() ? source.name : source.space + "::" + source.name;
  for (std::string_view argument : instance.arguments) {
    if (argument.starts_with("::kiln::")) argument.remove_prefix(8);
    name += '_';
    if (argument.starts_with('-')) {
      name += "minus_";
      argument.remove_prefix(1);
    }
    const bool is_number = argument.front() >= '0' && argument.front() <= '9';
    name += is_number ? argument.substr(0, argument.find_first_of("ul")) : argument;
  }
  std::string words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_colon = name[i] == ':';
    words += is_colon || name[i] == ' ' ? '_' : name[i];
    if (is_colon) ++i;
  }
  return words;
}

}  // namespace

std::vector<SourceName> source_names_of(const Module& module) {
  using Key = std::pair<std::string, std::string>;
  std::map<Key, SourceName> by_name;
  std::set<Key> ambiguous;
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    const std::string& name = module.kernels[i].name;
    if (!is_mangled(name)) {
      ambiguous.insert({"", name});
      continue;
    }
    const std::optional<Instance> instance = read_instance(demangled(name));
    if (!instance) continue;
    std::vector<std::string> parameters, arguments;
    for (const auto& [parameter, argument] : instance->arguments) {
      parameters.push_back(parameter);
      arguments.push_back(argument);
    }
    const Key key{instance->space, instance->name};
    const auto [entry, is_new] =
        by_name.try_emplace(key, SourceName{instance->space, instance->name, parameters, {}});
    SourceName& known = entry->second;
    const bool is_repeated = std::ranges::find(known.instances, arguments,
                                               &SourceInstance::arguments) != known.instances.end();
    if (known.parameters != parameters || is_repeated) ambiguous.insert(key);
    known.instances.push_back({std::move(arguments), i});
  }
  std::vector<SourceName> names;
  for (auto& [key, name] : by_name) {
    if (!ambiguous.contains(key)) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> plain_names_of(const Module& module) {
  std::vector<std::string> names, words(module.kernels.size());
  std::map<std::string, int> uses;
  for (const Kernel& kernel : module.kernels) {
    names.push_back(kernel.name);
    ++uses[kernel.name];
  }
  for (const SourceName& source : source_names_of(module)) {
    for (const SourceInstance& instance : source.instances) {
      words[instance.kernel] = in_words(source, instance);
      ++uses[words[instance.kernel]];
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!words[i].empty() && uses[words[i]] == 1 && is_ordinary(words[i])) names[i] = words[i];
  }
  return names;
}

std::vector<NameOfModule> names_in_namespaces(const Catalog& catalog) {
  std::vector<NameOfModule> all;
  std::set<std::string> outside;
  std::map<std::string, int> uses;
  for (const Module& module : catalog.modules) {
    for (const Kernel& kernel : module.kernels) outside.insert(identifier(kernel.name));
    for (SourceName& source : source_names_of(module)) {
      if (source.space.empty()) {
        outside.insert(source.name);
        continue;
      }
      ++uses[source.space + "::" + source.name];
      all.push_back({&module, std::move(source)});
    }
  }
  std::erase_if(all, [&](const NameOfModule& entry) {
    const std::string& space = entry.name.space;
    const std::string path = space + "::" + entry.name.name;
    // A namespace of another module may have the same name as this kernel.
    const auto inside = uses.lower_bound(path + "::");
    return uses.at(path) > 1 || outside.contains(space.substr(0, space.find("::"))) ||
           (inside != uses.end() && inside->first.starts_with(path + "::"));
  });
  return all;
}

}  // namespace kiln::generator
