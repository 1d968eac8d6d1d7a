#include "formats/mangled_name.hpp"

#include <algorithm>
#include <cstddef>

namespace kiln {
namespace {

constexpr int kMaxDepth = 64;  // nesting of types

struct Builtin {
  std::string_view code;
  ElementType element;
};
// Sizes are those of 64-bit Linux; `char` is signed there, on GPUs too.
constexpr Builtin kBuiltins[] = {
    {"v", ElementType::kVoid}, {"b", ElementType::kBool}, {"h", ElementType::kU8},
    {"t", ElementType::kU16},  {"j", ElementType::kU32},  {"m", ElementType::kU64},
    {"y", ElementType::kU64},  {"a", ElementType::kI8},   {"c", ElementType::kI8},
    {"s", ElementType::kI16},  {"i", ElementType::kI32},  {"l", ElementType::kI64},
    {"x", ElementType::kI64},  {"f", ElementType::kF32},  {"d", ElementType::kF64},
    {"w", ElementType::kI32},  {"Ds", ElementType::kU16}, {"Di", ElementType::kU32},
    {"Dh", ElementType::kF16}, {"DF16_", ElementType::kF16}, {"DF16b", ElementType::kBf16},
};

// 128-bit integers, long double, __float128 and nullptr_t. Only their sizes matter.
constexpr std::string_view kUntyped[] = {"n", "o", "e", "g", "Dn"};

// The vendors' own number formats.
constexpr Builtin kNamed[] = {
    {"__half", ElementType::kF16},          {"__nv_bfloat16", ElementType::kBf16},
    {"__hip_bfloat16", ElementType::kBf16}, {"__bf16", ElementType::kBf16},
    {"__nv_fp8_e4m3", ElementType::kF8},    {"__hip_fp8_e4m3", ElementType::kF8},
};

// A type. Also stands for a name, of which only the position among the substitutions matters.
struct Type {
  ParameterType value;
  bool is_const = false;  // of the type itself, not of what it points to
  bool is_function = false;
};

class Reader {
 public:
  explicit Reader(std::string_view name) : rest_(name) {}

  std::optional<std::vector<ParameterType>> read() {
    if (!take("_Z")) return std::nullopt;
    take("L");
    const std::optional<bool> is_template = function_name();
    if (!is_template || (*is_template && !type())) return std::nullopt;
    std::vector<ParameterType> types;
    while (!rest_.empty()) {
      const std::optional<Type> parameter = type();
      if (!parameter) return std::nullopt;
      types.push_back(parameter->value);
    }
    if (types.empty()) return std::nullopt;  // not a function
    const auto is_void = [](const ParameterType& type) {
      return !type.is_pointer && type.element == ElementType::kVoid;
    };
    if (types.size() == 1 && is_void(types[0])) types.clear();
    if (std::any_of(types.begin(), types.end(), is_void)) return std::nullopt;
    return types;
  }

 private:
  bool take(std::string_view text) {
    if (rest_.substr(0, text.size()) != text) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool next_is_digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }

  std::optional<std::string_view> source_name() {
    std::size_t length = 0;
    if (!next_is_digit()) return std::nullopt;
    while (next_is_digit()) {
      length = length * 10 + static_cast<std::size_t>(rest_[0] - '0');
      if (length > rest_.size()) return std::nullopt;
      rest_.remove_prefix(1);
    }
    if (length == 0 || length > rest_.size()) return std::nullopt;
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return name;
  }

  // True if the function is a template. Its type then starts with the return type.
  std::optional<bool> function_name() {
    if (take("N")) return nested_name();
    if (!source_name()) return std::nullopt;
    if (rest_.substr(0, 1) != "I") return false;
    substitutions_.push_back({});
    return template_arguments() ? std::optional(true) : std::nullopt;
  }

  // Reads what follows "N". True if the last part is template arguments. All parts except the last
  // can be referred to later.
  std::optional<bool> nested_name() {
    qualifiers();
    bool is_first = true, is_template = false, is_known = false;
    while (!take("E")) {
      if (!is_first && !is_known) substitutions_.push_back({});
      is_known = false;
      is_template = rest_.substr(0, 1) == "I";
      if (is_template) {
        if (is_first || !template_arguments()) return std::nullopt;
      } else if (rest_.substr(0, 1) == "S") {
        is_known = true;
        if (!is_first || (!take("St") && !substitution())) return std::nullopt;
      } else {
        take("L");
        if (!source_name()) return std::nullopt;
      }
      is_first = false;
    }
    return is_first ? std::nullopt : std::optional(is_template);
  }

  bool template_arguments() {
    if (!take("I")) return false;
    std::vector<Type> arguments;
    while (!take("E")) {
      if (take("L")) {  // a value: its type, and a number
        if (!type()) return false;
        const std::size_t end = rest_.find_first_not_of("n0123456789");
        if (end == std::string_view::npos) return false;
        rest_.remove_prefix(end);
        if (!take("E")) return false;
        arguments.push_back({});
      } else if (const std::optional<Type> argument = type()) {
        arguments.push_back(*argument);
      } else {
        return false;
      }
    }
    arguments_ = std::move(arguments);
    return true;
  }

