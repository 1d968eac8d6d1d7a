// Control flow, barriers, machine state, and instructions without effect in the emulator.
#include <memory>
#include <span>

#include "emulator/fault.hpp"
#include "emulator/program.hpp"
#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"
#include "tests/support/elf_builder.hpp"
#include "tests/support/msgpack_builder.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;
using emulator::Fault;
using emulator::FaultKind;

// The state that an instruction may change, except for memory.
struct State {
  std::vector<u32> vectors;
  std::array<u32, emulator::kScalarRegisters> scalars{};
  std::vector<u8> lds;
  u32 scc, pc, mode, index_mode;
  bool ended, at_barrier;

  bool operator==(const State&) const = default;
};
State state_of(Bench& bench) {
  const emulator::Wave& wave = bench.wave();
  State state{{},        wave.scalar,     bench.lds(), wave.scc,       wave.pc,
              wave.mode, wave.index_mode, wave.ended,  wave.at_barrier};
  for (u32 reg = 0; reg < 64; ++reg) {
    for (u32 lane = 0; lane < bench.width(); ++lane)
      state.vectors.push_back(bench.vector(reg, lane));
  }
  return state;
}
void fill(Bench& bench) {
  for (u32 reg = 0; reg < 64; ++reg) {
    for (u32 lane = 0; lane < bench.width(); ++lane) bench.vector(reg, lane) = reg * 1000 + lane;
  }
  for (u32 reg = 0; reg < 100; ++reg) bench.scalar(reg) = 5000 + reg;
  bench.wave().scc = 1;
  bench.wave().pc = 40;
}

// Tests an instruction whose only effect on the state is `change`.
Formula changes(std::string name, std::string operands, u32 word,
                std::function<void(Bench&, State&)> change) {
  return {name, [=] {
            for (const u32 width : {32u, 64u}) {
              Bench bench(width);
              fill(bench);
              State expected = state_of(bench);
              if (change) change(bench, expected);
              const std::string text = name + (operands.empty() ? "" : " " + operands);
              const bool known = bench.run(text, {word, 0});
              hold_equal(known, true, [&] { return text + ": there is no such instruction"; });
              hold_equal(state_of(bench) == expected, true,
                         [&] { return text + ", waves of " + std::to_string(width); });
            }
          }};
}
Formula has_no_effect(std::string name) { return changes(std::move(name), "", 0x1234, nullptr); }

// Tests a branch that is taken if `taken` is true for SCC, VCC and EXEC.
Formula branch(std::string name, bool (*taken)(bool scc, u64 vcc, u64 exec)) {
  return {name, [=] {
            for (const u32 width : {32u, 64u}) {
              for (const u64 mask : {u64{0}, u64{1} << 31, u64{1} << 32, u64{1} << 63, ~u64{0}}) {
                for (u32 form = 0; form < 4; ++form) {
                  Bench bench(width);
                  const u64 other = form % 2 != 0 ? 1 : 0;
                  const bool scc = form / 2 != 0;
                  const auto prepared = bench.prepare(name + " 12");
                  if (!hold_equal(prepared.has_value(), true, [&] { return name; })) return;
                  for (const bool of_vcc : {false, true}) {
                    const u64 vcc = of_vcc ? mask : other;
                    const u64 exec = of_vcc ? other : mask;
                    bench.set_scalar64(emulator::kVcc, vcc);
                    bench.set_scalar64(emulator::kExec, exec);
                    bench.wave().scc = scc;
                    bench.wave().pc = 40;
                    emulator::Prepared jump = *prepared;
                    jump.instruction.target = 77;
                    jump.run(bench.wave());
                    const u64 seen = width == 32 ? 0xffffffff : ~u64{0};
                    const bool expected = taken(scc, vcc & seen, exec & seen);
                    hold_equal(bench.wave().pc, expected ? 77 : 40,
                               [&] { return name + " with " + hex(mask); });
                  }
                }
              }
            }
          }};
}

// Tests an instruction that ends the kernel with a fault.
Formula raises(std::string name, std::string operands, FaultKind kind) {
  return {name, [=] {
            Bench bench(32);
            bool raised = false;
            try {
              bench.run(name + operands);
            } catch (const Fault& fault) {
              raised = fault.kind == kind;
            }
            hold_equal(raised, true, [&] { return name; });
          }};
}

