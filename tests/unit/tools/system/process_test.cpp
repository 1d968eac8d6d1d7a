#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/scratch_folder.hpp"
#include "tools/system/process.hpp"

namespace {

using kiln::ErrorCode;
using kiln::testing::ScratchFolder;
using kiln::tools::Command;
using kiln::tools::Interrupt;
using kiln::tools::Outcome;
using kiln::tools::real_processes;
using namespace std::chrono_literals;

// A test may use a shell; kiln never does.
Command shell(std::string script) {
  return Command{.argv = {"/bin/sh", "-c", std::move(script)},
                 .environment = {},
                 .unset = {},
                 .working_directory = {}};
}

// An ended process that has not been waited for does not count as alive.
bool is_alive(::pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  const std::size_t name_end = line.rfind(')');
  return name_end + 2 < line.size() && line[name_end + 2] != 'Z';
}

// Runs a child that ignores SIGTERM, and raises the signals one after the other after it has
// started.
kiln::Result<Outcome> interrupt_stubborn_child(Interrupt& interrupt, std::initializer_list<int> signals) {
  const ScratchFolder folder;
  const std::string mark = (folder / "ready").string();
  std::thread user([&] {
    while (!std::ifstream(mark).good()) std::this_thread::sleep_for(2ms);
    for (const int signal : signals) interrupt.raise(signal);
  });
  auto outcome = real_processes(&interrupt)->run(
      shell("trap '' TERM; touch " + mark + "; while :; do sleep 0.1; done"));
  user.join();
  return outcome;
}

}  // namespace

TEST_CASE("Processes keeps stdout and stderr apart and whole") {
  const auto outcome = real_processes()->run(shell("echo out; echo err >&2; echo more"));
  REQUIRE(outcome);
  CHECK(outcome->ok());
  CHECK(outcome->output == "out\nmore\n");
  CHECK(outcome->diagnostics == "err\n");
  CHECK(outcome->duration > 0us);
}

TEST_CASE("Processes carries more output than a pipe holds") {
  const auto outcome = real_processes()->run(
      shell("head -c 1000000 /dev/zero; head -c 700000 /dev/zero >&2"));
  REQUIRE(outcome);
  CHECK(outcome->output.size() == 1'000'000);
  CHECK(outcome->diagnostics.size() == 700'000);
}

TEST_CASE("Processes tells an exit code from a signal") {
  const auto failed = real_processes()->run(shell("exit 7"));
  REQUIRE(failed);
  CHECK(failed->exit_code == 7);
  CHECK(failed->signal == 0);
  CHECK_FALSE(failed->ok());
  const auto killed = real_processes()->run(shell("kill -SEGV $$"));
  REQUIRE(killed);
  CHECK(killed->signal == SIGSEGV);
  CHECK(killed->exit_code == 128 + SIGSEGV);
}

TEST_CASE("Processes tells how a child ended where SIGCHLD was ignored") {
  std::signal(SIGCHLD, SIG_IGN);
  const auto outcome = real_processes()->run(shell("exit 3"));
  REQUIRE(outcome);
  CHECK(outcome->exit_code == 3);
}

TEST_CASE("Processes passes arguments as they are, however odd") {
  const auto outcome = real_processes()->run(
      Command{.argv = {"/usr/bin/printf", "%s|", "a b", "", "'\"$HOME\\", "*"},
              .environment = {},
              .unset = {},
              .working_directory = {}});
  REQUIRE(outcome);
  CHECK(outcome->output == "a b||'\"$HOME\\|*|");
}

TEST_CASE("Processes gives the child its variables, folder and an empty stdin") {
  const ScratchFolder folder;
  ::setenv("KILN_TEST_GONE", "1", 1);
  Command command = shell("echo \"$KILN_TEST_SET ${KILN_TEST_GONE-unset}\"; pwd -P; cat");
  command.environment = {{"KILN_TEST_SET", "yes"}};
  command.unset = {"KILN_TEST_GONE"};
  command.working_directory = folder.path();
  const auto outcome = real_processes()->run(command);
  ::unsetenv("KILN_TEST_GONE");
  REQUIRE(outcome);
  CHECK(outcome->output ==
        "yes unset\n" + std::filesystem::canonical(folder.path()).string() + "\n");
}

TEST_CASE("Processes names the program that cannot be started") {
  const auto outcome = real_processes()->run(Command{.argv = {"/no/such/nvcc", "-c", "a b.cu"},
                                                     .environment = {},
                                                     .unset = {},
                                                     .working_directory = {}});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::kEnvironment);
  CHECK(outcome.error().message == "cannot start '/no/such/nvcc': No such file or directory");
  REQUIRE(outcome.error().notes.size() == 1);
  CHECK(outcome.error().notes[0].text == "command: /no/such/nvcc -c 'a b.cu'");
}

