#include "formats/ptx.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/ptx_tokens.hpp"

namespace kiln {
namespace {

// True if a text that ends in this token, outside of all brackets, is truncated.
bool is_cut_after(const PtxToken& last) {
  return last.kind == PtxTokenKind::kUnfinished || last.kind == PtxTokenKind::kWord ||
         (last.kind == PtxTokenKind::kMark && last.text != ";" && last.text != "}");
}

constexpr std::size_t kShown = 64;  // characters of a name that messages show
// Limits the number of kernels: beyond the first few, each must have this many bytes of text.
// Otherwise a text with many tiny kernels would need many times its size in memory.
constexpr std::size_t kAnyKernels = 16384;
constexpr std::size_t kMinKernelSize = 64;

struct Type {
  std::uint32_t size = 0;  // bytes
  bool is_float = false;
};

std::optional<Type> find_type(std::string_view name) {
  static const std::unordered_map<std::string_view, Type> kTypes = {
      {".b8", {1, false}},        {".b16", {2, false}},    {".b32", {4, false}},
      {".b64", {8, false}},       {".b128", {16, false}},  {".u8", {1, false}},
      {".u16", {2, false}},       {".u32", {4, false}},    {".u64", {8, false}},
      {".s8", {1, false}},        {".s16", {2, false}},    {".s32", {4, false}},
      {".s64", {8, false}},       {".f16", {2, true}},     {".f16x2", {4, true}},
      {".bf16", {2, true}},       {".f32", {4, true}},     {".f64", {8, true}},
      {".bf16x2", {4, true}},     {".texref", {8, false}}, {".surfref", {8, false}},
      {".samplerref", {8, false}}};
  const auto found = kTypes.find(name);
  return found != kTypes.end() ? std::optional(found->second) : std::nullopt;
}

// A declared variable: a parameter, or shared memory.
struct Variable {
  std::string_view name;
  std::uint64_t size = 0;
  std::uint64_t alignment = 1;
  bool is_pointer = false;
  bool is_value = false;  // certainly not a pointer
};

class PtxReader {
 public:
  explicit PtxReader(std::string_view text)
      : tokenizer_(text), max_kernels_(kAnyKernels + text.size() / kMinKernelSize) {
    advance();
  }

  Result<Ptx> read() {
    KILN_TRY(read_head());
    PtxToken last;  // the last token outside of kernels and functions
    while (token_.kind != PtxTokenKind::kEnd) {
      if (token_.text == ".entry") {
        KILN_TRY(read_entry());
      } else if (token_.text == ".shared") {
        advance();
        KILN_TRY_ASSIGN(const Variable variable, read_variable());
        module_shared_[variable.name] = variable;
      } else if (token_.text == ".ptr") {
        skip_pointer_space();
      } else if (token_.text == "{") {
        KILN_TRY(read_body(nullptr));
      } else if (token_.kind == PtxTokenKind::kUnfinished) {
        return unexpected("the end of the string or comment");
      } else {
        last = token_;
        advance();
        continue;
      }
      last = {};
    }
    if (is_cut_after(last)) {
      return unexpected("the rest of " + quote(last.text.substr(0, kShown)));
    }
    std::ranges::sort(ptx_.kernels, {}, &KernelInfo::name);
    return std::move(ptx_);
  }

 private:
  void advance() { token_ = tokenizer_.next(); }
  bool accept(std::string_view text) {
    if (token_.text != text) return false;
    advance();
    return true;
  }

  // ".ptr .shared" in a function's parameters does not declare shared memory.
  void skip_pointer_space() {
    advance();
    accept(".shared");
  }

  Error error_at(const std::string& what) const {
    Error error = malformed(what);
    error.where = tokenizer_.where();
    return error;
  }
  Error unexpected(std::string_view expected) const {
    const std::string found =
        token_.kind == PtxTokenKind::kEnd ? "the PTX ends" : "found " + quote(token_.text);
    return error_at(found + " where " + std::string(expected) + " should be");
  }

  Result<std::uint64_t> read_number() {
    if (token_.kind != PtxTokenKind::kNumber) return unexpected("a number");
    std::string_view digits = token_.text;
    if (digits.ends_with('U')) digits.remove_suffix(1);
    unsigned base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
      digits.remove_prefix(2);
    }
    std::uint64_t number = 0;
    for (const char c : digits) {
      const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                             : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                             : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                    : base;
      if (digit >= base || number > (std::numeric_limits<std::uint32_t>::max() - digit) / base) {
        return unexpected("a number of at most 32 bits");
      }
      number = number * base + digit;
    }
    if (digits.empty()) return unexpected("a number");
    advance();
    return number;
  }