// Clocks count the instructions of the wave.
Formula clock(std::string name) {
  return {name, [=] {
            Bench bench(64);
            bench.wave().instructions = 0x123456789a;
            const bool known = bench.run(name + " s[4:5]");
            hold_equal(known ? bench.scalar64(4) : 0, 0x123456789a, [&] { return name; });
          }};
}

// The encoding of hwreg(number, offset, size), here for MODE, which is register 1.
constexpr u32 mode_field(u32 offset, u32 size) { return 1 | offset << 6 | (size - 1) << 11; }

void hold_get_register() {
  Bench bench(32);
  bench.wave().mode = 0xabcd12f0;
  const struct { u32 offset, size; } fields[] = {{0, 32}, {4, 4}, {8, 24}, {31, 1}, {16, 8}};
  for (const auto& field : fields) {
    const bool known = bench.run("s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 1)",
                                 {mode_field(field.offset, field.size), 0});
    const u64 expected = (u64{0xabcd12f0} >> field.offset) % (u64{1} << field.size);
    hold_equal(known ? bench.scalar(4) : ~0u, expected, [] { return "s_getreg_b32"; });
  }
}
// Sets these bits of MODE and no others. Rounding modes other than to nearest even are refused.
void hold_set_register(const std::string& name, const std::string& source) {
  Bench bench(32);
  const struct { u32 offset, size; } fields[] = {{4, 4}, {8, 24}, {31, 1}, {16, 8}};
  for (const auto& field : fields) {
    bench.wave().mode = 0x00ff00f0;
    bench.scalar(4) = 0x5a5;
    const bool known = bench.run(name + " hwreg(HW_REG_MODE, 0, 1), " + source,
                                 {mode_field(field.offset, field.size), 0});
    u64 expected = 0x00ff00f0;
    for (u32 i = 0; i < field.size; ++i) {
      const u64 bit = u64{1} << (field.offset + i);
      expected = (0x5a5 >> i & 1) != 0 ? expected | bit : expected & ~bit;
    }
    hold_equal(known ? bench.wave().mode : 0, expected, [&] { return name; });
  }
  bool refused = false;
  try {
    bench.scalar(4) = 0x5a5;
    bench.run(name + " hwreg(HW_REG_MODE, 0, 1), " + source, {mode_field(0, 4), 0});
  } catch (const Fault& fault) {
    refused = fault.kind == FaultKind::kUnsupported;
  }
  hold_equal(refused, true, [&] { return name + ": another rounding mode"; });
}

// s_round_mode: only to nearest even.
void hold_round_mode() {
  Bench bench(32);
  fill(bench);
  const State expected = state_of(bench);
  const bool known = bench.run("s_round_mode 0x0", {0, 0});
  hold_equal(known && state_of(bench) == expected, true, [] { return "s_round_mode 0"; });
  bool refused = false;
  try {
    bench.run("s_round_mode 0x5", {5, 0});
  } catch (const Fault& fault) {
    refused = fault.kind == FaultKind::kUnsupported;
  }
  hold_equal(refused, true, [] { return "s_round_mode 5"; });
}

// ---- jumps to an address, in a program of gfx1100 without kernels

std::unique_ptr<emulator::Program> program_of(const std::vector<u32>& code) {
  using namespace testing;
  ElfBuilder elf;
  elf.os_abi = 64;
  elf.abi_version = 3;
  elf.machine = 224;
  elf.flags = 0x41;  // gfx1100
  elf.symbol_table = 11;
  const std::string metadata =
      msgpack::map({{"amdhsa.kernels", msgpack::array({})},
                    {"amdhsa.target", msgpack::text("amdgcn-amd-amdhsa--gfx1100")},
                    {"amdhsa.version", msgpack::array({msgpack::number(1), msgpack::number(2)})}});
  elf.add({.name = ".note", .type = 7, .bytes = note("AMDGPU", 32, metadata)});
  std::string text;
  for (const u32 word : code) put(text, word);
  const auto section = elf.add({.name = ".text", .bytes = text});
  elf.add_symbol({.name = "f",
                  .type = 2,
                  .section = section,
                  .value = elf.offset(section),
                  .size = text.size()});
  const std::string file = elf.build();
  auto program = emulator::Program::load(std::as_bytes(std::span(file)), Bench::operations());
  return program ? std::move(*program) : nullptr;
}

