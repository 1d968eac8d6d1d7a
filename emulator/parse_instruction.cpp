#include "emulator/parse_instruction.hpp"

#include <algorithm>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "emulator/parse_modifier.hpp"
#include "emulator/parse_operand.hpp"
#include "emulator/spelling.hpp"

namespace kiln::emulator {
namespace {

// Splits at separators that are outside brackets.
std::vector<std::string_view> split_outside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '(') ++depth;
    if (text[i] == ']' || text[i] == ')') --depth;
    if (text[i] == separator && depth == 0) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  parts.push_back(text.substr(start));
  return parts;
}

Error unknown(std::string_view kind, std::string_view text) {
  return Error{
      ErrorCode::kInvalidInput, "unknown " + std::string(kind) + " " + quote(text), {}, {}, {}};
}

// Instructions whose operands the emulator does not need.
bool has_no_operands(std::string_view name) {
  constexpr std::string_view kNames[] = {"s_nop",
                                         "s_clause",
                                         "s_delay_alu",
                                         "s_sleep",
                                         "s_setprio",
                                         "s_sendmsg",
                                         "s_sethalt",
                                         "s_endpgm",
                                         "s_set_inst_prefetch_distance",
                                         "s_inst_prefetch",
                                         "s_icache_inv",
                                         "s_barrier",
                                         "s_code_end",
                                         "s_trap",
                                         "s_version",
                                         "s_gl1_inv",
                                         "v_nop",
                                         "s_round_mode",
                                         "s_denorm_mode",
                                         "s_set_gpr_idx_off",
                                         "s_set_gpr_idx_mode",
                                         "s_branch",
                                         "s_wakeup",
                                         "s_setvskip",
                                         "v_clrexcp",
                                         "s_barrier_signal",
                                         "s_barrier_wait",
                                         "v_pipeflush",
                                         "s_endpgm_saved",
                                         "global_inv",
                                         "s_incperflevel",
                                         "s_decperflevel"};
  constexpr std::string_view kPrefixes[] = {
      "s_waitcnt",      "s_wait_",        "s_dcache_", "s_ttracedata", "s_cbranch_",
      "buffer_gl0_inv", "buffer_gl1_inv", "buffer_wb", "buffer_inv",   "global_wb"};
  return std::ranges::find(kNames, name) != std::end(kNames) ||
         std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

bool has_carry_destination(std::string_view name) {
  constexpr std::string_view kNames[] = {"v_add_co_u32",    "v_sub_co_u32",    "v_subrev_co_u32",
                                         "v_add_co_ci_u32", "v_sub_co_ci_u32", "v_subrev_co_ci_u32",
                                         "v_mad_u64_u32",   "v_mad_i64_i32"};
  return std::ranges::find(kNames, name) != std::end(kNames) || name.starts_with("v_div_scale_");
}

u8 count_destinations(std::string_view mnemonic, std::string_view name, std::size_t operands,
                      bool returns_old) {
  if (name.starts_with("v_cmp")) {
    if (name.starts_with("v_cmpx") && is_sdwa(mnemonic) && operands == 3) return 1;
    return static_cast<u8>(operands - 2);
  }
  if (name.starts_with("v_")) return has_carry_destination(name) ? 2 : 1;
  if (name.find("_atomic_") != name.npos) return returns_old && !name.starts_with("buffer") ? 1 : 0;
  const auto contains = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (name.starts_with("ds_")) {
    return contains("_rtn_") || contains("_load") || contains("permute") || contains("swizzle") ? 1
                                                                                                : 0;
  }
  return contains("_store_") ? 0 : 1;
}

// True for symbolic names of messages and hardware registers, which say nothing beyond the
// encoding.
bool is_symbolic(std::string_view token) {
  for (const std::string_view prefix :
       {"hwreg(", "sendmsg(", "attr", "gpr_idx(", "HW_REG_", "MSG_"}) {
    if (token.starts_with(prefix)) return true;
  }
  return false;
}

void add_operand(Instruction& in, const Operand& operand) {
  if (in.operand_count < in.operands.size()) in.operands[in.operand_count++] = operand;
}

InstructionClass class_of(std::string_view name) {
  const auto contains = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (name.starts_with("v_wmma") || name.starts_with("v_mfma")) return InstructionClass::kMatrix;
  if (name.starts_with("v_")) {
    const bool is_float =
        contains("_f16") || contains("_f32") || contains("_f64") || contains("_bf16");
    return is_float ? InstructionClass::kVectorFloat : InstructionClass::kVectorInteger;
  }
  if (name.starts_with("ds_")) return InstructionClass::kLds;
  if (contains("_atomic_")) return InstructionClass::kAtomic;
  if (name.starts_with("s_load_")) return InstructionClass::kScalarLoad;
  if (contains("_store_")) return InstructionClass::kStore;
  if (contains("_load_") && !name.starts_with("s_")) return InstructionClass::kLoad;
  if (name.starts_with("s_barrier")) return InstructionClass::kBarrier;
  for (const std::string_view prefix :
       {"s_branch", "s_cbranch", "s_call", "s_setpc", "s_swappc", "s_endpgm"}) {
    if (name.starts_with(prefix)) return InstructionClass::kBranch;
  }
  for (const std::string_view prefix : {"s_wait", "s_nop", "s_clause", "s_delay_alu", "s_sleep",
                                        "buffer_", "global_", "s_set_inst", "s_inst"}) {
    if (name.starts_with(prefix)) return InstructionClass::kWait;
  }
  return InstructionClass::kScalar;
}

Result<ParsedInstruction> parse_single(std::string_view text, std::array<u32, 2> words) {
  text = trim(text);
  const std::size_t space = text.find(' ');
  const std::string_view mnemonic = text.substr(0, space);
  const std::string_view rest = space == text.npos ? std::string_view{} : trim(text.substr(space));
  ParsedInstruction parsed;
  parsed.name = canonical_name(mnemonic);
  const std::string_view name = parsed.name;
  Instruction& in = parsed.instruction;
  in.words = words;
  in.immediate = static_cast<i32>(words[0] & 0xffff);
  in.kind = class_of(name);
  in.is_vector = name.starts_with("v_");
  if (has_no_operands(mnemonic)) return parsed;

  std::vector<std::string_view> tokens;
  if (!rest.empty()) tokens = split_outside(rest, ',');
  std::vector<Modifier> modifiers;
  if (!tokens.empty()) {
    const std::vector<std::string_view> last = split_outside(trim(tokens.back()), ' ');
    tokens.back() = last.front();
    for (const std::string_view token : std::span(last).subspan(1)) {
      if (token.empty()) continue;
      const std::size_t colon = token.find(':');
      modifiers.push_back(
          {token.substr(0, colon), colon == token.npos ? "" : token.substr(colon + 1)});
    }
  }
  std::vector<Half> halves;
  for (const std::string_view token : tokens) {
    if (is_symbolic(trim(token))) continue;
    KILN_TRY_ASSIGN(const ParsedOperand operand, parse_operand(trim(token)));
    add_operand(in, operand.operand);
    halves.push_back(operand.half);
  }
  const auto has = [&](std::string_view modifier) {
    return std::ranges::find(modifiers, modifier, &Modifier::name) != modifiers.end();
  };
  const auto is_return = [](const Modifier& modifier) {
    return modifier.name == "th" && modifier.value == "TH_ATOMIC_RETURN";
  };
  in.destination_count =
      count_destinations(mnemonic, name, in.operand_count,
                         has("glc") || has("sc0") || std::ranges::any_of(modifiers, is_return));
  const bool selects = name == "v_cndmask_b32" && in.operand_count == 3;
  if (selects) {  // the text omits VCC, which selects
    Operand vcc;
    vcc.kind = OperandKind::kScalar;
    vcc.reg = kVcc;
    add_operand(in, vcc);
  }
  in.op_sel_hi = name.find("_mix") != name.npos ? 0 : 7;
  in.destination_part = kDword;
  for (const Modifier& modifier : modifiers) {
    if (!apply_modifier(modifier, name, in)) return unknown("modifier", modifier.name);
  }
  if (in.lanes == LaneMap::kDpp16) {
    if (!has("row_mask")) in.row_mask = 15;
    if (!has("bank_mask")) in.bank_mask = 15;
  }
  for (std::size_t i = 0; i < halves.size() && i < in.operands.size(); ++i) {
    if (halves[i] != Half::kHigh) continue;
    if (i < in.destination_count) {
      in.op_sel_destination = true;
    } else {
      in.op_sel = static_cast<u8>(in.op_sel | 1u << (i - in.destination_count));
    }
  }
  for (std::size_t i = 0; i < in.operand_count; ++i) {
    Operand& operand = in.operands[i];
    const bool through_dpp = in.lanes != LaneMap::kOwn && i == in.destination_count;
    operand.plain = operand.is_vector() && !operand.absolute && !operand.negate &&
                    !operand.sign_extend && !(in.sdwa && operand.part != kDword) && !through_dpp;
  }
  return parsed;
}

bool reads(const ParsedInstruction& half, u16 reg) {
  const Instruction& in = half.instruction;
  const bool accumulates = half.name == "v_fmac_f32" || half.name == "v_dot2acc_f32_f16";
  for (std::size_t i = accumulates ? 0 : 1; i < in.operand_count; ++i) {
    if (in.operands[i].is_vector() && in.operands[i].reg == reg) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<ParsedInstruction>> parse_instruction(std::string_view text,
                                                         std::array<u32, 2> words, u16 spare) {
  constexpr std::string_view kBoth = " :: ";
  const std::size_t both = text.find(kBoth);
  std::vector<ParsedInstruction> result;
  if (both == text.npos) {
    KILN_TRY_ASSIGN(ParsedInstruction parsed, parse_single(text, words));
    result.push_back(std::move(parsed));
    return result;
  }
  KILN_TRY_ASSIGN(ParsedInstruction x, parse_single(text.substr(0, both), words));
  KILN_TRY_ASSIGN(ParsedInstruction y, parse_single(text.substr(both + kBoth.size()), words));
  const u16 x_result = x.instruction.operands[0].reg;
  const u16 y_result = y.instruction.operands[0].reg;
  if (!reads(y, x_result)) {
    result = {std::move(x), std::move(y)};
  } else if (!reads(x, y_result)) {
    result = {std::move(y), std::move(x)};
  } else {
    // Each half reads what the other writes, so y reads a copy.
    KILN_TRY_ASSIGN(ParsedInstruction copy, parse_single("v_mov_b32 v0, v0", words));
    copy.instruction.operands[0].reg = spare;
    copy.instruction.operands[1].reg = x_result;
    for (std::size_t i = 1; i < y.instruction.operand_count; ++i) {
      Operand& operand = y.instruction.operands[i];
      if (operand.is_vector() && operand.reg == x_result) operand.reg = spare;
    }
    result = {std::move(copy), std::move(x), std::move(y)};
  }
  return result;
}

}  // namespace kiln::emulator
