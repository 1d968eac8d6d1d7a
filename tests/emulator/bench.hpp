// One wave on which single instructions run, for tests.
#pragma once

#include <string>
#include <vector>

#include "emulator/dispatch.hpp"
#include "emulator/operation.hpp"
#include "emulator/parse_instruction.hpp"

namespace kiln::emulator {

// A wave with registers of its own, on which an instruction runs.
class Bench {
 public:
  explicit Bench(u32 width) : width_(width), registers_(64 * width) {
    plan_.device = find_device_model(width == 64 ? "gfx90a" : "gfx1100");
    plan_.vector_registers = 64;
    workgroup_.plan = &plan_;
    wave_.workgroup = &workgroup_;
    wave_.vector = registers_.data();
    wave_.lds = lds_;
    wave_.scalar[kExec] = ~0u;
    wave_.scalar[kExec + 1] = ~0u;
  }

  u32& vector(u32 reg, u32 lane) { return registers_[reg * width_ + lane]; }
  u32& scalar(u32 reg) { return wave_.scalar[reg]; }
  u64 vector64(u32 reg, u32 lane) { return combine(vector(reg, lane), vector(reg + 1, lane)); }
  void set64(u32 reg, u32 lane, u64 value) {
    vector(reg, lane) = low_half(value);
    vector(reg + 1, lane) = high_half(value);
  }
  Wave& wave() { return wave_; }
  u32 width() const { return width_; }

  // False when there is no such instruction.
  bool run(const std::string& text, std::array<u32, 2> words = {}) {
    const auto parsed = parse_instruction(text, words, 63);
    if (!parsed || parsed->size() != 1) return false;
    const Handler handler = operations().find(parsed->front().name, width_);
    if (handler == nullptr) return false;
    handler(wave_, parsed->front().instruction);
    return true;
  }

  static const OperationTable& operations() {
    static const OperationTable table;
    return table;
  }

 private:
  u32 width_;
  std::vector<u32> registers_;
  std::vector<u8> lds_ = std::vector<u8>(1024);
  LaunchPlan plan_;
  Workgroup workgroup_;
  Wave wave_;
};

}  // namespace kiln::emulator
