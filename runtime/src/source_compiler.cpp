#include "runtime/src/source_compiler.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/cache_folder.hpp"
#include "base/diagnostic.hpp"
#include "base/digest.hpp"
#include "runtime/src/file.hpp"
#include "runtime/src/host_compiler.hpp"
#include "runtime/src/rtc_compiler.hpp"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigestDigits = 64;

constexpr std::string_view kWorkPrefix = "compile-";  // prefix of the names of work folders

// A lock on the cache's folder, held while a work folder is in it. Work folders found while nobody
// holds the lock were left by killed programs and are removed. If locks do not work (some network
// file systems), nothing is removed.
class CacheLock {
 public:
  explicit CacheLock(const std::string& folder)
      : opened_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (opened_ < 0) return;
    if (::flock(opened_, LOCK_EX | LOCK_NB) == 0) remove_abandoned(folder);
    while (::flock(opened_, LOCK_SH) != 0 && errno == EINTR) {
    }
  }
  ~CacheLock() {
    if (opened_ >= 0) ::close(opened_);
  }
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;

 private:
  static void remove_abandoned(const std::string& folder) {
    std::vector<fs::path> abandoned;
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      const std::string name = entries->path().filename().string();
      if (name.compare(0, kWorkPrefix.size(), kWorkPrefix) == 0) {
        abandoned.push_back(entries->path());
      }
    }
    for (const fs::path& path : abandoned) fs::remove_all(path, error);
  }

  int opened_;
};

// A temporary folder for one compilation. Removed with this object.
class WorkFolder {
 public:
  static Result<WorkFolder> make(const std::string& parent) {
    std::string path = parent + "/" + std::string(kWorkPrefix) + "XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      return Error{ErrorCode::kEnvironment,
                   "cannot make the folder '" + path + "': " + std::strerror(errno),
                   {},
                   {}};
    }
    return WorkFolder(std::move(path));
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

  Result<void> write(const SourceBundle& bundle) const {
    for (const SourceBundle::File& file : bundle.files) {
      const fs::path path = fs::path(path_) / file.path;
      std::error_code ignored;  // write_file reports the error
      fs::create_directories(path.parent_path(), ignored);
      KILN_TRY(write_file(path.string(), file.text));
    }
    return {};
  }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

std::string seal_of(const std::string& key, const std::string& image) {
  return KeyHasher().add("key", key).add("image", image).finish().hex();
}

// Returns the image cached under this key, or an empty string if there is none or it is damaged.
std::string read_entry(const std::string& path, const std::string& key) {
  Result<std::string> entry = read_file(path);
  if (!entry || entry->size() <= kDigestDigits) return {};
  const std::string seal = entry->substr(0, kDigestDigits);
  entry->erase(0, kDigestDigits + 1);
  return seal_of(key, *entry) == seal ? std::move(*entry) : std::string();
}

void write_entry(const std::string& path, const std::string& key, const std::string& work_folder,
                 const std::string& image) {
  const std::string temporary = work_folder + "/.entry";
  if (!write_file(temporary, seal_of(key, image) + "\n" + image)) return;
  std::error_code ignored;
  fs::rename(temporary, path, ignored);
}

}  // namespace

Result<CompiledImage> SourceCompiler::compile(std::string_view source_bundle, Backend backend,
                                              const TargetId& target) {
  KILN_TRY_ASSIGN(const SourceBundle bundle, read_source_bundle(source_bundle));
  KILN_TRY_ASSIGN(const std::shared_ptr<const Compiler> compiler, compiler_for(backend));
  CompiledImage compiled;
  compiled.compiler = compiler->name();

  std::string folder = options_.cache_folder, key, entry;
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (!folder.empty() && !error) compiled.why_uncached = why_untrusted(folder);
  if (!folder.empty() && !error && compiled.why_uncached.empty()) {
    KeyHasher hasher;
    hasher.add("ingredients", compiler->ingredients(bundle, target))
        .add("target", to_string(target))
        .add("source", source_bundle);
    for (const auto& [name, value] : compiler_variables()) hasher.add(name, value);
    key = hasher.finish().hex();
    entry = folder + "/" + key + ".image";
    compiled.bytes = read_entry(entry, key);
    compiled.is_from_cache = !compiled.bytes.empty();
    if (compiled.is_from_cache) return compiled;
  } else {
    folder = fs::temp_directory_path(error).string();
    if (error) {
      return Error{ErrorCode::kEnvironment, "there is no folder for temporary files: " + error.message()}
          .hint("let TMPDIR name one");
    }
  }
  std::optional<CacheLock> lock;
  if (!entry.empty()) lock.emplace(folder);
  KILN_TRY_ASSIGN(const WorkFolder work, WorkFolder::make(folder));
  KILN_TRY(work.write(bundle));
  KILN_TRY_ASSIGN(compiled.bytes, compiler->compile(bundle, work.path(), target));
  if (!entry.empty()) write_entry(entry, key, work.path(), compiled.bytes);
  return compiled;
}

Result<std::shared_ptr<const Compiler>> SourceCompiler::compiler_for(Backend backend) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Compiler>& slot = backend == Backend::kCuda   ? nvrtc_
                                          : backend == Backend::kHost ? host_
                                                                      : hiprtc_;
  if (slot == nullptr) {
    KILN_TRY_ASSIGN(slot, backend == Backend::kHost
                              ? find_host_compiler(options_.host_compiler)
                              : open_rtc_compiler(backend, backend == Backend::kCuda
                                                               ? options_.nvrtc_library
                                                               : options_.hiprtc_library));
  }
  return slot;
}

}  // namespace kiln::runtime
