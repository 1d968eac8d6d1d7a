// A loaded code object: its memory with relocations applied, its decoded instructions and its
// kernels.
//
// Immutable once loaded, except for the variables of the code object. May be shared between
// threads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/device_model.hpp"
#include "emulator/instruction.hpp"
#include "emulator/operation.hpp"
#include "emulator/wave.hpp"
#include "formats/hsaco.hpp"

namespace kiln::emulator {

struct KernelArgument {
  u32 offset = 0;
  u32 size = 0;
  std::string kind;  // as in the metadata: "by_value", "global_buffer", "hidden_..."

  bool is_hidden() const { return kind.starts_with("hidden_"); }
  bool is_pointer() const { return kind == "global_buffer"; }
};

struct Kernel {
  std::string name;
  KernelDescriptor descriptor;
  u64 entry = 0;  // address of the first instruction
  u32 vector_registers = 0;
  u32 max_threads = 1024;  // in a block
  std::vector<KernelArgument> arguments;  // sorted by offset

  u32 scratch_bytes() const;  // per lane
};

// An instruction that has no row in the emulator.
struct MissingInstruction {
  std::string name;
  std::vector<std::string> functions;  // functions that contain it, sorted
};

class Program {
 public:
  // Reads, loads and decodes a code object. The error says what is wrong with the file. A missing
  // instruction is an error only when it is run.
  static Result<std::unique_ptr<Program>> load(Bytes file, const OperationTable& operations);

  const std::string& processor() const { return processor_; }
  const DeviceModel& model() const { return *model_; }
  const TargetId& target() const { return target_; }
  u32 wave_width() const { return wave_width_; }

  const std::vector<Kernel>& kernels() const { return kernels_; }  // sorted by name
  const Kernel* find_kernel(std::string_view name) const;

  const std::vector<Instruction>& instructions() const { return instructions_; }
  std::optional<u32> index_of(u64 address) const;
  // Number of vector registers that the instructions name, including accumulators.
  u32 vector_registers() const { return vector_registers_; }
  bool has_accumulators() const { return model_->is_gfx9 && vector_registers_ > kFirstAccumulator; }

  const std::vector<MissingInstruction>& missing() const { return missing_; }
  // Names of the missing instructions in the kernel's own code.
  std::vector<std::string> missing_in(std::string_view kernel) const;

  const std::vector<AddressRange>& segments() const { return segments_; }
  struct Variable {
    void* address = nullptr;
    std::size_t bytes = 0;
  };
  Variable find_variable(std::string_view name) const;

  // For reports: the address in the file, and the text of the instruction at an address.
  u64 file_address(u64 address) const { return address - base_; }
  std::string text_at(u64 address) const;
  Bytes file() const { return file_; }

 private:
  Program() = default;
  Result<void> map_segments(const Hsaco& hsaco);
  Result<void> relocate(const Hsaco& hsaco);
  Result<void> read_kernels(const Hsaco& hsaco);
  Result<void> decode(const Hsaco& hsaco, const OperationTable& operations);
  void append(const struct ParsedInstruction& parsed, u64 address,
              const OperationTable& operations);
  void connect_branches();
  void append_end(u64 address);
  void list_missing(const Hsaco& hsaco, const std::map<u64, std::string>& missing);

  std::vector<std::byte> bytes_;
  Bytes file_;
  std::string processor_;
  const DeviceModel* model_ = nullptr;
  TargetId target_;
  u32 wave_width_ = 32;

  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Unmap> memory_{nullptr, Unmap{0}};
  u64 base_ = 0;  // added to an address of the file
  u64 text_begin_ = 0;
  u64 text_end_ = 0;
  std::vector<AddressRange> segments_;
  std::vector<Kernel> kernels_;
  std::map<std::string, Variable, std::less<>> variables_;
  std::vector<Instruction> instructions_;
  std::vector<u32> index_by_word_;  // for each 4 bytes of the text; ~0: no instruction starts there
  std::vector<MissingInstruction> missing_;
  u32 vector_registers_ = 0;
};

}  // namespace kiln::emulator
