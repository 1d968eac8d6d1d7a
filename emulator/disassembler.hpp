// A wrapper of LLVM's disassembler.
#pragma once

#include <memory>
#include <string>

#include "formats/byte_reader.hpp"
#include "kiln/result.hpp"

namespace kiln::emulator {

class Disassembler {
 public:
  // Creates a disassembler for a processor ("gfx1100") and a wave width. Errors: kUnavailable, if
  // this LLVM does not know the processor.
  static Result<Disassembler> create(const std::string& processor, std::uint32_t wave_width);

  struct Decoded {
    std::size_t size = 0;  // in bytes; 0: not an instruction
    std::string text;      // without leading white space
  };
  // Decodes the instruction at the start of `code`. Not thread-safe.
  Decoded decode(Bytes code, std::uint64_t address) const;

 private:
  explicit Disassembler(void* context) : context_(context, &dispose) {}
  static void dispose(void* context);

  std::unique_ptr<void, void (*)(void*)> context_;
};

}  // namespace kiln::emulator
