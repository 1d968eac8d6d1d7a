#include "emulator/parse_modifier.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/parse_integer.hpp"
#include "base/text.hpp"

namespace kiln::emulator {
namespace {

std::optional<i64> number(std::string_view text) {
  const bool negative = text.starts_with("-");
  if (negative) text.remove_prefix(1);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  const std::optional<u64> value = parse_integer<u64>(text, base);
  if (!value) return std::nullopt;
  return negative ? -static_cast<i64>(*value) : static_cast<i64>(*value);
}

// "[1,0,1]"
std::vector<u32> list(std::string_view text) {
  std::vector<u32> values;
  if (text.size() < 2) return values;
  for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
    values.push_back(static_cast<u32>(number(trim(part)).value_or(0)));
  }
  return values;
}
u8 bit_list(const std::vector<u32>& values) {
  u32 bits = 0;
  for (std::size_t i = 0; i < values.size(); ++i) bits |= values[i] << i;
  return static_cast<u8>(bits);
}

struct DppModifier {
  std::string_view name;
  u16 control;
  bool adds_value;
};
constexpr DppModifier kDppModifiers[] = {
    {"row_shl", 0x100, true},   {"row_shr", 0x110, true},      {"row_ror", 0x120, true},
    {"wave_shl", 0x130, false}, {"wave_rol", 0x134, false},    {"wave_shr", 0x138, false},
    {"wave_ror", 0x13c, false}, {"row_mirror", 0x140, false},  {"row_half_mirror", 0x141, false},
    {"row_share", 0x150, true}, {"row_newbcast", 0x150, true}, {"row_xmask", 0x160, true},
};

struct Flag {
  std::string_view name;
  bool Instruction::*field;
};
constexpr Flag kFlags[] = {
    {"clamp", &Instruction::clamp},
    {"glc", &Instruction::returns_old},
    {"sc0", &Instruction::returns_old},
    {"offen", &Instruction::offset_enable},
    {"idxen", &Instruction::index_enable},
    {"lds", &Instruction::to_lds},
    {"bound_ctrl", &Instruction::bound_control},
};

struct BitList {
  std::string_view name;
  u8 Instruction::*field;
};
constexpr BitList kBitLists[] = {
    {"op_sel_hi", &Instruction::op_sel_hi},
    {"neg_lo", &Instruction::neg_lo},
    {"neg_hi", &Instruction::neg_hi},
};

// Hints, about caches for example, which change no result.
constexpr std::string_view kWithoutEffect[] = {"slc", "dlc", "nv",       "sc1", "nt",
                                               "scc", "gds", "wait_exp", "off"};
constexpr std::string_view kPrefixesWithoutEffect[] = {"cbsz", "abid", "blgp", "th", "scope"};

constexpr std::pair<std::string_view, Part> kParts[] = {
    {"BYTE_0", kByte0}, {"BYTE_1", kByte1}, {"BYTE_2", kByte2}, {"BYTE_3", kByte3},
    {"WORD_0", kWord0}, {"WORD_1", kWord1}, {"DWORD", kDword},
};
constexpr std::pair<std::string_view, UnusedPart> kUnusedParts[] = {
    {"UNUSED_PAD", UnusedPart::kZero},
    {"UNUSED_SEXT", UnusedPart::kSignExtend},
    {"UNUSED_PRESERVE", UnusedPart::kPreserve},
};
template <typename Value, std::size_t kSize>
std::optional<Value> find(const std::pair<std::string_view, Value> (&table)[kSize],
                          std::string_view name) {
  for (const auto& [row, value] : table) {
    if (row == name) return value;
  }
  return std::nullopt;
}

bool apply_dpp(const Modifier& modifier, Instruction& in) {
  const auto use = [&](u16 control) {
    in.lanes = LaneMap::kDpp16;
    in.dpp_control = control;
    return true;
  };
  const i64 value = number(modifier.value).value_or(0);
  for (const DppModifier& row : kDppModifiers) {
    if (row.name == modifier.name)
      return use(static_cast<u16>(row.control + (row.adds_value ? value : 0)));
  }
  if (modifier.name == "row_bcast") return use(value == 15 ? 0x142 : 0x143);
  if (modifier.name == "quad_perm") {
    u32 control = 0;
    const std::vector<u32> lanes = list(modifier.value);
    for (std::size_t i = 0; i < lanes.size(); ++i) control |= lanes[i] << (2 * i);
    return use(static_cast<u16>(control));
  }
  if (modifier.name == "dpp8") {
    in.lanes = LaneMap::kDpp8;
    const std::vector<u32> lanes = list(modifier.value);
    for (std::size_t i = 0; i < lanes.size(); ++i) in.dpp8_selectors |= lanes[i] << (3 * i);
    return true;
  }
  return false;
}

bool apply_sdwa(const Modifier& modifier, Instruction& in) {
  const auto part = find(kParts, modifier.value);
  const bool is_source = modifier.name == "src0_sel" || modifier.name == "src1_sel";
  if (modifier.name == "dst_sel" && part) {
    in.destination_part = *part;
  } else if (is_source && part) {
    const std::size_t source = modifier.name == "src0_sel" ? 0 : 1;
    in.operands[in.destination_count + source].part = *part;
  } else if (const auto unused = find(kUnusedParts, modifier.value);
             modifier.name == "dst_unused" && unused) {
    in.unused = *unused;
    return true;
  } else {
    return false;
  }
  in.sdwa = true;
  return true;
}

bool is_packed(std::string_view name) {
  return name.starts_with("v_pk_") || name.starts_with("v_dot") || name.starts_with("v_wmma") ||
         name.starts_with("v_mfma") || name.find("_mix") != name.npos;
}

}  // namespace