TEST_CASE("Processes runs several children at once without mixing their output") {
  const auto processes = real_processes();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const std::string word = "child" + std::to_string(i);
      const auto outcome = processes->run(shell("for i in 1 2 3; do echo " + word + "; done"));
      if (outcome && outcome->output == word + "\n" + word + "\n" + word + "\n") ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 8);
}

TEST_CASE("Processes ends a child and its children when interrupted") {
  const ScratchFolder folder;
  Interrupt interrupt;
  const auto processes = real_processes(&interrupt);
  const std::string pid_file = (folder / "pid").string();
  std::thread user([&] {
    while (!std::ifstream(pid_file).good()) std::this_thread::sleep_for(2ms);
    std::this_thread::sleep_for(20ms);
    interrupt.raise(SIGINT);
  });
  const auto start = std::chrono::steady_clock::now();
  const auto outcome =
      processes->run(shell("sleep 60 & echo $! > " + pid_file + "; wait; echo late"));
  user.join();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::kInterrupted);
  CHECK(std::chrono::steady_clock::now() - start < 1900ms);  // ended by the signal, not by SIGKILL
  ::pid_t sleeper = 0;
  std::ifstream(pid_file) >> sleeper;
  REQUIRE(sleeper > 0);
  for (int i = 0; i < 200 && is_alive(sleeper); ++i) std::this_thread::sleep_for(5ms);
  CHECK_FALSE(is_alive(sleeper));
  const auto later = processes->run(shell("echo never"));
  REQUIRE_FALSE(later);
  CHECK(later.error().code == ErrorCode::kInterrupted);
}

TEST_CASE("Processes kills a child that will not end when told") {
  Interrupt interrupt;
  const auto outcome = interrupt_stubborn_child(interrupt, {SIGTERM});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::kInterrupted);
  CHECK(interrupt.signal() == SIGTERM);
}

TEST_CASE("Processes kills at once when interrupted a second time") {
  Interrupt interrupt;
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(interrupt_stubborn_child(interrupt, {SIGINT, SIGINT}));
  CHECK(std::chrono::steady_clock::now() - start < kiln::tools::kGracePeriod);
}

TEST_CASE("SignalScope turns a signal into a raised interrupt and gives the old handler back") {
  Interrupt interrupt;
  struct sigaction before, after;
  ::sigaction(SIGTERM, nullptr, &before);
  {
    const kiln::tools::SignalScope scope(interrupt);
    CHECK_FALSE(interrupt);
    ::raise(SIGTERM);
    CHECK(interrupt.signal() == SIGTERM);
    ::raise(SIGHUP);
    CHECK(interrupt.signal() == SIGTERM);
  }
  ::sigaction(SIGTERM, nullptr, &after);
  CHECK(before.sa_handler == after.sa_handler);
}

TEST_CASE("SignalScope catches each signal that would leave compilers running") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    Interrupt interrupt;
    const kiln::tools::SignalScope scope(interrupt);
    ::raise(signal);
    CHECK(interrupt.signal() == signal);
  }
}

TEST_CASE("SignalScope leaves a signal ignored that was ignored before, as nohup has it") {
  Interrupt interrupt;
  struct sigaction ignoring = {}, before;
  ignoring.sa_handler = SIG_IGN;
  ::sigaction(SIGHUP, &ignoring, &before);
  {
    const kiln::tools::SignalScope scope(interrupt);
    ::raise(SIGHUP);
    CHECK_FALSE(interrupt);
  }
  ::sigaction(SIGHUP, &before, nullptr);
}
