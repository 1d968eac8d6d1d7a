#include "emulator/report.hpp"

#include "base/demangle.hpp"
#include "base/text.hpp"
#include "emulator/source_lines.hpp"

namespace kiln::emulator {
namespace {

std::string where(const Fault& fault, const LaunchPlan& plan) {
  const auto& id = fault.workgroup;
  std::string text = "workgroup (" + std::to_string(id[0]) + "," + std::to_string(id[1]) + "," +
                     std::to_string(id[2]) + "), wave " + std::to_string(fault.wave);
  if (fault.lane < 0) return text;
  const u32 thread = fault.wave * plan.program->wave_width() + static_cast<u32>(fault.lane);
  const u32 x = thread % plan.block[0];
  const u32 y = thread / plan.block[0] % plan.block[1];
  const u32 z = thread / (plan.block[0] * plan.block[1]);
  return text + ", lane " + std::to_string(fault.lane) + ": thread (" + std::to_string(x) + "," +
         std::to_string(y) + "," + std::to_string(z) + ")";
}

}  // namespace

const char* to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kOutOfBounds: return "out-of-bounds access";
    case FaultKind::kUseAfterFree: return "use after free";
    case FaultKind::kReadOnly: return "write to read-only memory";
    case FaultKind::kLdsOverrun: return "LDS overrun";
    case FaultKind::kScratchOverrun: return "scratch overrun";
    case FaultKind::kMisaligned: return "misaligned atomic";
    case FaultKind::kUninitialised: return "uninitialised value";
    case FaultKind::kRace: return "race";
    case FaultKind::kDivergentBarrier: return "divergent barrier";
    case FaultKind::kEndless: return "limit of instructions";
    case FaultKind::kTrap: return "trap";
    case FaultKind::kUnsupported: return "not emulated";
    case FaultKind::kBadCode: return "bad code";
  }
  return "fault";
}

Fault fault_at(const Wave& wave, const Instruction& in, FaultKind kind, std::string message,
               int lane) {
  Fault fault(kind, std::move(message));
  fault.address = in.address;
  fault.workgroup = wave.workgroup->id;
  fault.wave = wave.id;
  fault.lane = lane;
  return fault;
}

void raise(const Wave& wave, const Instruction& in, FaultKind kind, std::string message, int lane) {
  throw fault_at(wave, in, kind, std::move(message), lane);
}

Error report(const Fault& fault, const LaunchPlan& plan) {
  const Program& program = *plan.program;
  Error error{fault.kind == FaultKind::kUnsupported ? ErrorCode::kUnavailable : ErrorCode::kDriver,
              std::string(to_string(fault.kind)) + ": kernel " +
                  quote(readable_name(plan.kernel->name)) + ": " + fault.message,
              {},
              {},
              {}};
  error.note(where(fault, plan));
  const u64 address = program.file_address(fault.address);
  const std::string text = program.text_at(fault.address);
  error.note("at " + hex(address) + (text.empty() ? "" : ": " + text));
  if (const std::string line = source_line(program.file(), address); !line.empty())
    error.note("from " + line);
  if (fault.kind == FaultKind::kLdsOverrun) {
    error.hint("LDS is shared memory: the launch gives the bytes of `extern __shared__` arrays (shared_bytes, or --lds of "
               "'kiln run'); a `__shared__` array of a size of its own was overrun by the kernel");
  }
  if (fault.kind == FaultKind::kEndless) {
    error.hint("a loop never ends, or the kernel needs a larger limit: KILN_EMULATOR_LIMIT, or --limit of 'kiln run'");
  }
  return error;
}

}  // namespace kiln::emulator
