// The machine's environment as values, so that stages stay pure: variables, home, terminal, cores.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::tools {

struct Environment {
  std::map<std::string, std::string, std::less<>> variables;
  std::filesystem::path current_directory;
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  unsigned cores = 1;
  unsigned columns = 80;  // width of stderr's terminal

  // Returns the variable's value. A variable that is set but empty counts as not set.
  std::optional<std::string> get(std::string_view name) const;
  // Returns the normalized path, relative to the current folder, without a trailing slash.
  std::filesystem::path absolute(const std::filesystem::path& path) const;
  // Returns ${XDG_CACHE_HOME:-$HOME/.cache}/kiln, or KILN_CACHE_DIR; empty if no variable is set
  std::filesystem::path cache_directory() const;
  // Returns ${XDG_DATA_HOME:-$HOME/.local/share}/kiln/toolchain, or KILN_TOOLCHAIN_DIR: where
  // tools/setup.sh installs missing tools; empty if no variable is set
  std::filesystem::path toolchain_directory() const;
};

Environment real_environment();

// The folders in which programs are searched if PATH is not set.
inline constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

}  // namespace kiln::tools
