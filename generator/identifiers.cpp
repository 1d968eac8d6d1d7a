#include "generator/identifiers.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace kiln::generator {
namespace {

// Names that the header declares besides the kernels, and namespaces that it refers to.
constexpr std::array<std::string_view, 10> kHeaderNames = {
    "Id", "Module", "catalog", "data", "detail", "find", "get", "kiln", "modules", "std"};

// Macros of compilers or common C headers that look like ordinary words, and GNU's own keyword.
constexpr std::array<std::string_view, 16> kMacros = {
    "BUFSIZ", "EOF",   "I",     "INFINITY", "NAN",   "NULL",   "assert", "errno",
    "linux",  "major", "minor", "stderr",   "stdin", "stdout", "typeof", "unix"};

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_ordinary(std::string_view name) {
  return is_identifier(name) && name.front() != '_' && name.back() != '_' &&
         name.find("__") == std::string_view::npos &&
         std::ranges::find(kHeaderNames, name) == kHeaderNames.end() && !is_macro(name);
}

}  // namespace

bool is_macro(std::string_view name) { return std::ranges::find(kMacros, name) != kMacros.end(); }

std::string identifier(std::string_view name) {
  return is_ordinary(name) ? std::string(name) : spelt_out(name);
}

std::string spelt_out(std::string_view name, Spelling spelling) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string spelt;
  for (const char c : name) {
    const bool leading_digit = spelt.empty() && c >= '0' && c <= '9';
    if (spelling == Spelling::kShort && is_letter_or_digit(c) && !leading_digit) {
      spelt += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      spelt += '_';
      spelt += kHex[byte >> 4];
      spelt += kHex[byte & 15];
    }
  }
  return spelt + '_';
}

std::string target_identifier(std::string_view target) {
  std::string spelt;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const bool ends_a_feature = i + 1 == target.size() || target[i + 1] == ':';
    if (target[i] == '+') {
      spelt += "_on";
    } else if (target[i] == '-' && ends_a_feature) {
      spelt += "_off";
    } else {
      spelt += is_letter_or_digit(target[i]) ? target[i] : '_';
    }
  }
  return spelt;
}

std::string upper_case(std::string_view name) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return upper;
}

}  // namespace kiln::generator
