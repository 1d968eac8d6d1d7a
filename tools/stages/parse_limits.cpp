#include "tools/stages/parse_limits.hpp"

#include "base/diagnostic.hpp"
#include "base/parse_integer.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

using Need = JsonReader::Need;

// Parses a number of at most two digits.
std::optional<std::uint32_t> small_number(std::string_view text) {
  return text.size() <= 2 ? parse_integer<std::uint32_t>(text) : std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> parse_release(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != 2) return std::nullopt;
  const auto major = small_number(parts[0]), minor = small_number(parts[1]);
  if (!major || !minor) return std::nullopt;
  return 1000 * *major + 10 * *minor;
}

std::string spell_release(std::uint32_t version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::uint32_t parse_floor(JsonReader& reader, const Json& value, const std::string& what,
                          const std::string& how_to_write) {
  const std::string* text = reader.text(value, what);
  if (text == nullptr) return 0;
  const auto version = parse_release(*text);
  if (!version) {
    reader.report(value, what + " " + quote(*text) + " is not a version")
        .hint(how_to_write);
  }
  return version.value_or(0);
}

Budgets parse_budgets(JsonReader& reader, const Json& value, const std::string& what,
                      BudgetsOf of) {
  Budgets budgets;
  const auto field = [&](std::string_view key, std::optional<std::uint64_t> Budgets::*member) {
    return JsonReader::Field{
        key, Need::kOptional, [&, key, member](const Json& v) {
          const std::int64_t* number = v.integer();
          if (number == nullptr || *number < 0) {
            reader.report(v, quote(key) + " of " + what + " is not a whole number from 0 on");
          } else {
            budgets.*member = static_cast<std::uint64_t>(*number);
          }
        }};
  };
  const auto image = field("image_bytes", &Budgets::image_bytes);
  const auto module = field("module_bytes", &Budgets::module_bytes);
  const auto registers = field("registers", &Budgets::registers);
  const auto spills = field("spills", &Budgets::spills);
  const auto shared = field("shared_bytes", &Budgets::shared_bytes);
  if (of == BudgetsOf::kManifest) {
    const auto total = field("total_bytes", &Budgets::total_bytes);
    reader.object(value, what, {image, module, total, registers, spills, shared});
  } else {
    reader.object(value, what, {image, module, registers, spills, shared});
  }
  return budgets;
}

}  // namespace kiln::tools
