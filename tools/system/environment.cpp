#include "tools/system/environment.hpp"

#include <algorithm>
#include <thread>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cache_folder.hpp"

extern char** environ;

namespace kiln::tools {
std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = variables.find(name);
  if (found == variables.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::filesystem::path Environment::absolute(const std::filesystem::path& path) const {
  const std::filesystem::path normal = (current_directory / path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

std::filesystem::path Environment::cache_directory() const {
  return default_cache_folder([this](const char* name) { return get(name).value_or(""); });
}

std::filesystem::path Environment::toolchain_directory() const {
  if (const auto chosen = get("KILN_TOOLCHAIN_DIR")) return absolute(*chosen);
  const std::filesystem::path folder =
      user_folder([this](const char* name) { return get(name).value_or(""); }, "XDG_DATA_HOME", ".local/share");
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
