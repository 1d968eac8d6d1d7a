#include "emulator/program.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "emulator/disassembler.hpp"
#include "emulator/fault.hpp"
#include "emulator/parse_instruction.hpp"

namespace kiln::emulator {
namespace {

constexpr u32 kNoInstruction = ~0u;
constexpr std::size_t kPage = 4096;
constexpr u32 kSegmentWritable = 2;
constexpr u16 kUsesWave32 = 1 << 10;  // in KernelDescriptor::properties
constexpr u16 kUsesDynamicStack = 1 << 11;
constexpr u32 kDynamicStackBytes = 16384;

constexpr u32 kRelocationAbsolute32 = 6;
constexpr u32 kRelocationAbsolute64 = 3;
constexpr u32 kRelocationRelative64 = 13;

void run_missing(Wave& wave, const Instruction& in) {
  raise(wave, in, FaultKind::kUnsupported, "the emulator lacks this instruction");
}
void run_past_end(Wave& wave, const Instruction& in) {
  raise(wave, in, FaultKind::kBadCode, "the end of the code was reached");
}

Error unsupported(std::string feature) {
  return Error{ErrorCode::kInvalidInput, "cannot emulate " + std::move(feature), {}, {}, {}};
}

// Returns the highest vector register that the instruction names, plus one.
u32 registers_named(const Instruction& in) {
  u32 end = 0;
  for (std::size_t i = 0; i < in.operand_count; ++i) {
    const Operand& operand = in.operands[i];
    if (operand.is_vector()) end = std::max(end, u32{operand.reg} + operand.registers);
  }
  return end;
}

// The functions of the code, by their addresses in the file.
class Functions {
 public:
  explicit Functions(const Elf& elf) {
    constexpr u8 kSymbolFunction = 2;
    for (const auto* symbols : {&elf.symbols, &elf.dynamic_symbols}) {
      for (const ElfSymbol& symbol : *symbols) {
        if (symbol.type == kSymbolFunction) by_start_[symbol.value] = &symbol;
      }
    }
  }
  bool holds(u64 address) const {
    const ElfSymbol* symbol = before(address);
    return symbol != nullptr && (symbol->size == 0 || address - symbol->value < symbol->size);
  }
  std::string name_at(u64 address) const {
    const ElfSymbol* symbol = before(address);
    return symbol != nullptr ? std::string(symbol->name) : "?";
  }

 private:
  const ElfSymbol* before(u64 address) const {
    const auto after = by_start_.upper_bound(address);
    return after == by_start_.begin() ? nullptr : std::prev(after)->second;
  }

  std::map<u64, const ElfSymbol*> by_start_;
};

}  // namespace

u32 Kernel::scratch_bytes() const {
  const u32 fixed = (descriptor.private_segment_size + 15) & ~15u;
  return (descriptor.properties & kUsesDynamicStack) != 0 ? fixed + kDynamicStackBytes : fixed;
}

void Program::Unmap::operator()(std::byte* memory) const { munmap(memory, bytes); }

Result<std::unique_ptr<Program>> Program::load(Bytes file, const OperationTable& operations) {
  std::unique_ptr<Program> program(new Program);
  program->bytes_.assign(file.begin(), file.end());
  program->file_ = program->bytes_;
  KILN_TRY_ASSIGN(const Hsaco hsaco, read_hsaco(program->file_));
  program->target_ = hsaco.target;
  program->processor_ = hsaco.target.processor;
  program->model_ = find_device_model(program->processor_);
  if (program->model_ == nullptr) {
    std::vector<std::string> known;
    for (const DeviceModel& model : device_models()) known.emplace_back(model.processor);
    return unsupported("code for " + program->processor_).hint("known are " + join(known, ", "));
  }
  KILN_TRY(program->map_segments(hsaco));
  KILN_TRY(program->relocate(hsaco));
  KILN_TRY(program->read_kernels(hsaco));
  KILN_TRY(program->decode(hsaco, operations));
  return program;
}

Result<void> Program::map_segments(const Hsaco& hsaco) {
  u64 end = 0;
  for (const ElfSegment& segment : hsaco.elf.segments) {
    if (segment.type != kElfSegmentLoad) continue;
    end = std::max(end, segment.address + segment.memory_size);
  }
  constexpr u64 kMaxBytes = u64{1} << 32;
  if (end == 0 || end > kMaxBytes)
    return unsupported("a code object of " + std::to_string(end) + " bytes");
  const std::size_t bytes = (static_cast<std::size_t>(end) + kPage - 1) / kPage * kPage;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{ErrorCode::kEnvironment,
                 "no memory for a code object of " + std::to_string(bytes) + " bytes",
                 {},
                 {},
                 {}};
  }
  memory_ = std::unique_ptr<std::byte, Unmap>(static_cast<std::byte*>(memory), Unmap{bytes});
  base_ = reinterpret_cast<u64>(memory);
  for (const ElfSegment& segment : hsaco.elf.segments) {
    if (segment.type != kElfSegmentLoad) continue;
    std::memcpy(memory_.get() + segment.address, segment.bytes.data(), segment.bytes.size());
    const u64 begin = base_ + segment.address;
    // Constants may be read by whole dwords.
    segments_.push_back({begin, begin + (segment.memory_size + 3) / 4 * 4,
                         (segment.flags & kSegmentWritable) != 0});
  }
  constexpr u8 kSymbolObject = 1;
  for (const ElfSymbol& symbol : hsaco.elf.dynamic_symbols) {
    if (symbol.type != kSymbolObject || symbol.section == 0 || symbol.name.ends_with(".kd"))
      continue;
    if (symbol.value > bytes || symbol.size > bytes - symbol.value) continue;
    variables_[std::string(symbol.name)] = {memory_.get() + symbol.value,
                                            static_cast<std::size_t>(symbol.size)};
  }
  return {};
}

