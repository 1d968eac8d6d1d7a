#include "emulator/parse_operand.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "emulator/apertures.hpp"

namespace kiln::emulator {
namespace {

struct NamedRegister {
  std::string_view name;
  u16 reg;
  u8 count;
};
constexpr NamedRegister kNamedRegisters[] = {
    {"vcc", kVcc, 2},
    {"vcc_lo", kVcc, 1},
    {"vcc_hi", kVcc + 1, 1},
    {"exec", kExec, 2},
    {"exec_lo", kExec, 1},
    {"exec_hi", kExec + 1, 1},
    {"m0", kM0, 1},
    {"null", kNull, 1},
    {"flat_scratch", kFlatScratch, 2},
    {"flat_scratch_lo", kFlatScratch, 1},
    {"flat_scratch_hi", kFlatScratch + 1, 1},
    {"xnack_mask", kXnackMask, 2},
    {"xnack_mask_lo", kXnackMask, 1},
    {"xnack_mask_hi", kXnackMask + 1, 1},
};

struct NamedValue {
  std::string_view name;
  OperandKind kind;
  u64 value;
};
constexpr u64 kSharedBase = u64{kSharedAperture} << 32;
constexpr u64 kPrivateBase = u64{kPrivateAperture} << 32;
constexpr NamedValue kNamedValues[] = {
    {"off", OperandKind::kNone, 0},
    {"scc", OperandKind::kScc, 0},
    {"src_scc", OperandKind::kScc, 0},
    {"vccz", OperandKind::kVccIsZero, 0},
    {"src_vccz", OperandKind::kVccIsZero, 0},
    {"execz", OperandKind::kExecIsZero, 0},
    {"src_execz", OperandKind::kExecIsZero, 0},
    {"src_shared_base", OperandKind::kInteger, kSharedBase},
    {"src_private_base", OperandKind::kInteger, kPrivateBase},
    {"src_shared_limit", OperandKind::kInteger, kSharedBase | 0xffffffff},
    {"src_private_limit", OperandKind::kInteger, kPrivateBase | 0xffffffff},
    {"shared_base", OperandKind::kInteger, kSharedBase},
    {"private_base", OperandKind::kInteger, kPrivateBase},
    {"src_pops_exiting_wave_id", OperandKind::kInteger, 0},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes `prefix` and `suffix` from the text.
bool unwrap(std::string_view& text, std::string_view prefix, std::string_view suffix) {
  if (text.size() <= prefix.size() + suffix.size()) return false;
  if (!text.starts_with(prefix) || !text.ends_with(suffix)) return false;
  text = text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
  return true;
}

std::optional<u32> take_number(std::string_view& text) {
  u32 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "v12", "v12.h", "s[2:3]", "a[0]", "ttmp9"
std::optional<ParsedOperand> parse_register(std::string_view text) {
  ParsedOperand parsed;
  Operand& operand = parsed.operand;
  u32 first = 0;
  if (text.starts_with("ttmp")) {
    operand.kind = OperandKind::kScalar;
    first = kTrapTemporaries;
    text.remove_prefix(4);
  } else if (text.starts_with("v") || text.starts_with("a") || text.starts_with("s")) {
    operand.kind = text[0] == 's' ? OperandKind::kScalar : OperandKind::kVector;
    first = text[0] == 'a' ? kFirstAccumulator : 0;
    text.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  const bool is_range = text.starts_with("[");
  if (is_range) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  const std::optional<u32> number = take_number(text);
  if (!number) return std::nullopt;
  u32 last = *number;
  if (is_range && text.starts_with(":")) {
    text.remove_prefix(1);
    last = take_number(text).value_or(0);
  }
  if (is_range) {
    if (text != "]") return std::nullopt;
    text.remove_prefix(1);
  }
  if (text == ".h") {
    parsed.half = Half::kHigh;
  } else if (text == ".l") {
    parsed.half = Half::kLow;
  } else if (!text.empty()) {
    return std::nullopt;
  }
  constexpr u32 kMaxVectorRegisters = 512;
  const u32 end = first + last + 1;
  if (last < *number || end > (operand.is_vector() ? kMaxVectorRegisters : u32{kScalarRegisters}))
    return std::nullopt;
  operand.reg = static_cast<u16>(first + *number);
  operand.registers = static_cast<u8>(last - *number + 1);
  return parsed;
}

// The disassembler prints only six digits of 1/(2 pi).
constexpr double kOneOverTwoPi = 0.15915494309189532;

std::optional<Operand> parse_constant(std::string_view text) {
  Operand operand;
  const std::string copy(text);
  const std::string_view digits = text.starts_with("-") ? text.substr(1) : text;
  if (digits.empty() || !is_digit(digits[0])) return std::nullopt;
  char* end = nullptr;
  if (digits.starts_with("0x")) {
    operand.kind = OperandKind::kLiteral;
    operand.value = std::strtoull(copy.c_str(), &end, 16);
  } else if (digits.find_first_not_of("0123456789") == digits.npos) {
    operand.kind = OperandKind::kInteger;
    operand.value = static_cast<u64>(std::strtoll(copy.c_str(), &end, 10));
  } else {
    operand.kind = OperandKind::kFloat;
    double value = std::strtod(copy.c_str(), &end);
    if (std::fabs(std::fabs(value) - kOneOverTwoPi) < 1e-4)
      value = std::copysign(kOneOverTwoPi, value);
    operand.value = bits_of(value);
  }
  if (end != copy.c_str() + copy.size()) return std::nullopt;
  return operand;
}

std::optional<ParsedOperand> parse_plain(std::string_view text) {
  for (const NamedRegister& row : kNamedRegisters) {
    if (row.name != text) continue;
    ParsedOperand parsed;
    parsed.operand.kind = OperandKind::kScalar;
    parsed.operand.reg = row.reg;
    parsed.operand.registers = row.count;
    return parsed;
  }
  for (const NamedValue& row : kNamedValues) {
    if (row.name != text) continue;
    ParsedOperand parsed;
    parsed.operand.kind = row.kind;
    parsed.operand.value = row.value;
    return parsed;
  }
  if (auto parsed = parse_register(text)) return parsed;
  if (const auto constant = parse_constant(text)) return ParsedOperand{*constant, Half::kNone};
  return std::nullopt;
}

}  // namespace

Result<ParsedOperand> parse_operand(std::string_view text) {
  const std::string_view whole = text;
  bool absolute = false;
  bool negate = false;
  bool sign_extend = false;
  for (bool found = true; found;) {
    found = true;
    if (text.size() > 1 && text[0] == '-' && !is_digit(text[1])) {
      negate = true;
      text.remove_prefix(1);
    } else if (unwrap(text, "neg(", ")")) {
      negate = true;
    } else if (unwrap(text, "|", "|") || unwrap(text, "abs(", ")")) {
      absolute = true;
    } else if (unwrap(text, "sext(", ")")) {
      sign_extend = true;
    } else {
      found = false;
    }
  }
  std::optional<ParsedOperand> parsed = parse_plain(text);
  if (!parsed)
    return Error{ErrorCode::kInvalidInput, "unknown operand " + quote(whole), {}, {}, {}};
  parsed->operand.absolute = absolute;
  parsed->operand.negate = negate;
  parsed->operand.sign_extend = sign_extend;
  return *parsed;
}

}  // namespace kiln::emulator
