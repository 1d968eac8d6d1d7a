#include "tools/commands/run.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "emulator/kernel_runner.hpp"
#include "formats/image.hpp"
#include "tools/commands/table.hpp"
#include "tools/stages/parse_kernel_argument.hpp"
#include "tools/stages/recognize.hpp"
#include "tools/system/plugin.hpp"

namespace kiln::tools {
namespace {

using emulator::Counts;
using emulator::KernelRunner;

using RunnerHandle = std::unique_ptr<KernelRunner, void (*)(KernelRunner*)>;

Result<RunnerHandle> open_runner(const Environment& environment) {
  const std::string path = environment.get("KILN_EMULATOR_LIBRARY").value_or("libkiln_emulator.so");
  Result<void*> function = open_plugin(path, emulator::kOpenKernelRunnerEntry);
  if (!function) {
    return Error{ErrorCode::kUnavailable, "the emulator is not there", {}, {}, {}}
        .note(function.error().message)
        .hint("install llvm-19-dev and build kiln again, or set KILN_EMULATOR_LIBRARY");
  }
  emulator::KernelRunnerPlugin plugin;
  reinterpret_cast<emulator::OpenKernelRunnerEntry> (*function)(&plugin);
  if (plugin.runner == nullptr) return Error{ErrorCode::kUnavailable, plugin.error, {}, {}, {}};
  return RunnerHandle(plugin.runner, plugin.close);
}

Result<std::string> read_code_object(const std::filesystem::path& path, const World& world) {
  const std::filesystem::path absolute = world.environment.current_directory / path;
  constexpr const char* kExpected = "an AMD code object (.hsaco)";
  constexpr const char* kPlace = "'kiln build' writes them to images/<module>/ of the out folder";
  if (world.files.list(absolute)) return misplaced({"a folder", kPlace}, kExpected, path);
  if (!world.files.status(absolute)) {
    return Error{.code = ErrorCode::kInvalidInput,
                 .message = "there is no file " + quote(path.string())}
        .hint(kPlace);
  }
  KILN_TRY_ASSIGN(std::string bytes, world.files.read(absolute));
  if (detect_kind(std::as_bytes(std::span(bytes))) == FileKind::kHsaco) return bytes;
  Recognized recognized = recognize(bytes, path);
  if (recognized.what.empty()) recognized = {"an unknown file", kPlace};
  return misplaced(recognized, kExpected, path);
}

void list_kernels(const KernelRunner& runner, std::ostream& out) {
  out << runner.processor() << ", waves of " << runner.wave_width() << " lanes\n";
  for (const emulator::Kernel& kernel : runner.kernels()) {
    out << "  " << printable_line(with_demangled(kernel.name)) << ":";
    for (const emulator::KernelArgument& argument : kernel.arguments) {
      if (argument.is_hidden()) continue;
      out << (argument.is_pointer() ? " pointer" : " " + std::to_string(argument.size) + " bytes");
    }
    out << "\n";
  }
}

void list_missing(const KernelRunner& runner, std::ostream& out) {
  for (const emulator::MissingInstruction& missing : runner.missing()) {
    out << "the emulator lacks " << missing.name << ", in "
        << printable_line(join(missing.functions, ", ")) << "\n";
  }
}

// Returns the kernel with this name, or the one that users would call so: "saxpy<float>". Returns
// any other name unchanged; the runner then lists the kernels.
Result<std::string> find_kernel(const std::string& name, const KernelRunner& runner) {
  std::vector<std::string> found;
  for (const auto& kernel : runner.kernels()) {
    if (kernel.name == name) return name;
    if (matches_readable_name(kernel.name, name)) found.push_back(kernel.name);
  }
  if (found.size() < 2) return found.empty() ? name : found.front();
  Error error{ErrorCode::kInvalidInput, "several kernels are called " + quote(name)};
  for (const std::string& one : found) error.note(quote(one));
  return error.hint("name the one that is meant by its mangled name");
}

Result<void> read_input(KernelArgumentText& argument, const Files& files) {
  if (argument.input.empty()) return {};
  KILN_TRY_ASSIGN(std::string bytes, files.read(argument.input));
  if (argument.count && *argument.count < bytes.size() / size_of(argument.type)) {
    bytes.resize(*argument.count * size_of(argument.type));
  }
  const auto span = std::as_bytes(std::span(bytes));
  argument.bytes.assign(span.begin(), span.end());
  return {};
}

// A result file has no mark of its own. An existing file counts as an earlier result if it is empty
// or has the size of the new one.
Result<void> check_output(const KernelArgumentText& argument, const Files& files) {
  if (argument.output.empty() || argument.output == "-") return {};
  const auto existing = [&]() -> std::string {
    if (files.kind(argument.output) == PathKind::kFolder) return "a folder";
    const std::uint64_t size = files.status(argument.output).value_or(FileStatus{}).size;
    if (files.kind(argument.output) != PathKind::kFile || size == 0 ||
        size == argument.bytes.size()) {
      return "";
    }
    return "a file of " + counted(size, "byte");
  }();
  if (existing.empty()) return {};
  return Error{ErrorCode::kInvalidInput, quote(argument.output) + " is " + existing +
                                             ", and the result has " +
                                             counted(argument.bytes.size(), "byte")}
      .note("nothing was run, and it was not touched")
      .hint("remove it, or choose another name");
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f%%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

void print_counts(const Counts& counts, std::ostream& out) {
  constexpr const char* kNames[emulator::kInstructionClasses] = {
      "vector float", "vector integer", "matrix", "scalar", "scalar load", "load",
      "store",        "atomic",         "LDS",    "branch", "barrier",     "wait"};
  out << "wave instructions: " << counts.instructions << "\n";
  for (std::size_t i = 0; i < counts.by_class.size(); ++i) {
    if (counts.by_class[i] == 0) continue;
    out << "  " << kNames[i] << ": " << counts.by_class[i] << " ("
        << percent(counts.by_class[i], counts.instructions) << ")\n";
  }
  if (counts.lanes != 0)
    out << "active lanes: " << percent(counts.active_lanes, counts.lanes) << "\n";
  const double rate = counts.seconds > 0 ? static_cast<double>(counts.instructions) /
                                               counts.seconds / counts.threads / 1e6
                                         : 0;
  char text[96];
  std::snprintf(text, sizeof text,
                "time: %.3f ms on %u %s, %.1f million wave instructions a second and thread\n",
                1e3 * counts.seconds, counts.threads, counts.threads == 1 ? "thread" : "threads",
                rate);
  out << text;
}

Result<emulator::KernelRun> describe_run(const RunOptions& options,
                                         const emulator::KernelRunner& runner) {
  emulator::KernelRun run;
  KILN_TRY_ASSIGN(run.kernel, find_kernel(options.kernel, runner));
  run.grid = options.grid;
  run.block = options.block.value_or(std::array<std::uint32_t, 3>{1, 1, 1});
  run.dynamic_lds = options.dynamic_lds;
  run.options.threads =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  run.options.seed = options.seed;
  run.options.checks = options.check ? emulator::Checks::kEverything : emulator::Checks::kAccesses;
  run.options.instruction_limit = options.instruction_limit.value_or(run.options.instruction_limit);
  run.options.count_classes = true;
  return run;
}

// Writes the buffers that have an output.
Result<void> write_outputs(const emulator::KernelRun& run,
                           const std::vector<KernelArgumentText>& arguments, World& world) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<std::byte>& bytes = run.arguments[i].bytes;
    const std::string& output = arguments[i].output;
    if (output == "-") {
      world.out << elements_text(arguments[i].type, bytes) << "\n";
    } else if (!output.empty()) {
      KILN_TRY(
          world.files.write(output, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
  }
  return {};
}

}  // namespace

Result<int> run_run(const RunOptions& options, World& world) {
  KILN_TRY_ASSIGN(const std::string image, read_code_object(options.file, world));
  KILN_TRY_ASSIGN(const RunnerHandle runner, open_runner(world.environment));
  if (auto loaded = runner->load(std::as_bytes(std::span(image))); !loaded) {
    Error error = std::move(loaded).error();
    if (error.where.file.empty()) error.where.file = options.file.string();
    if (is_damaged(error)) error.hint(kMakeItAgain);
    return error;
  }
  list_missing(*runner, options.kernel.empty() ? world.out : world.err);
  if (options.kernel.empty()) {
    list_kernels(*runner, world.out);
    return 0;
  }

  KILN_TRY_ASSIGN(emulator::KernelRun run, describe_run(options, *runner));
  if (!options.block) {
    world.err << "kiln: note: blocks of one thread run, because no block size was given: --block X\n";
  }
  std::vector<KernelArgumentText> arguments;
  for (const std::string& text : options.arguments) {
    KILN_TRY_ASSIGN(KernelArgumentText argument, parse_kernel_argument(text));
    KILN_TRY(read_input(argument, world.files));
    KILN_TRY(check_output(argument, world.files));
    run.arguments.push_back(
        {argument.is_buffer ? emulator::Passing::kAsBuffer : emulator::Passing::kByValue,
         argument.bytes, argument.is_written});
    arguments.push_back(std::move(argument));
  }
  const Result<Counts> counts = runner->run(run);
  if (!counts) {
    Error error = counts.error();
    // the kernel's fault
    if (error.code == ErrorCode::kDriver) error.code = ErrorCode::kBuildFailed;
    return error;
  }

  KILN_TRY(write_outputs(run, arguments, world));
  print_counts(*counts, world.out);
  return 0;
}

}  // namespace kiln::tools