Result<void> Program::relocate(const Hsaco& hsaco) {
  for (const ElfRelocation& relocation : hsaco.relocations) {
    u64 value = base_ + static_cast<u64>(relocation.addend);
    if (relocation.type == kRelocationAbsolute32 || relocation.type == kRelocationAbsolute64) {
      if (relocation.symbol >= hsaco.elf.dynamic_symbols.size()) {
        return unsupported("a relocation against symbol " + std::to_string(relocation.symbol) +
                           ", which is not there");
      }
      value += hsaco.elf.dynamic_symbols[relocation.symbol].value;
    } else if (relocation.type != kRelocationRelative64) {
      return unsupported("a relocation of type " + std::to_string(relocation.type));
    }
    const std::size_t size = relocation.type == kRelocationAbsolute32 ? 4 : 8;
    if (relocation.offset > memory_.get_deleter().bytes - size) {
      return unsupported("a relocation at " + hex(relocation.offset) + ", outside the code object");
    }
    std::memcpy(memory_.get() + relocation.offset, &value, size);
  }
  return {};
}

Result<void> Program::read_kernels(const Hsaco& hsaco) {
  for (const HsacoKernel& source : hsaco.kernels) {
    const u32 width = source.info.wave_width.value_or(
        (source.descriptor.properties & kUsesWave32) != 0 ? 32 : 64);
    if (!kernels_.empty() && width != wave_width_) {
      return unsupported("kernels of both wave widths in one code object");
    }
    wave_width_ = width;
    constexpr u32 kRoundingBits = 15;
    if ((source.descriptor.rsrc1 >> 12 & kRoundingBits) != 0) {
      return unsupported("kernel " + quote(source.info.name) +
                         ", which rounds otherwise than to nearest even");
    }
    if (source.descriptor.kernarg_preload != 0) {
      return unsupported("kernel " + quote(source.info.name) +
                         ", whose arguments are preloaded into registers");
    }
    Kernel& kernel = kernels_.emplace_back();
    kernel.name = source.info.name;
    kernel.descriptor = source.descriptor;
    kernel.entry =
        base_ + source.descriptor_address + static_cast<u64>(source.descriptor.code_offset);
    kernel.vector_registers = source.info.registers.value_or(0);
    kernel.max_threads = source.info.max_threads.value_or(kernel.max_threads);
    for (const HsacoArgument& argument : source.arguments) {
      kernel.arguments.push_back(
          {argument.offset, argument.size, std::string(argument.value_kind)});
    }
    std::ranges::stable_sort(kernel.arguments, {}, &KernelArgument::offset);
  }
  return {};
}

void Program::append(const ParsedInstruction& parsed, u64 address,
                     const OperationTable& operations) {
  Instruction in = parsed.instruction;
  in.address = address;
  in.index = static_cast<u32>(instructions_.size());
  in.next = in.index + 1;
  in.run = operations.find(parsed.name, wave_width_);
  if (in.run == nullptr) in.run = run_missing;
  vector_registers_ = std::max(vector_registers_, registers_named(in));
  instructions_.push_back(in);
}

