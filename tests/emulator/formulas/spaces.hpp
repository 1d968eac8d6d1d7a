// Memory as the instructions of each kind access it: global buffers, LDS and scratch.
#pragma once

#include <string>
#include <vector>

#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {

enum class Space : u8 { kGlobal, kLds, kScratch };

// All memory of a bench, for inspection and comparison.
class Image {
 public:
  static constexpr u32 kGlobalBytes = 4096;

  // `buffer` is the bench's buffer, of kGlobalBytes.
  Image(emulator::Bench& bench, const u8* buffer);
  u8& at(Space space, u32 lane, u32 address);
  u64 read(Space space, u32 lane, u32 address, u32 bytes);
  void write(Space space, u32 lane, u32 address, u32 bytes, u64 value);
  bool operator==(const Image&) const = default;

 private:
  u32 width_;
  std::vector<u8> global_;
  std::vector<u8> lds_;
  std::vector<u8> scratch_;
};

// An addressing mode. `address` is an offset from the start of the space.
struct Form {
  std::string prefix;  // "global"
  Space space;
  std::string vector;     // the operand that differs by lane
  std::string scalar;     // the text after the data
  std::string modifiers;  // with the offset that the instruction adds
  // Sets the operands so that the lane accesses `address` of the space; `begin` is the start of the
  // buffer.
  void (*set)(emulator::Bench& bench, u32 lane, u64 begin, u32 address);
};
// Returns the addressing modes of instructions that begin with `prefix` ("global", "flat",
// "scratch", "buffer", "ds").
std::vector<Form> forms_of(const std::string& prefix);

// Return "global_load_b32 v[10:11], v[0:1], off offset:-16", with the operands in the order of the
// prefix.
std::string load_text(const Form& form, const std::string& name, const std::string& destination);
std::string store_text(const Form& form, const std::string& name, const std::string& data);

// Returns "v7" or "v[7:9]".
std::string registers(u32 first, u32 count);

// Fills all memory with varied bytes, the same in each run.
void fill_memory(emulator::Bench& bench, u8* buffer);

}  // namespace kiln::formulas
