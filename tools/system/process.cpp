// The real Processes: posix_spawn, two pipes and a poll loop per child.
//
// posix_spawn neither copies this process nor runs code of kiln's between fork and exec, which
// makes it safe beside other threads.
#include "tools/system/process.hpp"

#include <cerrno>
#include <csignal>
#include <map>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.hpp"

extern char** environ;

namespace kiln::tools {
namespace {

using Clock = std::chrono::steady_clock;

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool is_open() const { return ends_[0] >= 0 || ends_[1] >= 0; }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }

 private:
  void close_end(int i) {
    if (ends_[i] >= 0) ::close(ends_[i]);
    ends_[i] = -1;
  }
  int ends_[2];
};

// Appends the available output to `text` and closes the pipe at its end. Returns an errno value if
// it cannot be read, or 0.
int drain(Pipe& pipe, std::string& text) {
  char buffer[16384];
  const ::ssize_t count = ::read(pipe.reader(), buffer, sizeof buffer);
  if (count > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
    return 0;
  }
  const int code = count < 0 ? errno : 0;
  if (code == EINTR) return 0;
  pipe.close_reader();
  return code;
}

struct SpawnActions {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  SpawnActions() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnActions() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
};

std::vector<std::string> child_environment(const Command& command) {
  std::map<std::string, std::string, std::less<>> variables;
  char** const inherited = command.inherit == Inherit::kEverything ? environ : nullptr;
  for (char** entry = inherited; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  for (const std::string& name : command.unset) variables.erase(name);
  for (const auto& [name, value] : command.environment) variables[name] = value;
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

Error start_error(const Command& command, int code) {
  const std::string program = command.argv.empty() ? "" : command.argv.front();
  Error error{ErrorCode::kEnvironment,
              "cannot start " + quote(program) + ": " + std::generic_category().message(code),
              {},
              {}};
  error.note("command: " + shell_line(command.argv));
  if (!command.working_directory.empty()) {
    error.note("working directory: " + command.working_directory.string());
  }
  if (code == EAGAIN || code == ENOMEM) error.hint("run fewer steps at a time: -j 1");
  return error;
}

Error output_error(const Command& command, int code) {
  return Error{ErrorCode::kEnvironment, "cannot read what " + quote(command.argv.front()) +
                                            " prints: " + std::generic_category().message(code)};
}

class RealProcesses final : public Processes {
 public:
  explicit RealProcesses(const Interrupt* interrupt) : interrupt_(interrupt) {
    // If SIGCHLD is ignored, which children inherit, nobody learns how a process ended.
    struct sigaction now {};
    if (::sigaction(SIGCHLD, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) std::signal(SIGCHLD, SIG_DFL);
  }

  Result<Outcome> run(const Command& command) override {
    if (command.argv.empty()) return start_error(command, EINVAL);
    if (interrupted()) return interrupted_error();
    const Clock::time_point start = Clock::now();
    Pipe out, err;
    if (!out.is_open() || !err.is_open()) return start_error(command, EMFILE);
    ::pid_t child = 0;
    if (const int code = spawn(command, out.writer(), err.writer(), child); code != 0) {
      return start_error(command, code);
    }
    out.close_writer();
    err.close_writer();

    Outcome outcome;
    int read_error = 0;
    const int status = wait_for(child, out, err, outcome, read_error);
    outcome.duration =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
    if (interrupted()) return interrupted_error();
    // Partial output could be mistaken for all of it.
    if (read_error != 0) return output_error(command, read_error);
    if (WIFSIGNALED(status)) {
      outcome.signal = WTERMSIG(status);
      outcome.exit_code = 128 + outcome.signal;
    } else {
      outcome.exit_code = WEXITSTATUS(status);
    }
    return outcome;
  }

 private:
  bool interrupted() const { return interrupt_ != nullptr && *interrupt_; }
  static Error interrupted_error() { return {ErrorCode::kInterrupted, "interrupted", {}, {}}; }

  static int spawn(const Command& command, int out, int err, ::pid_t& child) {
    SpawnActions actions;
    ::posix_spawn_file_actions_addopen(&actions.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions.files, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions.files, err, STDERR_FILENO);
    if (!command.working_directory.empty()) {
      ::posix_spawn_file_actions_addchdir_np(&actions.files, command.working_directory.c_str());
    }
    sigset_t reset;
    sigemptyset(&reset);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) {
      sigaddset(&reset, signal);
    }
    ::posix_spawnattr_setsigdefault(&actions.attributes, &reset);
    ::posix_spawnattr_setpgroup(&actions.attributes, 0);
    ::posix_spawnattr_setflags(&actions.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    std::vector<std::string> words = command.argv;
    std::vector<std::string> variables = child_environment(command);
    return ::posix_spawn(&child, words.front().c_str(), &actions.files, &actions.attributes,
                         pointers(words).data(), pointers(variables).data());
  }

  static bool has_ended(::pid_t child) {
    siginfo_t info = {};
    const int result = ::waitid(P_PID, static_cast<::id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    return result != 0 || info.si_pid != 0;
  }

  // Collects output until both pipes are at their end and the child has ended. Returns the child's
  // wait status. The group's leader is reaped last, so that its number cannot become another
  // group's meanwhile. `read_error` is the reason why some output could not be read, or 0.
  int wait_for(::pid_t child, Pipe& out, Pipe& err, Outcome& outcome, int& read_error) const {
    bool is_terminating = false, killed = false;
    Clock::time_point deadline;
    while (true) {
      // After a kill, a process that left the group may still hold a pipe. It is not worth waiting
      // for.
      if ((killed || (out.reader() < 0 && err.reader() < 0)) && has_ended(child)) break;
      if (interrupted() && !is_terminating) {
        is_terminating = true;
        deadline = Clock::now() + kGracePeriod;
        ::kill(-child, SIGTERM);
      }
      if (is_terminating && !killed && (Clock::now() >= deadline || interrupt_->is_urgent())) {
        killed = true;
        ::kill(-child, SIGKILL);
      }
      // poll skips negative descriptors. A child that has closed its pipes but not ended is checked
      // every few milliseconds.
      pollfd polled[3] = {
          {out.reader(), POLLIN, 0},
          {err.reader(), POLLIN, 0},
          {is_terminating || interrupt_ == nullptr ? -1 : interrupt_->wake_fd(), POLLIN, 0}};
      const bool pipes_are_closed = out.reader() < 0 && err.reader() < 0;
      const int timeout_ms = pipes_are_closed ? 2 : is_terminating ? 20 : -1;
      if (::poll(polled, 3, timeout_ms) < 0) continue;
      for (const int code : {polled[0].revents != 0 ? drain(out, outcome.output) : 0,
                             polled[1].revents != 0 ? drain(err, outcome.diagnostics) : 0}) {
        if (code != 0) read_error = code;
      }
    }
    if (is_terminating) ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  const Interrupt* interrupt_;
};

}  // namespace

std::unique_ptr<Processes> real_processes(const Interrupt* interrupt) {
  return std::make_unique<RealProcesses>(interrupt);
}

}  // namespace kiln::tools