  Result<std::uint64_t> read_alignment() {
    KILN_TRY_ASSIGN(const std::uint64_t alignment, read_number());
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > 65536) {
      return error_at("alignment " + std::to_string(alignment) +
                      " is not a power of two up to 65536");
    }
    return alignment;
  }

  // Reads .version, .target and .address_size, which come first and in this order.
  Result<void> read_head() {
    if (!accept(".version")) return unexpected("'.version'");
    const std::vector<std::string_view> parts = split(token_.text, '.');
    const auto is_small = [](std::string_view part) {
      return (part.size() == 1 || part.size() == 2) &&
             std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    };
    if (parts.size() != 2 || !is_small(parts[0]) || !is_small(parts[1]) || parts[1].size() != 1) {
      return unexpected("a version like '9.0'");
    }
    for (const std::string_view part : parts) {
      int number = 0;
      for (const char c : part) number = 10 * number + (c - '0');
      ptx_.isa = 10 * ptx_.isa + number;
    }
    advance();
    if (!accept(".target")) return unexpected("'.target'");
    constexpr std::string_view kPrefix = "sm_";
    std::string name = "compute_";
    if (token_.text.starts_with(kPrefix)) name += token_.text.substr(kPrefix.size());
    auto target = parse_target_id(name);
    if (!target) return unexpected("a target like 'sm_80'");
    ptx_.target = std::move(target).value();
    advance();
    while (accept(",")) advance();  // options: texmode_independent, debug
    if (!accept(".address_size")) return unexpected("'.address_size'");
    KILN_TRY_ASSIGN(const std::uint64_t address_size, read_number());
    if (address_size != 64) {
      return error_at("PTX with addresses of " + std::to_string(address_size) +
                      " bits: kiln reads 64 alone");
    }
    return {};
  }

  // Reads what follows .param or .shared, up to and including the variable's name and extent.
  Result<Variable> read_variable() {
    Variable variable;
    std::optional<Type> type;
    std::uint64_t alignment = 0;
    while (token_.kind == PtxTokenKind::kWord && token_.text.starts_with('.')) {
      if (accept(".align")) {
        KILN_TRY_ASSIGN(const std::uint64_t bytes, read_alignment());
        // After .ptr, it is the alignment of the pointer's target.
        if (!variable.is_pointer) alignment = bytes;
      } else if (accept(".ptr")) {
        variable.is_pointer = true;
      } else if (const auto found = find_type(token_.text)) {
        if (type) return unexpected("one type, and then a name");
        type = found;
        advance();
      } else if (token_.text == ".v2" || token_.text == ".v4") {
        return unexpected("a type that is no vector");
      } else {
        advance();  // a state space (.global after .ptr) or an attribute
      }
    }
    if (!type) return unexpected("a type");
    if (token_.kind != PtxTokenKind::kWord) return unexpected("a variable's name");
    variable.name = token_.text;
    variable.size = type->size;
    variable.alignment = std::max<std::uint64_t>(alignment, type->size);
    variable.is_value = type->is_float || (type->size != 8 && !variable.is_pointer);
    advance();
    while (accept("[")) {
      variable.is_value = true;
      std::uint64_t count = 0;
      if (token_.text != "]") {
        KILN_TRY_ASSIGN(count, read_number());
      }
      if (!accept("]")) return unexpected("']'");
      if (count != 0 && variable.size > std::numeric_limits<std::uint32_t>::max() / count) {
        return error_at("variable " + quote(variable.name) + " is too large");
      }
      variable.size *= count;
    }
    return variable;
  }

  Result<void> read_parameters(KernelInfo& kernel) {
    if (!accept("(")) return {};  // a kernel without parameters may omit the list
    std::uint64_t end = 0;
    while (token_.text != ")") {
      if (!accept(".param")) return unexpected("'.param' or ')'");
      KILN_TRY_ASSIGN(const Variable variable, read_variable());
      const std::uint64_t offset =
          (end + variable.alignment - 1) / variable.alignment * variable.alignment;
      end = offset + variable.size;
      if (end > std::numeric_limits<std::uint16_t>::max()) {
        return error_at("kernel " + quote(kernel.name) +
                        " has more than 65535 bytes of parameters");
      }
      Parameter parameter;
      parameter.offset = static_cast<std::uint16_t>(offset);
      parameter.size = static_cast<std::uint16_t>(variable.size);
      if (variable.is_pointer) {
        parameter.kind = ParameterKind::kPointer;
      } else if (variable.is_value) {
        parameter.kind = ParameterKind::kValue;
      }
      kernel.parameters.push_back(parameter);
      if (token_.text != ")" && !accept(",")) return unexpected("',' or ')'");
    }
    advance();
    return {};
  }

