#include "tools/system/interrupt.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace kiln::tools {
namespace {

// Each would otherwise end kiln and leave its compilers running.
constexpr std::array kCaught = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

// A signal handler gets no context pointer, so its target must be global.
std::atomic<Interrupt*> g_target{nullptr};
std::array<struct sigaction, kCaught.size()> g_previous;

extern "C" void kiln_on_signal(int signal) {
  const int saved_errno = errno;
  if (Interrupt* target = g_target.load()) {
    const bool is_key = signal == SIGINT || signal == SIGQUIT;
    if (target->count() >= 2 && is_key) ::_exit(128 + signal);
    target->raise(signal);
  }
  errno = saved_errno;
}

}  // namespace

Interrupt::Interrupt() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    read_end_ = ends[0];
    write_end_ = ends[1];
  }
}

Interrupt::~Interrupt() {
  if (read_end_ >= 0) ::close(read_end_);
  if (write_end_ >= 0) ::close(write_end_);
}

void Interrupt::raise(int signal) noexcept {
  count_.fetch_add(1);
  int none = 0;
  if (!signal_.compare_exchange_strong(none, signal)) return;
  // The pipe is empty, so one byte always fits.
  [[maybe_unused]] const auto written = ::write(write_end_, "", 1);
}

SignalScope::SignalScope(Interrupt& interrupt) {
  g_target.store(&interrupt);
  struct sigaction action = {};
  action.sa_handler = kiln_on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kCaught.size(); ++i) {
    ::sigaction(kCaught[i], nullptr, &g_previous[i]);
    if (g_previous[i].sa_handler != SIG_IGN) ::sigaction(kCaught[i], &action, nullptr);
  }
}

SignalScope::~SignalScope() {
  for (std::size_t i = 0; i < kCaught.size(); ++i) ::sigaction(kCaught[i], &g_previous[i], nullptr);
  g_target.store(nullptr);
}

}  // namespace kiln::tools