constexpr u32 kNop = 0xbf800000;
constexpr u32 kGetProgramCounter = 0xbe844700;  // s_getpc_b64 s[4:5]
constexpr u32 kJump = 0xbe804806;               // s_setpc_b64 s[6:7]
constexpr u32 kSwap = 0xbe844906;               // s_swappc_b64 s[4:5], s[6:7]
constexpr u32 kSwapInPlace = 0xbe844904;        // s_swappc_b64 s[4:5], s[4:5]
constexpr u32 kCall = 0xba040000;               // s_call_b64 s[4:5], number of instructions

// Tests the instruction `word` among others: the value of s[4:5] afterwards, and where the wave
// continues. The address in s[6:7] is that of instruction `target`.
Formula address_jump(std::string name, u32 word, bool saves, bool goes) {
  return {name, [=] {
            constexpr u32 kPlace = 3;
            for (const u32 target : {0u, 1u, 5u, 7u}) {
              // The distance of a call counts from the instruction after it.
              const u32 distance = (target - kPlace - 1) & 0xffff;
              std::vector<u32> code(8, kNop);
              code[kPlace] = word == kCall ? kCall | distance : word;
              const auto program = program_of(code);
              if (!hold_equal(program != nullptr && program->missing().empty(), true,
                              [&] { return name + ": its program"; }))
                return;
              const emulator::Instruction& in = program->instructions()[kPlace];
              const u64 begin = program->instructions()[0].address;
              Bench bench(32);
              fill(bench);
              bench.wave().program = program.get();
              bench.wave().pc = kPlace + 1;
              bench.set_scalar64(6, begin + 4 * target);
              if (word == kSwapInPlace) bench.set_scalar64(4, begin + 4 * target);
              State expected = state_of(bench);
              const u64 after = begin + 4 * (kPlace + 1);
              if (saves) {
                expected.scalars[4] = static_cast<u32>(after);
                expected.scalars[5] = static_cast<u32>(after >> 32);
              }
              if (goes) expected.pc = target;
              in.run(bench.wave(), in);
              hold_equal(state_of(bench) == expected, true,
                         [&] { return name + " to instruction " + std::to_string(target); });
            }
            if (word != kJump) return;
            // To an address where no instruction starts.
            for (const u64 wrong : {u64{2}, u64{4096}}) {
              const auto program = program_of({kNop, kJump});
              const emulator::Instruction& in = program->instructions()[1];
              Bench bench(32);
              bench.wave().program = program.get();
              bench.set_scalar64(6, program->instructions()[0].address + wrong);
              bool refused = false;
              try {
                in.run(bench.wave(), in);
              } catch (const Fault& fault) {
                refused = fault.kind == FaultKind::kBadCode;
              }
              hold_equal(refused, true, [&] { return name + ": a wrong address"; });
            }
          }};
}

}  // namespace

