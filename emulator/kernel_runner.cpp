#include "emulator/kernel_runner.hpp"

#include <algorithm>
#include <cstring>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln::emulator {
namespace {

Error invalid(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message), {}, {}, {}};
}

class Runner final : public KernelRunner {
 public:
  Result<void> load(Bytes code_object) override {
    KILN_TRY_ASSIGN(program_, Program::load(code_object, operations_));
    return {};
  }
  std::string processor() const override { return program_->processor(); }
  u32 wave_width() const override { return program_->wave_width(); }
  std::vector<Kernel> kernels() const override { return program_->kernels(); }
  std::vector<MissingInstruction> missing() const override { return program_->missing(); }

  Result<Counts> run(KernelRun& run) override {
    KILN_TRY_ASSIGN(const Kernel* kernel, find(run.kernel));
    KILN_TRY(check_arguments(*kernel, run.arguments));
    MemoryMap memory(run.options.checks == Checks::kEverything ? Tracking::kInitialisation
                                                               : Tracking::kNo);
    std::vector<void*> buffers(run.arguments.size());
    std::vector<const void*> arguments(run.arguments.size());
    for (std::size_t i = 0; i < run.arguments.size(); ++i) {
      const RunArgument& argument = run.arguments[i];
      arguments[i] = argument.bytes.data();
      if (argument.passing == Passing::kByValue) continue;
      arguments[i] = &buffers[i];
      if (argument.bytes.empty()) continue;  // a null pointer, like an empty buffer of the runtime
      KILN_TRY_ASSIGN(buffers[i], memory.allocate(argument.bytes.size()));
      if (!argument.is_written) continue;
      std::memcpy(buffers[i], argument.bytes.data(), argument.bytes.size());
      memory.mark_written(reinterpret_cast<u64>(buffers[i]), argument.bytes.size());
    }
    LaunchRequest request;
    request.program = program_.get();
    request.kernel = kernel;
    request.memory = &memory;
    request.grid = run.grid;
    request.block = run.block;
    request.dynamic_lds = run.dynamic_lds;
    request.arguments = arguments.data();
    KILN_TRY_ASSIGN(const Counts counts, launch(request, run.options));
    for (std::size_t i = 0; i < run.arguments.size(); ++i) {
      RunArgument& argument = run.arguments[i];
      if (buffers[i] != nullptr) {
        std::memcpy(argument.bytes.data(), buffers[i], argument.bytes.size());
      }
    }
    return counts;
  }

 private:
  Result<const Kernel*> find(const std::string& name) const {
    if (const Kernel* kernel = program_->find_kernel(name)) return kernel;
    std::vector<std::string> names;
    for (const Kernel& kernel : program_->kernels()) names.push_back(readable_name(kernel.name));
    Error error = invalid("the code object has no kernel " + quote(name));
    const std::string near = nearest(name, names);
    if (!near.empty()) return error.hint("did you mean " + quote(near) + "?");
    if (names.empty()) return error.hint("it has none");
    constexpr std::size_t kMaxNames = 8;
    const std::size_t omitted = names.size() - std::min(names.size(), kMaxNames);
    names.resize(names.size() - omitted);
    for (std::string& listed : names) listed = quote(listed);
    error.hint("it has " + join(names, ", ") +
               (omitted == 0 ? ""
                             : ", and " + std::to_string(omitted) +
                                   " more: without a kernel's name, kiln run lists them"));
    return error;
  }

  static Result<void> check_arguments(const Kernel& kernel,
                                      const std::vector<RunArgument>& arguments) {
    std::vector<const KernelArgument*> parameters;
    for (const KernelArgument& argument : kernel.arguments) {
      if (!argument.is_hidden()) parameters.push_back(&argument);
    }
    if (parameters.size() != arguments.size()) {
      std::string takes = "it takes:";
      for (const KernelArgument* argument : parameters) {
        takes += argument->is_pointer() ? " pointer" : " " + std::to_string(argument->size) + " bytes";
      }
      return invalid("kernel " + quote(kernel.name) + " has " + std::to_string(parameters.size()) +
                     " parameters, not " + std::to_string(arguments.size()))
          .note(takes);
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool is_buffer = arguments[i].passing == Passing::kAsBuffer;
      const std::size_t size = is_buffer ? sizeof(void*) : arguments[i].bytes.size();
      if (size != parameters[i]->size || (is_buffer && !parameters[i]->is_pointer())) {
        return invalid("argument " + std::to_string(i + 1) + " of kernel " + quote(kernel.name) +
                       " has " + std::to_string(parameters[i]->size) + " bytes" +
                       (parameters[i]->is_pointer() ? " (a pointer)" : "") + "; given were " +
                       std::to_string(size) + (is_buffer ? " (a buffer)" : ""));
      }
    }
    return {};
  }

  const OperationTable operations_;
  std::unique_ptr<Program> program_;
};

}  // namespace

std::unique_ptr<KernelRunner> make_kernel_runner() { return std::make_unique<Runner>(); }

}  // namespace kiln::emulator