bool apply_modifier(const Modifier& modifier, std::string_view name, Instruction& in) {
  for (const Flag& flag : kFlags) {
    if (flag.name == modifier.name) return in.*flag.field = true;
  }
  for (const BitList& row : kBitLists) {
    if (row.name == modifier.name) {
      in.*row.field = bit_list(list(modifier.value));
      return true;
    }
  }
  if (modifier.name == "op_sel") {
    std::vector<u32> bits = list(modifier.value);
    const std::size_t sources = in.operand_count - std::size_t{in.destination_count};
    if (!is_packed(name) && bits.size() > sources) {
      in.op_sel_destination = bits[sources] != 0;
      bits.resize(sources);
    }
    in.op_sel = static_cast<u8>(in.op_sel | bit_list(bits));
    return true;
  }
  const i64 value = number(modifier.value).value_or(0);
  if (modifier.name == "mul") {
    in.output_scale = value == 2 ? 1 : 2;
  } else if (modifier.name == "div") {
    in.output_scale = 3;
  } else if (modifier.name == "offset") {
    in.offset = static_cast<i32>(value);  // a swizzle pattern is taken from the encoding instead
  } else if (modifier.name == "offset0") {
    in.offset0 = static_cast<i32>(value);
  } else if (modifier.name == "offset1") {
    in.offset1 = static_cast<i32>(value);
  } else if (modifier.name == "row_mask") {
    in.row_mask = static_cast<u8>(value);
  } else if (modifier.name == "bank_mask") {
    in.bank_mask = static_cast<u8>(value);
  } else if (modifier.name == "fi") {
    in.fetch_inactive = value != 0;
  } else {
    return apply_dpp(modifier, in) || apply_sdwa(modifier, in) ||
           std::ranges::find(kWithoutEffect, modifier.name) != std::end(kWithoutEffect) ||
           std::ranges::any_of(kPrefixesWithoutEffect,
                               [&](auto prefix) { return modifier.name.starts_with(prefix); });
  }
  return true;
}

}  // namespace kiln::emulator
