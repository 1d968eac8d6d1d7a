#include "tools/system/sandboxed_files.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln::tools {

namespace fs = std::filesystem;

Result<void> SandboxedFiles::check(std::string_view verb, const fs::path& path) const {
  if (std::find(files_allowed_.begin(), files_allowed_.end(), path) != files_allowed_.end()) {
    return {};
  }
  const std::string what = "cannot " + std::string(verb) + " " + quote(path.string()) + ": ";
  for (const fs::path& folder : folders_) {
    if (folder.empty() || !is_inner_path(path.lexically_relative(folder).native())) continue;
    if (!files_.leads_outside(folder, path)) return {};
    return Error{ErrorCode::kEnvironment,
                 what + "a link on the way leads out of " + quote(folder.string())}
        .hint("remove the link; to build elsewhere, name that folder: --out DIR");
  }
  return Error{ErrorCode::kEnvironment, what + "it lies outside the folders of this build"};
}

Result<void> SandboxedFiles::write(const fs::path& path, std::string_view bytes) {
  KILN_TRY(check("write", path));
  if (staging_.empty()) return files_.write(path, bytes);
  const fs::path staged = staging_ / (std::to_string(++writes_) + "~");
  const bool is_placed = files_.write(staged, bytes) &&
                         (!path.has_parent_path() || files_.make_directories(path.parent_path())) &&
                         files_.rename(staged, path);
  if (is_placed) return {};
  // The disk may be full, the target on another file system, or a folder in the way. Writing
  // directly gives an error about `path`.
  (void)files_.remove_all(staged);
  return files_.write(path, bytes);
}

Result<void> SandboxedFiles::touch(const fs::path& path) {
  KILN_TRY(check("touch", path));
  return files_.touch(path);
}

Result<void> SandboxedFiles::rename(const fs::path& from, const fs::path& to) {
  KILN_TRY(check("rename", from));
  KILN_TRY(check("rename", to));
  return files_.rename(from, to);
}

Result<void> SandboxedFiles::make_directories(const fs::path& path) {
  const bool is_root = std::find(folders_.begin(), folders_.end(), path) != folders_.end();
  if (!is_root) KILN_TRY(check("make folder", path));
  return files_.make_directories(path);
}

Result<fs::path> SandboxedFiles::make_unique_folder(const fs::path& parent) {
  KILN_TRY(check("make folder", parent / "x"));
  return files_.make_unique_folder(parent);
}

Result<void> SandboxedFiles::remove_all(const fs::path& path) {
  KILN_TRY(check("remove", path));
  return files_.remove_all(path);
}

bool is_inner_path(std::string_view path) {
  const fs::path inner = path;
  if (path.empty() || path == "." || inner.is_absolute() || path.back() == '/') return false;
  return inner.lexically_normal().native() == inner.native() && *inner.begin() != "..";
}

}  // namespace kiln::tools