  // Reads .maxntid or .reqntid: one to three dimensions of a block.
  Result<void> read_block_limit(KernelInfo& kernel) {
    std::uint64_t threads = 1;
    do {
      KILN_TRY_ASSIGN(const std::uint64_t extent, read_number());
      if (extent == 0 || extent > 1024) {
        return error_at("a block of " + std::to_string(extent) + " threads");
      }
      threads *= extent;
      if (threads > 1024 * 1024) {
        return error_at("a block of " + std::to_string(threads) + " threads");
      }
    } while (accept(","));
    kernel.max_threads = static_cast<std::uint32_t>(threads);
    return {};
  }

  Result<void> read_entry() {
    advance();
    if (token_.kind != PtxTokenKind::kWord) return unexpected("a kernel's name");
    KernelInfo kernel;
    kernel.name = std::string(token_.text);
    kernel.wave_width = 32;
    advance();
    KILN_TRY(read_parameters(kernel));
    while (token_.text != "{") {
      if (accept(";")) return {};  // a declaration
      if (token_.kind == PtxTokenKind::kEnd || token_.kind == PtxTokenKind::kUnfinished) {
        return unexpected("the body of kernel " + quote(kernel.name));
      }
      if (token_.text == ".maxntid" || token_.text == ".reqntid") {
        advance();
        KILN_TRY(read_block_limit(kernel));
      } else {
        advance();
      }
    }
    KILN_TRY(read_body(&kernel));
    if (ptx_.kernels.size() >= max_kernels_) {
      return error_at("more than " + std::to_string(max_kernels_) +
                      " kernels in a text this short");
    }
    ptx_.kernels.push_back(std::move(kernel));
    return {};
  }

  // Reads from '{' to after its '}'. Adds up the static shared memory that the kernel declares and
  // the module's shared variables that it names.
  Result<void> read_body(KernelInfo* kernel) {
    std::uint64_t shared = 0;
    const auto allocate = [&shared](const Variable& variable) {
      shared = (shared + variable.alignment - 1) / variable.alignment * variable.alignment +
               variable.size;
    };
    std::unordered_set<std::string_view> named;
    bool calls = false;
    int depth = 0;
    do {
      if (token_.kind == PtxTokenKind::kEnd || token_.kind == PtxTokenKind::kUnfinished) {
        return kernel != nullptr ? unexpected("the end of kernel " + quote(kernel->name))
                                 : unexpected("the end of a function");
      }
      if (token_.kind == PtxTokenKind::kMark) {
        if (token_.text == "{") ++depth;
        if (token_.text == "}") --depth;
      } else if (token_.text == ".shared") {
        advance();
        KILN_TRY_ASSIGN(const Variable variable, read_variable());
        allocate(variable);
        continue;
      } else if (token_.text == ".ptr") {
        skip_pointer_space();
        continue;
      } else if (token_.kind == PtxTokenKind::kWord && !module_shared_.empty()) {
        calls = calls || token_.text.starts_with("call");
        const auto variable = module_shared_.find(token_.text);
        if (variable != module_shared_.end() && named.insert(token_.text).second) {
          allocate(variable->second);
        }
      }
      advance();
    } while (depth != 0);
    // Called functions are not followed, so with calls the sum is unknown.
    if (kernel != nullptr && !calls && shared <= std::numeric_limits<std::uint32_t>::max()) {
      kernel->shared_bytes = static_cast<std::uint32_t>(shared);
    }
    return {};
  }

  PtxTokenizer tokenizer_;
  std::size_t max_kernels_;
  PtxToken token_;
  Ptx ptx_;
  std::unordered_map<std::string_view, Variable> module_shared_;
};

}  // namespace

Result<Ptx> read_ptx(std::string_view text) { return PtxReader(text).read(); }

Result<void> check_ptx_end(std::string_view text) {
  PtxTokenizer tokenizer(text);
  PtxToken last, last_mark;  // last_mark is no comma
  std::size_t depth = 0;     // open brackets
  for (PtxToken token = tokenizer.next(); token.kind != PtxTokenKind::kEnd;
       token = tokenizer.next()) {
    last = token;
    if (token.kind != PtxTokenKind::kMark || token.text == ",") continue;
    last_mark = token;
    const char mark = token.text.front();
    if (mark == '{' || mark == '(' || mark == '[') ++depth;
    if ((mark == '}' || mark == ')' || mark == ']') && depth != 0) --depth;
  }
  // A kernel's limits, such as ".maxntid 128", come between the ')' and the '{'.
  if (depth == 0 && !is_cut_after(last) && !is_cut_after(last_mark)) return {};
  return malformed("the PTX is cut short: it ends within a kernel, a directive or a comment");
}

bool is_ptx(std::string_view text) { return PtxTokenizer(text).next().text == ".version"; }

}  // namespace kiln
