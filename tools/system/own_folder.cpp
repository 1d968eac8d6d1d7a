#include "tools/system/own_folder.hpp"

#include <system_error>

namespace kiln::tools {

std::filesystem::path kernels_folder() {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / "share/kiln/kernels";
}

}  // namespace kiln::tools
