// The program: turns arguments into a command and its result into an exit status. The only place
// that prints errors.
//
// Exit status: 0 done; 1 the build, or a check of what it made, failed; 2 the command line or the
// manifest is wrong; 3 this machine lacks or refuses something; 70 a bug of kiln; 128 + n ended by
// signal n.
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/cli/parse_command_line.hpp"
#include "tools/commands/error_json.hpp"
#include "tools/commands/world.hpp"
#include "tools/system/variables.hpp"

namespace {

using namespace kiln;
using namespace kiln::tools;

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
      return 2;
    case ErrorCode::kBuildFailed:
    case ErrorCode::kNotFound:
    case ErrorCode::kNoImage:
      return 1;
    case ErrorCode::kUnavailable:
    case ErrorCode::kEnvironment:
    case ErrorCode::kDriver:
      return 3;
    case ErrorCode::kInterrupted:
      return 128 + SIGINT;
    case ErrorCode::kInternal:
      break;
  }
  return 70;
}

struct RunCommand {
  World& world;

  Result<int> operator()(const Reply& reply) const {
    world.out << reply.text;
    return 0;
  }
  Result<int> operator()(const BuildOptions& options) const { return run_build(options, world); }
  Result<int> operator()(const PlanOptions& options) const { return run_plan(options, world); }
  Result<int> operator()(const DoctorOptions& options) const { return run_doctor(options, world); }
  Result<int> operator()(const InspectOptions& options) const {
    return run_inspect(options, world);
  }
  Result<int> operator()(const InitOptions& options) const { return run_init(options, world); }
  Result<int> operator()(const CacheOptions& options) const { return run_cache(options, world); }
  Result<int> operator()(const CompleteOptions& options) const { return run_complete(options, world); }
  Result<int> operator()(const RunOptions& options) const {
    // A kernel may run for ever, and an interrupt leaves nothing unfinished.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
      std::signal(signal, SIG_DFL);
    return run_run(options, world);
  }
  Result<int> operator()(const MergeOptions& options) const { return run_merge(options, world); }
  Result<int> operator()(const StripOptions& options) const { return run_strip(options, world); }
  Result<int> operator()(const VerifyOptions& options) const { return run_verify(options, world); }
  Result<int> operator()(const DiffOptions& options) const { return run_diff(options, world); }
  Result<int> operator()(const ReportOptions& options) const { return run_report(options, world); }
  Result<int> operator()(const LockOptions& options) const { return run_lock(options, world); }
  Result<int> operator()(const StepOptions& options) const {
    return run_step_command(options, world);
  }
  Result<int> operator()(const AssembleOptions& options) const {
    return run_assemble(options, world);
  }
};

// True if the command prints one JSON object as its result.
struct WantsJson {
  template <typename Options>
  bool operator()(const Options& options) const {
    if constexpr (std::is_same_v<Options, BuildOptions>) return false;  // prints its errors as events
    if constexpr (requires { options.json; }) return options.json;
    return false;
  }
};

// Runs such a command. If it fails without printing an object, prints one with the errors.
Result<int> run_for_json(const Invocation& invocation, const World& world) {
  std::ostringstream printed;
  World held{world.files, world.processes, world.environment, printed, world.err};
  held.out_color = world.out_color;
  held.err_color = world.err_color;
  held.interrupt = world.interrupt;
  Result<int> done = std::visit(RunCommand{held}, invocation);
  world.out << printed.str();
  if (!done && printed.str().empty()) {
    world.out << write_json(Json::Object{{"format", 1}, {"status", "failed"}, {"errors", errors_json(done.error())}});
  }
  return done;
}

// True for commands that do not warn. Ninja runs `kiln step` for each step of a plan, and `kiln
// plan` has already warned.
bool is_quiet(const Invocation& invocation) {
  return std::holds_alternative<Reply>(invocation) || std::holds_alternative<StepOptions>(invocation) ||
         std::holds_alternative<CompleteOptions>(invocation);
}

Result<int> run(const std::vector<std::string>& arguments, World& world) {
  KILN_TRY_ASSIGN(const Invocation invocation, parse_command_line(arguments));
  if (!is_quiet(invocation)) {
    for (const std::string& line : misspelt_variables(world.environment)) {
      world.err << "kiln: warning: " << printable_line(line) << "\n";
    }
  }
  const bool wants_json = std::visit(WantsJson(), invocation);
  KILN_TRY_ASSIGN(const int status, wants_json ? run_for_json(invocation, world)
                                               : std::visit(RunCommand{world}, invocation));
  world.out.flush();
  if (!world.out) {
    return Error{ErrorCode::kEnvironment, "cannot write to standard output"};
  }
  return status;
}

int report(const Error& error, Color color, int signal) {
  if (signal == SIGPIPE) return 128 + signal;  // nobody reads what was to be printed
  std::cout.flush();
  std::cerr << render(error, color);
  return error.code == ErrorCode::kInterrupted && signal != 0 ? 128 + signal
                                                              : exit_status(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  Color err_color = Color::kNo;
  // Ignored, so that a write beyond the limit on file sizes fails and is reported, as on a full
  // disk.
  std::signal(SIGXFSZ, SIG_IGN);
  Interrupt interrupt;
  const SignalScope signals(interrupt);
  try {
    const Environment environment = real_environment();
    const std::unique_ptr<Files> files = real_files();
    const std::unique_ptr<Processes> processes = real_processes(&interrupt);
    World world{*files, *processes, environment, std::cout, std::cerr};
    world.out_color = color_for(environment, environment.stdout_is_terminal);
    world.err_color = err_color = color_for(environment, environment.stderr_is_terminal);
    world.interrupt = &interrupt;
    const Result<int> status = run(std::vector<std::string>(argv + 1, argv + argc), world);
    return status ? *status : report(status.error(), err_color, interrupt.signal());
  } catch (const std::bad_alloc&) {
    return report(Error{ErrorCode::kEnvironment, "there is not enough memory"}.hint(
                      "end other programs, or run with fewer jobs or smaller buffers"),
                  err_color, interrupt.signal());
  } catch (const std::exception& exception) {
    return report(Error{ErrorCode::kInternal, std::string("unexpected failure: ") + exception.what()}
                      .hint("this is a bug in kiln: please report it with the command line"),
                  err_color, interrupt.signal());
  }
}
