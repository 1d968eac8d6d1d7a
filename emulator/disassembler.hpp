// LLVM's disassembler, behind one wrapper of ours.
#pragma once

#include <memory>
#include <string>

#include "formats/byte_reader.hpp"
#include "kiln/result.hpp"

namespace kiln::emulator {

class Disassembler {
 public:
  // For a processor ("gfx1100") and waves of that many lanes. The error says which LLVM is lacking.
  static Result<Disassembler> create(const std::string& processor, std::uint32_t wave_width);

  struct Decoded {
    std::size_t size = 0;  // bytes; 0: no instruction
    std::string text;      // without leading blanks
  };
  // The instruction at the start of `code`. Not to be called from several threads at once.
  Decoded decode(Bytes code, std::uint64_t address) const;

 private:
  explicit Disassembler(void* context) : context_(context, &dispose) {}
  static void dispose(void* context);

  std::unique_ptr<void, void (*)(void*)> context_;
};

}  // namespace kiln::emulator
