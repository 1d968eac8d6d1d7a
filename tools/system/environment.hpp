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
  unsigned columns = 80;  // of the terminal that stderr is

  // The variable's value; a variable that is set but empty counts as not set.
  std::optional<std::string> get(std::string_view name) const;
  // From the current folder, in its shortest form, without a slash at its end.
  std::filesystem::path absolute(const std::filesystem::path& path) const;
  // ${XDG_CACHE_HOME:-$HOME/.cache}/kiln, or KILN_CACHE_DIR; empty where no variable says where
  std::filesystem::path cache_directory() const;
  // ${XDG_DATA_HOME:-$HOME/.local/share}/kiln/toolchain, or KILN_TOOLCHAIN_DIR: where
  // tools/setup.sh puts the tools that the machine lacks; empty where no variable says where
  std::filesystem::path toolchain_directory() const;
};

Environment real_environment();

// Where programs are looked for when PATH is not set.
inline constexpr std::string_view kUsualPath = "/usr/local/bin:/usr/bin:/bin";

}  // namespace kiln::tools
