#include "tools/engine/build_memory.hpp"

#include "base/diagnostic.hpp"
#include "tools/engine/out_folder.hpp"
#include "tools/system/cache_store.hpp"

namespace kiln::tools {
namespace {

bool is_below(const std::string& path, const std::string& root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

std::filesystem::path digests_of_user(const Files& files, const Environment& environment) {
  const CacheFolder cache = cache_folder(files, environment);
  return cache.is_usable() ? cache.path / "digests" : std::filesystem::path();
}

}  // namespace

BuildMemory::BuildMemory(Files& files, const Plan& plan, const Environment& environment)
    : digests(files),
      files_(files),
      source_root_(plan.source_root),
      out_root_(plan.out_root),
      user_digests_(digests_of_user(files, environment)) {
  state = read_state(files_.read(out_root_ / ".kiln" / "state").value_or(""));
  digests.load(files_.read(out_root_ / ".kiln" / "digests").value_or(""));
  if (!user_digests_.empty()) digests.load(files_.read(user_digests_).value_or(""));
}

Result<void> BuildMemory::save() {
  const auto of_project = [this](const std::string& path) { return is_of_project(path); };
  const auto of_machine = [this](const std::string& path) { return !is_of_project(path); };
  if (!user_digests_.empty() && digests.has_new(of_machine)) {
    (void)files_.write(user_digests_, digests.save(of_machine));
  }
  // If the folder was removed during the build, kiln's mark went with it. Whatever is there now was
  // made by this build, so the mark is written again.
  const std::filesystem::path mark = lock_file(out_root_);
  if ((state.is_changed || digests.has_new(of_project)) && files_.kind(mark) == PathKind::kNone) {
    KILN_TRY(files_.write(mark, ""));
  }
  if (digests.has_new(of_project)) {
    KILN_TRY(files_.write(out_root_ / ".kiln" / "digests", digests.save(of_project)));
  }
  if (!state.is_changed) return {};
  KILN_TRY(files_.write(out_root_ / ".kiln" / "state", write_state(state)));
  state.is_changed = false;
  return {};
}

bool BuildMemory::is_of_project(const std::string& path) const {
  return is_below(path, source_root_.native()) || is_below(path, out_root_.native());
}

}  // namespace kiln::tools
