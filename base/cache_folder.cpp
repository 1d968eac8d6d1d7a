#include "base/cache_folder.hpp"

#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace kiln {

namespace fs = std::filesystem;

fs::path user_folder(const GetVariable& variable, const char* xdg_name, const char* under_home) {
  const fs::path base = variable(xdg_name);
  if (base.is_absolute()) return base / "kiln";
  const fs::path home = variable("HOME");
  return home.is_absolute() ? home / under_home / "kiln" : fs::path();
}

fs::path default_cache_folder(const GetVariable& variable) {
  const fs::path chosen = variable("KILN_CACHE_DIR");
  return chosen.empty() ? user_folder(variable, "XDG_CACHE_HOME", ".cache") : chosen;
}

std::string why_untrusted(const fs::path& folder) {
  struct stat info;
  if (::stat(folder.c_str(), &info) == 0) {
    if (info.st_uid != 0 && info.st_uid != ::geteuid()) return folder.string() + " belongs to another user";
    if ((info.st_mode & S_IWOTH) != 0) return "everybody may write to " + folder.string();
  }
  // Whoever may write to the parent folder can replace this one, unless only owners may rename
  // entries, as in /tmp. Folders further up are not checked: in containers they are often writable
  // to everybody, but there are no other users.
  std::error_code ignored;
  const fs::path above = fs::absolute(folder, ignored).lexically_normal().parent_path();
  if (::stat(above.c_str(), &info) == 0 && (info.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH) {
    return "everybody may write to " + above.string();
  }
  return {};
}

}  // namespace kiln
