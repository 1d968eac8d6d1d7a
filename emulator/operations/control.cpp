// Control flow, barriers, machine state, and instructions without effect here: waits, hints, cache
// control.
#include "emulator/apertures.hpp"
#include "emulator/operations/rows.hpp"
#include "emulator/program.hpp"

namespace kiln::emulator {
namespace {

void no_effect(Wave&, const Instruction&) {}

void jump(Wave& wave, const Instruction& in) { wave.pc = in.target; }
void jump_to(Wave& wave, const Instruction& in, u64 address) {
  const auto index = wave.program->index_of(address);
  if (!index) {
    raise(wave, in, FaultKind::kBadCode,
          "a jump to " + hex(address) + ", where no instruction starts");
  }
  wave.pc = *index;
}
u64 next_address(const Wave& wave, const Instruction& in) {
  return wave.program->instructions()[in.next].address;
}

template <int W, typename F>
void branch_if(Wave& wave, const Instruction& in) {
  if (F{}(wave, std::integral_constant<int, W>{})) jump(wave, in);
}
template <typename F>
Operation branch(std::string_view name, F) {
  return {std::string(name), branch_if<32, F>, branch_if<64, F>};
}

template <typename F>
Operation step(std::string_view name, F function) {
  return {std::string(name), function, function};
}
Operation ignored(std::string_view name) { return step(name, no_effect); }

// ---- hardware registers: number | offset << 6 | (size - 1) << 11

struct RegisterField {
  u32 number;
  u32 offset;
  u32 mask;
};
RegisterField register_field(const Instruction& in) {
  const u32 text = static_cast<u32>(in.immediate);
  const u32 size = (text >> 11 & 31) + 1;
  return {text & 63, text >> 6 & 31, size < 32 ? (1u << size) - 1 : ~0u};
}
constexpr u32 kModeRegister = 1;
constexpr u32 kRoundingBits = 15;

u32 hardware_register(const Wave& wave, u32 number) {
  switch (number) {
    case kModeRegister: return wave.mode;
    case 4:   // HW_ID
    case 23:  // HW_ID1
    case 24:  // HW_ID2
      return wave.id;
    case 15: return kSharedAperture | kPrivateAperture >> 16;  // SH_MEM_BASES
    case 29: return static_cast<u32>(wave.instructions);       // SHADER_CYCLES
    default: return 0;
  }
}
void get_register(Wave& wave, const Instruction& in) {
  const RegisterField field = register_field(in);
  write_scalar(wave, in, in.operands[0],
               hardware_register(wave, field.number) >> field.offset & field.mask);
}
void set_register(Wave& wave, const Instruction& in) {
  const RegisterField field = register_field(in);
  if (field.number != kModeRegister) return;
  const u32 value = read_scalar<32>(wave, in, in.operands[0]);
  const u32 mask = field.mask << field.offset;
  wave.mode = (wave.mode & ~mask) | (value << field.offset & mask);
  if ((wave.mode & kRoundingBits) != 0) {
    raise(wave, in, FaultKind::kUnsupported, "rounding otherwise than to nearest even");
  }
}

// ---- register indexing of gfx9: M0[7:0] is the index, M0[15:12] selects the operands

void set_index_mode(Wave& wave, u32 mode) {
  wave.index_mode = mode;
  wave.scalar[kM0] = (wave.scalar[kM0] & ~0xf000u) | mode << 12;
}
void set_index(Wave& wave, const Instruction& in) {
  wave.scalar[kM0] =
      (wave.scalar[kM0] & ~0xffu) | (read_scalar<64>(wave, in, in.operands[0]) & 255);
}

}  // namespace

// clang-format off
Operations control_operations() {
  Operations rows = {
      step("s_branch", [](Wave& wave, const Instruction& in) { jump(wave, in); }),
      branch("s_cbranch_scc0", [](const Wave& wave, auto) { return wave.scc == 0; }),
      branch("s_cbranch_scc1", [](const Wave& wave, auto) { return wave.scc != 0; }),
      branch("s_cbranch_vccz", [](const Wave& wave, auto width) { return read_vcc<width>(wave) == 0; }),
      branch("s_cbranch_vccnz", [](const Wave& wave, auto width) { return read_vcc<width>(wave) != 0; }),
      branch("s_cbranch_execz", [](const Wave& wave, auto width) { return read_exec<width>(wave) == 0; }),
      branch("s_cbranch_execnz", [](const Wave& wave, auto width) { return read_exec<width>(wave) != 0; }),
      step("s_getpc_b64", [](Wave& wave, const Instruction& in) { write_scalar64(wave, in, in.operands[0], next_address(wave, in)); }),
      step("s_setpc_b64", [](Wave& wave, const Instruction& in) { jump_to(wave, in, read_scalar64<64>(wave, in, in.operands[0])); }),
      step("s_swappc_b64", [](Wave& wave, const Instruction& in) {
        const u64 target = read_scalar64<64>(wave, in, in.operands[1]);
        write_scalar64(wave, in, in.operands[0], next_address(wave, in));
        jump_to(wave, in, target); }),
      step("s_call_b64", [](Wave& wave, const Instruction& in) {
        write_scalar64(wave, in, in.operands[0], next_address(wave, in));
        jump(wave, in); }),
      step("s_endpgm", [](Wave& wave, const Instruction&) { wave.ended = true; }),
      step("s_barrier", [](Wave& wave, const Instruction&) { wave.at_barrier = true; }),
      step("s_barrier_wait", [](Wave& wave, const Instruction&) { wave.at_barrier = true; }),
      step("s_trap", [](Wave& wave, const Instruction& in) { raise(wave, in, FaultKind::kTrap, "s_trap: an assertion failed, or abort() was called"); }),
      step("s_code_end", [](Wave& wave, const Instruction& in) { raise(wave, in, FaultKind::kBadCode, "the end of the code was reached"); }),
      step("s_sendmsg_rtn_b32", [](Wave& wave, const Instruction& in) { write_scalar(wave, in, in.operands[0], 0); }),
      step("s_sendmsg_rtn_b64", [](Wave& wave, const Instruction& in) { write_scalar64(wave, in, in.operands[0], wave.instructions); }),
      step("s_memtime", [](Wave& wave, const Instruction& in) { write_scalar64(wave, in, in.operands[0], wave.instructions); }),
      step("s_memrealtime", [](Wave& wave, const Instruction& in) { write_scalar64(wave, in, in.operands[0], wave.instructions); }),
      step("s_round_mode", [](Wave& wave, const Instruction& in) { if (in.immediate != 0) raise(wave, in, FaultKind::kUnsupported, "rounding otherwise than to nearest even"); }),
      step("s_denorm_mode", [](Wave& wave, const Instruction& in) { wave.mode = (wave.mode & ~0xf0u) | (static_cast<u32>(in.immediate) & 15) << 4; }),
      step("s_getreg_b32", get_register),
      step("s_setreg_b32", set_register),
      step("s_setreg_imm32_b32", set_register),
      step("s_set_gpr_idx_on", [](Wave& wave, const Instruction& in) { set_index(wave, in); set_index_mode(wave, in.words[0] >> 8 & 15); }),
      step("s_set_gpr_idx_off", [](Wave& wave, const Instruction&) { wave.index_mode = 0; }),
      step("s_set_gpr_idx_idx", [](Wave& wave, const Instruction& in) { set_index(wave, in); }),
      step("s_set_gpr_idx_mode", [](Wave& wave, const Instruction& in) { set_index_mode(wave, static_cast<u32>(in.immediate) & 15); }),
  };
  // clang-format on
  for (const char* name : {"s_nop",
                           "v_nop",
                           "v_clrexcp",
                           "v_pipeflush",
                           "s_barrier_signal",
                           "s_barrier_leave",
                           "s_waitcnt",
                           "s_waitcnt_vscnt",
                           "s_waitcnt_vmcnt",
                           "s_waitcnt_expcnt",
                           "s_waitcnt_lgkmcnt",
                           "s_waitcnt_depctr",
                           "s_wait_loadcnt",
                           "s_wait_storecnt",
                           "s_wait_samplecnt",
                           "s_wait_bvhcnt",
                           "s_wait_expcnt",
                           "s_wait_dscnt",
                           "s_wait_kmcnt",
                           "s_wait_loadcnt_dscnt",
                           "s_wait_storecnt_dscnt",
                           "s_wait_alu",
                           "s_wait_idle",
                           "s_wait_event",
                           "s_clause",
                           "s_delay_alu",
                           "s_sleep",
                           "s_setprio",
                           "s_sendmsg",
                           "s_set_inst_prefetch_distance",
                           "s_sethalt",
                           "s_icache_inv",
                           "s_dcache_inv",
                           "s_dcache_wb",
                           "s_gl1_inv",
                           "s_ttracedata",
                           "s_ttracedata_imm",
                           "s_incperflevel",
                           "s_decperflevel",
                           "s_wakeup",
                           "s_version",
                           "s_setvskip",
                           "global_inv",
                           "global_wb",
                           "global_wbinv",
                           "buffer_gl0_inv",
                           "buffer_gl1_inv",
                           "buffer_invl2",
                           "buffer_wbinvl1",
                           "buffer_wbinvl1_vol",
                           "buffer_wbl2",
                           "buffer_inv"}) {
    rows.push_back(ignored(name));
  }
  return rows;
}

}  // namespace kiln::emulator
