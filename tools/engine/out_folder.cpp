#include "tools/engine/out_folder.hpp"

#include <iterator>
#include <optional>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/engine/build_folder.hpp"
#include "tools/stages/depfile.hpp"

namespace kiln::tools {

namespace fs = std::filesystem;

namespace {

// Returns the path, relative to `root`, of the first file below it. Folders are ignored, because
// Ninja creates the folders of outputs in advance. A tree that is too deep counts as a file.
std::optional<fs::path> first_file(const Files& files, const fs::path& root,
                                   const fs::path& inner) {
  constexpr int kMaxDepth = 16;
  if (std::distance(inner.begin(), inner.end()) > kMaxDepth) return inner;
  for (const std::string& name : files.list(root / inner).value_or(std::vector<std::string>())) {
    const fs::path path = inner / name;
    if (files.kind(root / path) != PathKind::kFolder) return path;
    if (auto found = first_file(files, root, path)) return found;
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_out_folder(const Files& files, const fs::path& out_root,
                              const fs::path& as_given) {
  const fs::path lock = lock_file(out_root);
  if (files.leads_outside(out_root, lock)) {
    return Error{ErrorCode::kInvalidInput,
                 quote((as_given / ".kiln").string()) + " is a link that leads out of the out folder"}
        .hint("remove the link, or choose another out folder: --out DIR");
  }
  // Notes without a lock are left if the folder was removed during a build.
  const auto has_notes = [&] {
    return files.kind(lock) == PathKind::kFile || first_file(files, lock.parent_path(), {});
  };
  if (has_notes()) return {};
  if (files.kind(out_root) == PathKind::kFile) {
    return Error{ErrorCode::kInvalidInput, quote(as_given.string()) + " is a file, not an out folder"}
        .hint("choose a folder that is empty or not there, or one that kiln filled: --out DIR");
  }
  // The folder may be a copy of a build that left hidden files out.
  if (read_build_catalog(out_root, as_given, files)) return {};
  const std::optional<fs::path> file = first_file(files, out_root, {});
  if (!file) return {};
  // Another build may have begun to fill the folder since.
  if (has_notes()) return {};
  return Error{ErrorCode::kInvalidInput,
               "the out folder " + quote(as_given.string()) + " holds files that kiln did not make"}
      .note("one of them is " + quote((as_given / *file).lexically_normal().string()))
      .hint("choose a folder that is empty or not there, or one that kiln filled: --out DIR");
}

Result<void> check_depfile(const Files& files, const fs::path& out_root, const fs::path& path,
                           const fs::path& as_given) {
  const PathKind kind = files.kind(path);
  const bool is_note = is_inner_path(path.lexically_relative(out_root / ".kiln").native());
  if (kind == PathKind::kNone && !is_note) return {};
  std::string why = "it lies among kiln's own notes";
  if (!is_note && kind != PathKind::kFile) {
    why = "it is no file";
  } else if (!is_note) {
    KILN_TRY_ASSIGN(const std::string text, files.read(path));
    if (is_own_depfile(text)) return {};
    why = "it holds something else, which would be lost";
  }
  return Error{ErrorCode::kInvalidInput,
               quote(as_given.string()) + " cannot be the depfile: " + why}
      .hint("name a file that is not there, or that an earlier build wrote: --depfile FILE");
}

fs::path lock_file(const fs::path& out_root) { return out_root / ".kiln" / "lock"; }

fs::path scratch_folders(const fs::path& out_root) { return out_root / ".kiln" / "tmp"; }

Result<Staging> Staging::make(SandboxedFiles& files, const fs::path& out_root) {
  const fs::path folders = scratch_folders(out_root);
  for (const std::string& name : files.list(folders).value_or(std::vector<std::string>())) {
    // An orphaned compiler may still write there. The next build then removes what is left.
    (void)files.remove_all(folders / name);
  }
  KILN_TRY_ASSIGN(fs::path folder, files.make_unique_folder(folders));
  return Staging(files, std::move(folder));
}

Staging::Staging(SandboxedFiles& files, fs::path folder)
    : files_(&files), folder_(std::move(folder)) {
  files_->set_staging_folder(folder_);
}

Staging::Staging(Staging&& other) noexcept
    : files_(std::exchange(other.files_, nullptr)), folder_(std::move(other.folder_)) {}

Staging::~Staging() {
  if (files_ == nullptr) return;
  files_->set_staging_folder({});
  (void)files_->remove_all(folder_);
}

}  // namespace kiln::tools
