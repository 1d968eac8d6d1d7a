#include "tools/system/own_folder.hpp"

#include <system_error>

namespace kiln::tools {

std::filesystem::path own_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

std::filesystem::path kernels_folder() {
  return own_program().parent_path().parent_path() / "share/kiln/kernels";
}

std::string page(const std::string& name) {
  std::error_code ignored;
  const std::filesystem::path installed =
      own_program().parent_path().parent_path() / "share/doc/kiln/docs" / name;
  return std::filesystem::exists(installed, ignored) ? installed.string() : "docs/" + name;
}

}  // namespace kiln::tools
