#include "tools/system/environment.hpp"

#include <algorithm>
#include <thread>

#include <sys/ioctl.h>
#include <unistd.h>

extern char** environ;

namespace kiln::tools {
namespace {

// $`override_name`, else $`xdg_name`/kiln, else $HOME/`under_home`/kiln; else nowhere: a folder
// that everybody may write to would be somebody else's.
std::filesystem::path kiln_directory(const Environment& environment, std::string_view override_name,
                                     std::string_view xdg_name, std::string_view under_home) {
  if (const auto chosen = environment.get(override_name)) return *chosen;
  // The XDG base directory specification: a relative value is to be ignored.
  if (const auto base = environment.get(xdg_name); base && base->front() == '/') {
    return std::filesystem::path(*base) / "kiln";
  }
  const auto home = environment.get("HOME");
  if (!home || home->front() != '/') return {};
  return std::filesystem::path(*home) / under_home / "kiln";
}

}  // namespace

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = variables.find(name);
  if (found == variables.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::filesystem::path Environment::cache_directory() const {
  return kiln_directory(*this, "KILN_CACHE_DIR", "XDG_CACHE_HOME", ".cache");
}

std::filesystem::path Environment::toolchain_directory() const {
  if (const auto chosen = get("KILN_TOOLCHAIN_DIR")) return *chosen;
  const std::filesystem::path folder = kiln_directory(*this, "", "XDG_DATA_HOME", ".local/share");
  return folder.empty() ? folder : folder / "toolchain";
}

Environment real_environment() {
  Environment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    result.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::error_code ignored;
  result.current_directory = std::filesystem::current_path(ignored);
  result.stdout_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  result.stderr_is_terminal = ::isatty(STDERR_FILENO) == 1;
  result.cores = std::max(1u, std::thread::hardware_concurrency());
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
    result.columns = size.ws_col;
  }
  return result;
}

}  // namespace kiln::tools