  // Reads an index in base 36 or 10: "_" is 0, "0_" is 1, and so on.
  std::optional<std::size_t> index(unsigned base) {
    if (take("_")) return 0;
    std::size_t value = 0;
    while (!rest_.empty() && rest_[0] != '_') {
      const char c = rest_[0];
      unsigned digit = base;
      if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
      if (c >= 'A' && c <= 'Z') digit = static_cast<unsigned>(c - 'A') + 10;
      if (digit >= base || value > 1000) return std::nullopt;
      value = value * base + digit;
      rest_.remove_prefix(1);
    }
    return take("_") ? std::optional(value + 1) : std::nullopt;
  }

  std::optional<Type> substitution() {
    if (!take("S")) return std::nullopt;
    return at(substitutions_, index(36));
  }

  static std::optional<Type> at(const std::vector<Type>& types, std::optional<std::size_t> index) {
    return index && *index < types.size() ? std::optional(types[*index]) : std::nullopt;
  }

  std::optional<Type> type() {
    if (++depth_ > kMaxDepth) return std::nullopt;
    const std::optional<Type> result = inner_type();
    --depth_;
    return result;
  }

  // Reads restrict, volatile and const, in this order, and returns whether the type is const.
  // Together with the type, they count as one for later references. Returns nothing if there are
  // none.
  std::optional<bool> qualifiers() {
    const bool is_restrict = take("r"), is_volatile = take("V"), is_const = take("K");
    return is_restrict || is_volatile || is_const ? std::optional(is_const) : std::nullopt;
  }

  std::optional<Type> inner_type() {
    if (const std::optional<bool> is_const = qualifiers()) {
      std::optional<Type> qualified = type();
      if (!qualified) return std::nullopt;
      qualified->is_const = qualified->is_const || *is_const;
      return add_substitution(*qualified);
    }
    if (take("P")) {
      const std::optional<Type> pointee = type();
      if (!pointee) return std::nullopt;
      if (pointee->is_function) return add_substitution({});
      Type pointer;
      pointer.value.is_pointer = true;
      if (pointee->value.is_pointer) return add_substitution(pointer);
      const bool is_struct = pointee->value.element == ElementType::kUnknown;
      pointer.value.element = is_struct ? ElementType::kVoid : pointee->value.element;
      pointer.value.is_const = pointee->is_const;
      return add_substitution(pointer);
    }
    if (take("T")) {
      const std::optional<Type> argument = at(arguments_, index(10));
      return argument ? add_substitution(*argument) : argument;
    }
    if (rest_.substr(0, 1) == "S") return substitution();
    if (take("N")) {
      const std::vector<Type> arguments = arguments_;
      if (!nested_name()) return std::nullopt;
      arguments_ = arguments;
      return add_substitution({});
    }
    if (take("R") || take("O")) return type() ? std::optional(add_substitution({})) : std::nullopt;
    if (take("M")) return type() && type() ? std::optional(add_substitution({})) : std::nullopt;
    if (take("A")) return array();
    if (take("F") || take("DoF")) return function();
    for (const Builtin& builtin : kBuiltins) {
      if (take(builtin.code)) return Type{{builtin.element, false, false}, false};
    }
    for (const std::string_view code : kUntyped) {
      if (take(code)) return Type{};
    }
    take("u");  // a compiler's own type
    const std::optional<std::string_view> name = source_name();
    if (!name) return std::nullopt;
    Type named;
    for (const Builtin& known : kNamed) {
      if (known.code == *name) named.value.element = known.element;
    }
    add_substitution(named);
    if (rest_.substr(0, 1) != "I") return named;
    const std::vector<Type> arguments = arguments_;
    if (!template_arguments()) return std::nullopt;
    arguments_ = arguments;
    return add_substitution({});
  }

  // Reads what follows "A".
  std::optional<Type> array() {
    while (next_is_digit()) rest_.remove_prefix(1);
    return take("_") && type() ? std::optional(add_substitution({})) : std::nullopt;
  }

  // Reads what follows "F": the type of the result and those of the parameters.
  std::optional<Type> function() {
    while (!take("E")) {
      if (!type()) return std::nullopt;
    }
    Type function;
    function.is_function = true;
    return add_substitution(function);
  }

  Type add_substitution(const Type& type) {
    substitutions_.push_back(type);
    return type;
  }

  std::string_view rest_;
  std::vector<Type> substitutions_;
  std::vector<Type> arguments_;  // of the innermost template
  int depth_ = 0;
};

}  // namespace

std::optional<std::vector<ParameterType>> parameters_of_mangled_name(std::string_view name) {
  return Reader(name).read();
}

}  // namespace kiln