Result<void> Program::decode(const Hsaco& hsaco, const OperationTable& operations) {
  const ElfSection* text = hsaco.elf.find_section(".text");
  if (text == nullptr || text->bytes.empty()) return {};
  KILN_TRY_ASSIGN(const Disassembler disassembler, Disassembler::create(processor_, wave_width_));
  const std::size_t mapped = memory_.get_deleter().bytes;
  if (text->address > mapped || text->bytes.size() > mapped - text->address) {
    return unsupported("a code object whose code, at " + hex(text->address) +
                       ", is outside of its segments");
  }
  const Functions functions(hsaco.elf);
  text_begin_ = base_ + text->address;
  text_end_ = text_begin_ + text->bytes.size();
  index_by_word_.assign(text->bytes.size() / 4 + 1, kNoInstruction);
  constexpr u16 kSpareRegister =
      kFirstAccumulator;  // processors with dual instructions have no accumulators
  std::map<u64, std::string> missing;
  for (std::size_t offset = 0; offset + 4 <= text->bytes.size();) {
    const Bytes code = text->bytes.subspan(offset);
    const u64 address = text_begin_ + offset;
    // The gaps between functions are zeros, which some processors would decode as an instruction.
    if (load_le<u32>(code.data()) == 0 && !functions.holds(address - base_)) {
      if (instructions_.empty() || instructions_.back().run != run_past_end) append_end(address);
      offset += 4;
      continue;
    }
    const Disassembler::Decoded decoded = disassembler.decode(code, address);
    index_by_word_[offset / 4] = static_cast<u32>(instructions_.size());
    std::array<u32, 2> words{};
    std::memcpy(words.data(), code.data(),
                std::min(sizeof words, std::max<std::size_t>(decoded.size, 4)));
    Result<std::vector<ParsedInstruction>> parsed =
        decoded.size == 0 ? Error{ErrorCode::kInvalidInput, "no instruction", {}, {}, {}}
                          : parse_instruction(decoded.text, words, kSpareRegister);
    if (!parsed) {
      ParsedInstruction unknown;
      unknown.instruction.words = words;
      append(unknown, address, operations);
      missing[address] =
          decoded.size == 0 ? hex(words[0]) : decoded.text.substr(0, decoded.text.find(' '));
    } else {
      for (const ParsedInstruction& instruction : *parsed) {
        append(instruction, address, operations);
        if (instructions_.back().run == run_missing) missing[address] = instruction.name;
      }
    }
    offset += std::max<std::size_t>(decoded.size, 4);
  }
  append_end(text_end_);
  connect_branches();
  for (const Kernel& kernel : kernels_) {
    if (!index_of(kernel.entry))
      return unsupported("kernel " + quote(kernel.name) + ", whose entry is no instruction");
  }
  list_missing(hsaco, missing);
  return {};
}

void Program::append_end(u64 address) {
  Instruction end;
  end.run = run_past_end;
  end.address = address;
  end.index = end.next = static_cast<u32>(instructions_.size());
  instructions_.push_back(end);
}

// The offset of a branch counts words from the next instruction. A branch to an address without an
// instruction goes to the end of the code.
void Program::connect_branches() {
  const u32 end = static_cast<u32>(instructions_.size() - 1);
  for (Instruction& in : instructions_) {
    if (in.kind != InstructionClass::kBranch) continue;
    const u64 target = in.address + 4 + 4 * static_cast<u64>(i64{static_cast<i16>(in.immediate)});
    in.target = index_of(target).value_or(end);
  }
}

void Program::list_missing(const Hsaco& hsaco, const std::map<u64, std::string>& missing) {
  const Functions functions(hsaco.elf);
  std::map<std::string, std::set<std::string>> users;
  for (const auto& [address, name] : missing) {
    users[name].insert(functions.name_at(address - base_));
  }
  for (const auto& [name, kernels] : users)
    missing_.push_back({name, {kernels.begin(), kernels.end()}});
}

std::optional<u32> Program::index_of(u64 address) const {
  if (address < text_begin_ || address >= text_end_ || address % 4 != 0) return std::nullopt;
  const u32 index = index_by_word_[(address - text_begin_) / 4];
  if (index == kNoInstruction) return std::nullopt;
  return index;
}

const Kernel* Program::find_kernel(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      kernels_, name, {}, [](const Kernel& kernel) { return std::string_view(kernel.name); });
  return found != kernels_.end() && found->name == name ? &*found : nullptr;
}

std::vector<std::string> Program::missing_in(std::string_view kernel) const {
  std::vector<std::string> names;
  for (const MissingInstruction& instruction : missing_) {
    if (std::ranges::find(instruction.functions, kernel) != instruction.functions.end())
      names.push_back(instruction.name);
  }
  return names;
}

Program::Variable Program::find_variable(std::string_view name) const {
  const auto found = variables_.find(name);
  return found != variables_.end() ? found->second : Variable{};
}

std::string Program::text_at(u64 address) const {
  if (!index_of(address)) return {};
  const auto disassembler = Disassembler::create(processor_, wave_width_);
  if (!disassembler) return {};
  const auto* code = reinterpret_cast<const std::byte*>(address);
  std::string text = disassembler->decode(Bytes(code, text_end_ - address), address).text;
  std::ranges::replace(text, '\t', ' ');
  return text;
}

}  // namespace kiln::emulator
