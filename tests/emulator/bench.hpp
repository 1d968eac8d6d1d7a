// A wave on which tests run single instructions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/dispatch.hpp"
#include "emulator/memory_map.hpp"
#include "emulator/operation.hpp"
#include "emulator/parse_instruction.hpp"

namespace kiln::emulator {

// An instruction that is ready to run.
struct Prepared {
  Handler handler = nullptr;
  Instruction instruction;

  void run(Wave& wave) const { handler(wave, instruction); }
};

// A wave with its own registers, LDS, scratch and buffer, on which an instruction runs.
class Bench {
 public:
  static constexpr u32 kScratchBytes = 256;  // per lane

  // A wave of gfx1100 with 32 lanes, or of gfx90a with 64.
  explicit Bench(u32 width)
      : width_(width), registers_(kRegisters * width), scratch_(kScratchBytes * width) {
    plan_.device = find_device_model(width == 64 ? "gfx90a" : "gfx1100");
    plan_.memory = &memory_;
    plan_.vector_registers = kRegisters;
    workgroup_.plan = &plan_;
    wave_.workgroup = &workgroup_;
    wave_.vector = registers_.data();
    wave_.lds = lds_;
    wave_.scratch = scratch_;
    wave_.scalar[kExec] = ~0u;
    wave_.scalar[kExec + 1] = ~0u;
  }

  u32& vector(u32 reg, u32 lane) { return registers_[reg * width_ + lane]; }
  u32& scalar(u32 reg) { return wave_.scalar[reg]; }
  u64 vector64(u32 reg, u32 lane) { return combine(vector(reg, lane), vector(reg + 1, lane)); }
  u64 scalar64(u32 reg) { return combine(scalar(reg), scalar(reg + 1)); }
  void set64(u32 reg, u32 lane, u64 value) {
    vector(reg, lane) = low_half(value);
    vector(reg + 1, lane) = high_half(value);
  }
  void set_scalar64(u32 reg, u64 value) {
    scalar(reg) = low_half(value);
    scalar(reg + 1) = high_half(value);
  }
  Wave& wave() { return wave_; }
  std::vector<u8>& lds() { return lds_; }
  std::vector<u8>& scratch() { return scratch_; }
  u32 width() const { return width_; }
  // Allocates a buffer of global memory. Returns null if there is no memory.
  u8* allocate(std::size_t bytes) {
    auto buffer = memory_.allocate(bytes);
    return buffer ? static_cast<u8*>(*buffer) : nullptr;
  }

  // Returns nothing if there is no such instruction.
  std::optional<Prepared> prepare(const std::string& text, std::array<u32, 2> words = {}) const {
    const auto parsed = parse_instruction(text, words, kRegisters - 1);
    if (!parsed || parsed->size() != 1) return std::nullopt;
    const Handler handler = operations().find(parsed->front().name, width_);
    if (handler == nullptr) return std::nullopt;
    return Prepared{handler, parsed->front().instruction};
  }
  // Returns false if there is no such instruction.
  bool run(const std::string& text, std::array<u32, 2> words = {}) {
    const auto prepared = prepare(text, words);
    if (prepared) prepared->run(wave_);
    return prepared.has_value();
  }

  static const OperationTable& operations() {
    static const OperationTable table;
    return table;
  }

 private:
  static constexpr u16 kRegisters = 512;  // vector registers, and accumulators from 256 on

  u32 width_;
  std::vector<u32> registers_;
  std::vector<u8> lds_ = std::vector<u8>(65536);
  std::vector<u8> scratch_;
  MemoryMap memory_;
  LaunchPlan plan_;
  Workgroup workgroup_;
  Wave wave_;
};

}  // namespace kiln::emulator