// clang-format off
Formulas control_formulas() {
  Formulas rows = {
      branch("s_branch", [](bool, u64, u64) { return true; }),
      branch("s_cbranch_scc0", [](bool scc, u64, u64) { return !scc; }),
      branch("s_cbranch_scc1", [](bool scc, u64, u64) { return scc; }),
      branch("s_cbranch_vccz", [](bool, u64 vcc, u64) { return vcc == 0; }),
      branch("s_cbranch_vccnz", [](bool, u64 vcc, u64) { return vcc != 0; }),
      branch("s_cbranch_execz", [](bool, u64, u64 exec) { return exec == 0; }),
      branch("s_cbranch_execnz", [](bool, u64, u64 exec) { return exec != 0; }),
      address_jump("s_getpc_b64", kGetProgramCounter, true, false),
      address_jump("s_setpc_b64", kJump, false, true),
      {"s_swappc_b64", [] { address_jump("s_swappc_b64", kSwap, true, true).hold(); address_jump("s_swappc_b64", kSwapInPlace, true, true).hold(); }},
      address_jump("s_call_b64", kCall, true, true),
      changes("s_endpgm", "", 0, [](Bench&, State& state) { state.ended = true; }),
      changes("s_barrier", "", 0, [](Bench&, State& state) { state.at_barrier = true; }),
      changes("s_barrier_wait", "-1", 0, [](Bench&, State& state) { state.at_barrier = true; }),
      raises("s_trap", " 2", FaultKind::kTrap),
      raises("s_code_end", "", FaultKind::kBadCode),
      changes("s_sendmsg_rtn_b32", "s4, sendmsg(MSG_RTN_GET_DOORBELL)", 0, [](Bench&, State& state) { state.scalars[4] = 0; }),
      clock("s_sendmsg_rtn_b64"),
      clock("s_memtime"),
      clock("s_memrealtime"),
      {"s_getreg_b32", hold_get_register},
      {"s_setreg_b32", [] { hold_set_register("s_setreg_b32", "s4"); }},
      {"s_setreg_imm32_b32", [] { hold_set_register("s_setreg_imm32_b32", "0x5a5"); }},
      {"s_round_mode", hold_round_mode},
      // Bits 4 to 7 of MODE.
      changes("s_denorm_mode", "0xa", 0xa, [](Bench& bench, State& state) { bench.wave().mode = 0xff0f00f5; state.mode = 0xff0f00a5; }),
      // M0[7:0] is the index; M0[15:12] selects the operands that it is added to.
      changes("s_set_gpr_idx_on", "s4, gpr_idx(SRC0,DST)", 9 << 8, [](Bench& bench, State& state) { bench.scalar(4) = 0x1203; state.scalars[4] = 0x1203; bench.scalar(emulator::kM0) = 0xabc0ef77; state.scalars[emulator::kM0] = 0xabc09f03; state.index_mode = 9; }),
      changes("s_set_gpr_idx_idx", "s4", 0, [](Bench& bench, State& state) { bench.scalar(4) = 0x1203; state.scalars[4] = 0x1203; bench.scalar(emulator::kM0) = 0xabc0ef77; state.scalars[emulator::kM0] = 0xabc0ef03; }),
      changes("s_set_gpr_idx_mode", "gpr_idx(SRC0,DST)", 9, [](Bench& bench, State& state) { bench.scalar(emulator::kM0) = 0xabc0ef77; state.scalars[emulator::kM0] = 0xabc09f77; state.index_mode = 9; }),
      changes("s_set_gpr_idx_off", "", 0, [](Bench& bench, State& state) { bench.wave().index_mode = 9; state.index_mode = 0; }),
  };
  // clang-format on
  // Waits, hints and cache control have no effect: every instruction completes before the next one,
  // memory is coherent, and nothing else that they could change is modelled.
  for (const char* name : {"buffer_gl0_inv",
                           "buffer_gl1_inv",
                           "buffer_inv",
                           "buffer_invl2",
                           "buffer_wbinvl1",
                           "buffer_wbinvl1_vol",
                           "buffer_wbl2",
                           "global_inv",
                           "global_wb",
                           "global_wbinv",
                           "s_barrier_leave",
                           "s_barrier_signal",
                           "s_clause",
                           "s_dcache_inv",
                           "s_dcache_wb",
                           "s_decperflevel",
                           "s_delay_alu",
                           "s_gl1_inv",
                           "s_icache_inv",
                           "s_incperflevel",
                           "s_nop",
                           "s_sendmsg",
                           "s_set_inst_prefetch_distance",
                           "s_sethalt",
                           "s_setprio",
                           "s_setvskip",
                           "s_sleep",
                           "s_ttracedata",
                           "s_ttracedata_imm",
                           "s_version",
                           "s_wait_alu",
                           "s_wait_bvhcnt",
                           "s_wait_dscnt",
                           "s_wait_event",
                           "s_wait_expcnt",
                           "s_wait_idle",
                           "s_wait_kmcnt",
                           "s_wait_loadcnt",
                           "s_wait_loadcnt_dscnt",
                           "s_wait_samplecnt",
                           "s_wait_storecnt",
                           "s_wait_storecnt_dscnt",
                           "s_waitcnt",
                           "s_waitcnt_depctr",
                           "s_waitcnt_expcnt",
                           "s_waitcnt_lgkmcnt",
                           "s_waitcnt_vmcnt",
                           "s_waitcnt_vscnt",
                           "s_wakeup",
                           "v_clrexcp",
                           "v_nop",
                           "v_pipeflush"}) {
    rows.push_back(has_no_effect(name));
  }
  return rows;
}

}  // namespace kiln::formulas
