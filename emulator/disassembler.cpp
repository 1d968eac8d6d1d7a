#include "emulator/disassembler.hpp"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <array>
#include <mutex>

namespace kiln::emulator {
namespace {

constexpr char kTriple[] = "amdgcn-amd-amdhsa";

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
}

}  // namespace

Result<Disassembler> Disassembler::create(const std::string& processor, std::uint32_t wave_width) {
  initialise_llvm();
  // gfx9 has only waves of 64 lanes, and no such feature.
  std::string features;
  if (!processor.starts_with("gfx9")) {
    features = wave_width == 64 ? "+wavefrontsize64,-wavefrontsize32"
                                : "+wavefrontsize32,-wavefrontsize64";
  }
  void* context = LLVMCreateDisasmCPUFeatures(kTriple, processor.c_str(), features.c_str(), nullptr,
                                              0, nullptr, nullptr);
  if (context == nullptr) {
    return Error{
        ErrorCode::kUnavailable, "this LLVM has no disassembler for " + processor, {}, {}, {}};
  }
  return Disassembler(context);
}

Disassembler::Decoded Disassembler::decode(Bytes code, std::uint64_t address) const {
  std::array<char, 512> text{};
  // LLVM takes a pointer to writable bytes, but does not write to them.
  auto* bytes = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(code.data()));
  Decoded decoded;
  decoded.size =
      LLVMDisasmInstruction(context_.get(), bytes, code.size(), address, text.data(), text.size());
  if (decoded.size == 0) return decoded;
  decoded.text = text.data();
  decoded.text.erase(0, decoded.text.find_first_not_of(" \t"));
  return decoded;
}

void Disassembler::dispose(void* context) { LLVMDisasmDispose(context); }

}  // namespace kiln::emulator
